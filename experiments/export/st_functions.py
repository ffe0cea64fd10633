"""Elementary functions that the standard lacks, as functions of Structured Text: written in standard ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FLOOR = """(* Largest whole number not above x. *)
FUNCTION k_floor : {real}
VAR_INPUT
    x : {real};
END_VAR
VAR_TEMP
    whole : {real};
END_VAR
IF ABS(x) < {whole} THEN
    whole := {int}_TO_{real}({real}_TO_{int}(x));
    IF whole > x THEN whole := whole - 1.0; END_IF;
    k_floor := whole;
ELSE
    k_floor := x;
END_IF;
END_FUNCTION
"""
_SIGN = """(* 1, 0 or -1. *)
FUNCTION k_sign : {real}
VAR_INPUT
    x : {real};
END_VAR
IF x > 0.0 THEN k_sign := 1.0; ELSIF x < 0.0 THEN k_sign := -1.0; ELSE k_sign := x - x; END_IF;
END_FUNCTION
"""
_TANH = """(* Hyperbolic tangent, within a few roundings of 1. *)
FUNCTION k_tanh : {real}
VAR_INPUT
    x : {real};
END_VAR
VAR_TEMP
    e : {real};
END_VAR
e := EXP(-2.0 * ABS(x));
IF x < 0.0 THEN k_tanh := (e - 1.0) / (1.0 + e); ELSE k_tanh := (1.0 - e) / (1.0 + e); END_IF;
END_FUNCTION
"""
_ATAN2 = """(* Angle of the point (x, y); 0 for the origin. *)
FUNCTION k_atan2 : {real}
VAR_INPUT
    y : {real};
    x : {real};
END_VAR
IF ABS(x) >= ABS(y) THEN
    IF x > 0.0 THEN
        k_atan2 := ATAN(y / x);
    ELSIF x < 0.0 THEN
        IF y < 0.0 THEN
            k_atan2 := ATAN(y / x) - 3.141592653589793;
        ELSE
            k_atan2 := ATAN(y / x) + 3.141592653589793;
        END_IF;
    ELSE
        k_atan2 := 0.0;
    END_IF;
ELSIF y > 0.0 THEN
    k_atan2 := 1.5707963267948966 - ATAN(x / y);
ELSE
    k_atan2 := -1.5707963267948966 - ATAN(x / y);
END_IF;
END_FUNCTION
"""
_TEXTS = {"floor": _FLOOR, "sign": _SIGN, "tanh": _TANH, "atan2": _ATAN2}
_WHOLE = {"LREAL": ("LINT", "4503599627370496.0"), "REAL": ("DINT", "8388608.0")}


def source(names: Iterable[str], real: str) -> str:
    """Return the named functions, one after the other; names of standard functions are left out.

    Parameters
    ----------
    names : iterable of str
        Operations of a tape.
    real : {"LREAL", "REAL"}
    """
    integer, whole = _WHOLE[real]
    found = [_TEXTS[name] for name in sorted(set(names)) if name in _TEXTS]
    return "".join(f"{text.format(real=real, int=integer, whole=whole)}\n" for text in found)
