"""One rule, or the rules of one channel, in words and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flcs.inference.output_sets import gain_term

if TYPE_CHECKING:
    from flcs.inference.rule_base import Rule, RuleBase


def sentence(base: RuleBase, rule: Rule, form: str = "sugeno") -> str:
    """Return one rule as a sentence, in the words of a form of inference.

    Examples
    --------
    "IF error is negative big AND error rate is zero THEN kp = 3.2, ki = 0.5, kd = 1.1"
    "IF error is negative big AND error rate is zero THEN kp is medium (3.2), ki is small (0.5), kd is big (1.1)"
    "IF error is negative big AND error rate is zero THEN kp rises to medium (3.2), ki falls to small (0.5), ..."
    """
    said = _gains(base, rule) if form == "sugeno" else _terms_of_gains(base, rule, form)
    return f"{premise(base, rule)} THEN {', '.join(said)}{'' if rule.on else ' (off)'}"


def _terms_of_gains(base: RuleBase, rule: Rule, form: str) -> list[str]:
    texts = []
    for name, value, low, reference, high in zip(
        base.gain_names, rule.gains, base.low, base.reference, base.high, strict=True
    ):
        verb = "is"
        if form == "tsukamoto":
            verb = "stays" if value == reference else "rises to" if value > reference else "falls to"
        texts.append(f"{name} {verb} {gain_term(value, low, high)} ({value:.4g})")
    return texts


def premise(base: RuleBase, rule: Rule) -> str:
    """Return what a rule needs: "IF error is negative big AND error rate is zero"."""
    parts = [
        f"{variable.words} is {variable.term_words(term)}"
        for variable, term in zip(base.inputs, rule.terms, strict=True)
    ]
    return f"IF {' AND '.join(parts)}"


def _gains(base: RuleBase, rule: Rule) -> list[str]:
    texts = []
    for number, (name, value) in enumerate(zip(base.gain_names, rule.gains, strict=True)):
        tail = ""
        for slope, v in zip(rule.slopes[number] if rule.slopes else (), base.inputs, strict=False):
            per_unit = slope / (0.5 * (v.high - v.low))  # slopes are stored per half of the range, from its middle
            value -= per_unit * 0.5 * (v.low + v.high)  # noqa: PLW2901  (the constant moves with the origin)
            tail += f" {'-' if per_unit < 0.0 else '+'} {abs(per_unit):.4g} {v.name}"
        texts.append(f"{name} = {value:.4g}{tail}")
    return texts


def rule_table(base: RuleBase) -> str:
    """Return one channel's rules as a table in plain text: ranked ones first, one line each below the head."""
    ordered = sorted(base.rules, key=lambda rule: (rule.rank == 0, rule.rank))
    head = ["rank", *base.input_names, *base.gain_names, "firing", "confidence", ""]
    rows = [head, *(_row(base, rule) for rule in ordered)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([f"rules of {base.name}", *lines])


def _row(base: RuleBase, rule: Rule) -> list[str]:
    labels = [variable.labels[term] for variable, term in zip(base.inputs, rule.terms, strict=True)]
    gains = [f"{gain:.4g}" for gain in rule.gains]
    return [
        str(rule.rank or "-"),
        *labels,
        *gains,
        f"{rule.firing:.4g}",
        f"{rule.confidence:.2f}",
        "" if rule.on else "off",
    ]
