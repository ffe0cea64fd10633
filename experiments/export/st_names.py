"""Names in IEC 61131-3: no difference of case, keywords and standard functions are taken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORDS = (
    # words of the language
    "abstract action and array at by case class configuration constant continue do else elsif end_action end_case "
    "end_class end_configuration end_for end_function end_function_block end_if end_interface end_method end_namespace "
    "end_program end_repeat end_resource end_step end_struct end_transition end_type end_var end_while exit extends "
    "false final for from function function_block if implements initial_step interface internal interval method mod "
    "namespace non_retain not null of on or overlap override priority private program protected public read_only "
    "read_write ref ref_to repeat resource retain return single step struct super task then this to transition true "
    "type until using var var_access var_config var_external var_global var_in_out var_input var_output var_temp while "
    "with xor "
    # types
    "bool byte word dword lword sint int dint lint usint uint udint ulint real lreal time ltime date ldate tod ltod "
    "time_of_day dt ldt date_and_time string wstring char wchar any any_num any_real any_int any_bit "
    # standard functions and function blocks
    "abs sqrt ln log exp sin cos tan asin acos atan atan2 add mul sub div expt move shl shr ror rol sel max min limit "
    "mux gt ge eq le lt ne len left right mid concat insert delete replace find trunc sr rs r_trig f_trig ctu ctd ctud "
    "tp ton tof rtc pid ramp hysteresis integral derivative en eno "
    # names that some compilers keep for themselves
    "s r n l d p sd ds sl ld st jmp cal ret"
)
RESERVED = frozenset(_WORDS.split())
_TEMPORARY = re.compile(r"[vms]\d+")


def identifiers(slots: Iterable[str], own: Iterable[str] = ()) -> dict[str, str]:
    """Return an identifier for each slot, all different whatever the case and none of them taken.

    Parameters
    ----------
    slots : iterable of str
    own : iterable of str
        Names that the text uses for itself.

    Raises
    ------
    ValueError
        If a slot has characters that no identifier has.
    """
    found, taken = dict[str, str](), {name.lower() for name in own} | RESERVED
    for slot in slots:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", slot):
            raise ValueError(f"Structured Text needs names of letters, digits and underscores, got {slot!r}")
        name = re.sub(r"_+", "_", slot).rstrip("_") or "slot"  # neither two underscores in a row nor one at the end
        while name.lower() in taken or _TEMPORARY.fullmatch(name.lower()):
            name += "_x"
        found[slot] = name
        taken.add(name.lower())
    return found
