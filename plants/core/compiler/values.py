"""What an expression of generated text can be: a number, an array, or several of these."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Union

INTEGER, DOUBLE, TRUTH = "i64", "double", "i1"


@dataclass(frozen=True)
class Number:
    """A number in LLVM's text.

    Attributes
    ----------
    kind : {"i64", "double", "i1"}
    text : str
        A constant or a register.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Complex:
    """A complex number of two doubles."""

    real: Number
    imag: Number


@dataclass(frozen=True)
class Array:
    """A contiguous array.

    Attributes
    ----------
    kind : {"i64", "double"}
        Of its entries.
    pointer : str
        Register of the address of its first entry.
    shape : tuple of str
        Constants or registers.
    """

    kind: str
    pointer: str
    shape: tuple[str, ...]


Part = Number | Complex
Value = Union[Part, Array, tuple["Value", ...]]  # noqa: UP007  (it contains itself)


def double(value: float) -> Number:
    """Return a constant with all its bits."""
    return Number(DOUBLE, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")


def integer(value: int) -> Number:
    """Return a constant; it must fit into 64 bits."""
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{value} does not fit into 64 bits")
    return Number(INTEGER, str(value))


def truth(value: bool) -> Number:
    """Return a constant."""
    return Number(TRUTH, "true" if value else "false")


def parts_of(value: Value) -> tuple[Value, ...]:
    """Return what a complex number or a tuple consists of; none for a number.

    Raises
    ------
    TypeError
        For an array: it is passed as its address and its shape, and cannot be returned.
    """
    if isinstance(value, Array):
        message = "an array is passed as its address and its shape; it cannot be part of something else or be returned"
        raise TypeError(message)
    if isinstance(value, Complex):
        return value.real, value.imag
    return () if isinstance(value, Number) else value


def type_of(value: Value) -> str:
    """Return LLVM's type of a number, or of several as a structure."""
    if isinstance(value, Number):
        return value.kind
    return "{ " + ", ".join(type_of(part) for part in parts_of(value)) + " }"
