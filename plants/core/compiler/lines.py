"""LLVM's text of one function while it is written: registers, blocks and variables.

A variable lives in memory on the stack; LLVM makes registers of it. Within a block a value that was just written or
read is used again instead of being loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.core.compiler.values import DOUBLE, INTEGER, TRUTH, Array, Complex, Number, parts_of, type_of

if TYPE_CHECKING:
    from plants.core.compiler.values import Value

_NATURES: dict[type, str] = {Number: "a number", Complex: "a complex number", Array: "an array"}


class LineWriter:
    """Instructions of a function in order.

    Attributes
    ----------
    lines : list of str
    slots : list of str
        Instructions that reserve the variables' memory; they come first in the function.
    fused : bool
        Whether the compiler may round a product and a sum once.
    """

    def __init__(self, *, fused: bool = False) -> None:
        self.fused = fused
        self.lines: list[str] = []
        self.slots: list[str] = []
        self._count = 0
        self._kinds: dict[str, str] = {}
        self._whole: dict[str, Array | tuple[Value, ...]] = {}
        self._known: dict[str, Number] = {}
        self._natures: dict[str, str] = {}
        self.open = True  # whether the present block still wants an instruction that ends it

    # ---------------------------------------------------------------------------------------------------- registers

    def put(self, kind: str, text: str) -> Number:
        """Write an instruction and return the register with its result."""
        self._count += 1
        self.lines.append(f"  %t{self._count} = {text}")
        return Number(kind, f"%t{self._count}")

    def do(self, text: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(f"  {text}")

    def of_doubles(self, word: str, a: Number, b: Number) -> Number:
        """Write a sum, difference, product or quotient of two doubles."""
        return self.put(DOUBLE, f"{word}{' contract' if self.fused else ''} double {a.text}, {b.text}")

    def given(self, value: Value) -> Number:
        """Return numbers as one register, to be passed or returned."""
        if isinstance(value, Number):
            return value
        parts = [self.given(part) for part in parts_of(value)]
        kind, text = type_of(value), "undef"
        for place, part in enumerate(parts):
            text = self.put(kind, f"insertvalue {kind} {text}, {part.kind} {part.text}, {place}").text
        return Number(kind, text)

    def taken(self, register: Number, like: Value) -> Value:
        """Return what :meth:`given` made one register of; `like` has the same kinds."""
        if isinstance(like, Number):
            return register
        kinds = parts_of(like)
        parts = []
        for place, part in enumerate(kinds):
            one = self.put(type_of(part), f"extractvalue {register.kind} {register.text}, {place}")
            parts.append(self.taken(one, part))
        return Complex(*parts) if isinstance(like, Complex) else tuple(parts)  # type: ignore[arg-type]

    # ------------------------------------------------------------------------------------------------------- blocks

    def label(self, stem: str) -> str:
        """Return a new name for a block."""
        self._count += 1
        return f"{stem}{self._count}"

    def begin(self, label: str) -> None:
        """Begin a block; the one before goes on into it unless it has ended."""
        if self.open:
            self.do(f"br label %{label}")
        self.lines.append(f"{label}:")
        self._known.clear()
        self.open = True

    def jump(self, label: str) -> None:
        """End the block by a jump; behind a block that has ended there is nothing to be reached."""
        if self.open:
            self.do(f"br label %{label}")
        self.open = False

    def branch(self, condition: Number, then: str, other: str) -> None:
        """End the block by a jump to one of two."""
        self.do(f"br i1 {condition.text}, label %{then}, label %{other}")
        self.open = False

    def leave(self, text: str) -> None:
        """End the block by a return."""
        if self.open:
            self.do(text)
        self.open = False

    # ---------------------------------------------------------------------------------------------------- variables

    def assign(self, name: str, value: Value) -> None:
        """Give a variable a value; one that holds numbers keeps the kind of its first.

        Raises
        ------
        TypeError
            Where a name stands for another kind of thing than before, or a second time for an array or several values:
            these are no variables in memory, and a loop would go on seeing the first.
        """
        self._keep_nature(name, value)
        if isinstance(value, Complex):
            self.assign(f"{name}.real", value.real)
            self.assign(f"{name}.imag", value.imag)
            return
        if not isinstance(value, Number):
            self._whole[name] = value
            return
        kind = self._kinds.get(name)
        if kind is None:
            kind = self._kinds[name] = value.kind
            self.slots.append(f"  %s_{name} = alloca {kind}")
        value = self.as_kind(value, kind)
        self.do(f"store {kind} {value.text}, ptr %s_{name}")
        self._known[name] = value

    def _keep_nature(self, name: str, value: Value) -> None:
        nature = _NATURES.get(type(value), "several values")
        before = self._natures.setdefault(name, nature)
        if before != nature:
            raise TypeError(f"{name} is {before} in one place and {nature} in another; use two names")
        if name in self._whole:
            raise TypeError(f"{name} is {nature} and is given twice; use two names")

    def read(self, name: str) -> Value | None:
        """Return a variable's value; None if it has none yet."""
        if name in self._known:
            return self._known[name]
        if self._natures.get(name) == _NATURES[Complex]:
            real, imag = self.read(f"{name}.real"), self.read(f"{name}.imag")
            return Complex(real, imag)  # type: ignore[arg-type]  # both were assigned as numbers
        if name in self._kinds:
            kind = self._kinds[name]
            self._known[name] = self.put(kind, f"load {kind}, ptr %s_{name}")
            return self._known[name]
        return self._whole.get(name)

    # -------------------------------------------------------------------------------------------------- conversions

    def as_kind(self, value: Number, kind: str) -> Number:
        """Return the number as another kind: only upwards, from truth to integer to double."""
        if value.kind == kind:
            return value
        if kind == DOUBLE and value.kind == INTEGER:
            return self.put(DOUBLE, f"sitofp i64 {value.text} to double")
        if kind in {INTEGER, DOUBLE} and value.kind == TRUTH:
            return self.as_kind(self.put(INTEGER, f"zext i1 {value.text} to i64"), kind)
        raise TypeError(f"a variable that held a number of kind {kind} is given one of kind {value.kind}")

    def as_truth(self, value: Number) -> Number:
        """Return whether the number is not 0 (NaN is not)."""
        if value.kind == INTEGER:
            return self.put(TRUTH, f"icmp ne i64 {value.text}, 0")
        if value.kind == DOUBLE:
            return self.put(TRUTH, f"fcmp une double {value.text}, 0.0")
        return value

    def same_kind(self, one: Number, other: Number) -> tuple[Number, Number]:
        """Return both as the wider of their kinds."""
        if one.kind == other.kind:
            return one, other
        order = (TRUTH, INTEGER, DOUBLE)
        kind = max(one.kind, other.kind, key=order.index)
        return self.as_kind(one, kind), self.as_kind(other, kind)
