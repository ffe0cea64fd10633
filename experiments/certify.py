"""Certify a stored knowledge base: a Lyapunov function for all frozen loops, their margins, one run's energy account.

As in::

    sscq certify runs/design/20250101-120000/knowledge_base.json
    sscq certify knowledge_base.json --sets all --json

Exit code 0: the certificate holds; 1: it was not found; 2: the file cannot be read, or the question not be asked.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime.errors import UserError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from flcs import FuzzyController, KnowledgeBase
    from plants import Plant
    from sscq.situations.situation import Situation

_ONE_BY_ONE = (
    "These are of gains that stand still, at rest and at many places about it, and of one loop changed at a time; what "
    "holds for all at once, moving, is the certificate's."
)
_CLEAN: dict[str, Any] = dict.fromkeys(
    ("delay", "output_delay", "noise", "quantisation", "jitter", "dropout", "command_dropout"), 0.0
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("kb", help="knowledge base, such as runs/design/.../knowledge_base.json")
    parser.add_argument("--file", metavar="FILE", help="your own plant file; it is executed")
    parser.add_argument(
        "--sets",
        choices=("taught", "validation", "unforeseen", "all"),
        default="taught",
        help="situations of the plant whose parameters and delays are meant (default: taught)",
    )
    parser.add_argument(
        "--continuous", action="store_true", help="closed loops in continuous time, delays by Pade approximation"
    )
    parser.add_argument(
        "--no-energy", action="store_true", help="leave out the energy account, which compiles a kernel"
    )
    parser.add_argument("--json", action="store_true", help="print all numbers as JSON instead of text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the certificate and the energy account; leave with exit code 1 where the certificate does not hold."""
    import plants
    import sscq
    from experiments.cases.frozen_margins import frozen_margins, words
    from experiments.cases.kb_case import other_plant
    from experiments.starting.plant_choice import load, stored_plant_file, stored_step
    from flcs import FuzzyController, KnowledgeBase

    if Path(options.kb).is_dir():
        raise UserError(f"give a file, got a folder; in a run's it is {Path(options.kb) / 'knowledge_base.json'}")
    if options.file:
        load(options.file)
    elif stored := stored_plant_file(options.kb, "--file "):
        load(stored, quiet=True)
    kb = KnowledgeBase.load(options.kb)
    plant = plants.find(kb.plant)
    several, step = situations(kb, plant, options.sets), stored_step(options.kb) or plant.step
    controller = FuzzyController(kb)
    sampled = False if options.continuous else None
    found = sscq.certify(plant, controller, None, several, step=step, sampled=sampled)
    margins = frozen_margins(plant, controller, controller.theta, several, step)
    best = None if found.holds else sscq.largest_authority(plant, controller, several, step=step, sampled=sampled)
    less = None if best is None else asdict(best)
    account = None if options.no_energy else _account(plant, controller, several, step)
    if options.json:
        document = _document(kb, several, found.numbers(), less, account) | {"margins": margins}
        print(json.dumps(document, indent=1, allow_nan=False))
    else:
        print(f"knowledge base {options.kb} of plant {kb.plant}: {kb.n_rules} rules")
        print(*(f"warning: {warning}" for warning in other_plant(kb, plant)), str(found), sep="\n")
        if less is not None:
            print(f"With authority {less['authority']:.3g} it holds, with decay rate {less['decay']:.4g} 1/s.")
        if margins:
            print("", *words(margins), _ONE_BY_ONE, sep="\n")
        if account is not None:
            print("", _account_text(account), sep="\n")
    if not found.holds:
        raise SystemExit(1)


def situations(kb: KnowledgeBase, plant: Plant, kind: str) -> tuple[Situation, ...]:
    """Return the plant's situations of a kind, and the same with the least and the largest delays that were taught."""
    from sscq.situations.situation_sets import KINDS, at_delays, standard_sets

    sets = standard_sets(plant)
    chosen = [s for k in (KINDS if kind == "all" else (kind,)) for s in sets[k]]
    spans = {name: kb.valid_range[name] for name in ("delay", "output_delay") if name in kb.valid_range}
    return at_delays(chosen, spans)


def _account(plant: Plant, controller: FuzzyController, several: Sequence[Situation], step: float) -> dict[str, Any]:
    """The energy account of the first situation with a constant reference; or why there is none."""
    import plants
    import sscq
    from sscq.certificates.energy_lyapunov import not_available

    reason = not_available(plant, controller)
    if reason:
        return {"reason": reason}
    for situation in several:
        if all(
            isinstance(part, plants.excitation.Constant)
            for signal in situation.references(plant)
            for part in signal.parts
        ):
            try:
                found = sscq.energy_lyapunov(
                    plant, controller, controller.theta, replace(situation, **_CLEAN), step=step
                )
            except ValueError as error:  # the certificate stands without it
                return {"reason": str(error)}
            return {"situation": situation.name, **found.numbers(), "text": str(found)}
    return {"reason": "no situation has constant references"}


def _account_text(account: dict[str, Any]) -> str:
    if "reason" in account:
        return f"No energy account: {account['reason']}."
    return f"Energy account of {account['situation']!r}, measured without noise and delay:\n{account['text']}"


def _document(
    kb: KnowledgeBase,
    several: Sequence[Situation],
    certificate: dict[str, Any],
    less: dict[str, float] | None,
    account: dict[str, Any] | None,
) -> dict[str, Any]:
    return {
        "plant": kb.plant,
        "knowledge_base": kb.content_hash,
        "n_rules": kb.n_rules,
        "situations": list(dict.fromkeys(s.name for s in several)),
        "certificate": certificate,
        "certified_with": less,
        "energy": account,
    }
