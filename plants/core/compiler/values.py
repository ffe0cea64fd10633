"""What an expression of generated text can be: a number, an array, or several of these."""

from __future__ import annotations

import struct
from dataclasses import dataclass

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


Value = Number | Array | tuple[Number, ...]


def double(value: float) -> Number:
    """Return a constant with all its bits."""
    return Number(DOUBLE, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")


def integer(value: int) -> Number:
    """Return a constant; it must fit into 64 bits."""
    if not -(2**63) <= value < 2**63:
        message = f"{value} does not fit into 64 bits"
        raise ValueError(message)
    return Number(INTEGER, str(value))


def truth(value: bool) -> Number:
    """Return a constant."""
    return Number(TRUTH, "true" if value else "false")


def type_of(value: Value) -> str:
    """Return LLVM's type of a number or of several."""
    if isinstance(value, Number):
        return value.kind
    if isinstance(value, Array):
        message = "an array has no type of its own: it is passed as its address and its shape"
        raise TypeError(message)
    return "{ " + ", ".join(part.kind for part in value) + " }"
