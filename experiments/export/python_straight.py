"""Statements of Python that raise nothing, and functions with IEEE results where those of ``math`` raise."""

from __future__ import annotations

from typing import ClassVar

from experiments.export.unfused import Called
from plants.core.printers.forms import decimal

HELPERS = {
    "divide": """
def divide(a, b):
    if b != 0.0:
        return a / b
    sign = math.copysign(1.0, a) * math.copysign(1.0, b)
    return math.nan if a == 0.0 or a != a else sign * math.inf
""",
    "exp": """
def exp(x):
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
""",
    "log": """
def log(x):
    return math.log(x) if x > 0.0 else -math.inf if x == 0.0 else math.nan
""",
    "sqrt": """
def sqrt(x):
    return math.sqrt(x) if x >= 0.0 else math.nan
""",
    "power": """
def power(a, b):
    try:
        return math.pow(a, b)
    except ValueError:
        odd = b == math.floor(b) and b % 2.0 == 1.0
        return math.nan if a != 0.0 else math.copysign(math.inf, a) if odd else math.inf
    except OverflowError:
        return -math.inf if a < 0.0 and b % 2.0 == 1.0 else math.inf
""",
    "floor": """
def floor(x):
    return float(math.floor(x)) if abs(x) < 4503599627370496.0 else x
""",
    "sign": """
def sign(x):
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x - x
""",
    "sin": """
def sin(x):
    return math.sin(x) if abs(x) < math.inf else math.nan
""",
    "cos": """
def cos(x):
    return math.cos(x) if abs(x) < math.inf else math.nan
""",
    "tan": """
def tan(x):
    return math.tan(x) if abs(x) < math.inf else math.nan
""",
    "asin": """
def asin(x):
    return math.asin(x) if abs(x) <= 1.0 else math.nan
""",
    "acos": """
def acos(x):
    return math.acos(x) if abs(x) <= 1.0 else math.nan
""",
}
_CALLS = {name: name for name in HELPERS} | {
    "div": "divide",
    "quotient": "divide",
    "pow": "power",
    "atan2": "math.atan2",
    "tanh": "math.tanh",
}


class Lines(Called):
    """Statements that compute the wanted nodes of one tape; attributes as for the Python printer."""

    EMPTY: ClassVar[str] = "pass"
    CALLS = _CALLS

    @staticmethod
    def literal(value: float) -> str:
        """Return a constant's text: the shortest decimal number that reads back as the same double."""
        return decimal(value, "math.nan", "math.inf")
