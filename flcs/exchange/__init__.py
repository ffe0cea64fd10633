"""Knowledge bases in other people's formats: MATLAB's fuzzy inference files, IEC 61131-7, scikit-fuzzy; both ways.

A format carries one channel's terms, rules and gains. All else of a knowledge base goes into a complement beside it,
from which, with the files, the same knowledge base comes back; without one the user says what is missing.
"""

from flcs.exchange import fcl_reader, fcl_writer, fis_reader, fis_writer
from flcs.exchange.complement import complement, restored
from flcs.exchange.foreign_files import Given, check_settings, imported
from flcs.exchange.of_knowledge_base import plain_differences, system_of
from flcs.exchange.system import Antecedent, Consequent, ExchangeError, FuzzySystem, SystemRule, Term, text_of

__all__ = [
    "Antecedent",
    "Consequent",
    "ExchangeError",
    "FuzzySystem",
    "Given",
    "SystemRule",
    "Term",
    "check_settings",
    "complement",
    "fcl_reader",
    "fcl_writer",
    "fis_reader",
    "fis_writer",
    "imported",
    "plain_differences",
    "restored",
    "system_of",
    "text_of",
]
