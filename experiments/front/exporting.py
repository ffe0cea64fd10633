"""`sscq.export`: exports of a knowledge base as a function call, each proved against the simulator."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import export as command
from experiments.cases.kb_case import other_recommended
from experiments.front.result import DesignResult
from experiments.front.running import kb_file, ran
from experiments.report.exports import wanted, write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from configs.schema import ExportConfig
    from experiments.runtime.run_folder import RunFolder
    from flcs.export.proof import Proof

_OWN = {"kb": "kb", "to": "to", "output": "folder", "resume": "", "quiet": ""}


def export(
    kb: str | Path | DesignResult,
    to: str | Sequence[str],
    *,
    folder: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Proof]:
    """Write a controller for where it will run, run each export, and return how far it is from the simulator.

    As ``sscq export``, whose folder this is; nothing is printed.

    Parameters
    ----------
    kb : path or DesignResult
        File of a knowledge base; of a design what it recommends, fixed gains and gain tables too. Where no knowledge
        base is equal to that it is the refined one, with a warning: the others are typed in, see `what_to_type`.
    to : str or sequence of str
        Targets, such as "c" or ["st", "fmu"]; "all" is every one that there is.
    folder : path, optional
        For the files; left out: a new one below ``runs/export``.
    settings : mapping, optional
        Any other settings of ``sscq export`` by their dotted names: ``{"guard.safe": [0.0]}``.

    Returns
    -------
    dict
        From each target to its proof: "status" is "ok", "failed" or "not checked", and says why.

    Raises
    ------
    ValueError, TypeError, UserError
        For settings or targets that there are not, and where the knowledge base cannot be read.

    Examples
    --------
    >>> proofs = sscq.export(result, ["c", "st"], folder="exported")
    >>> proofs["c"].status
    'ok'
    """
    targets = [to] if isinstance(to, str) else list(to)
    proofs: list[Proof] = []

    file = kb_file(kb if not isinstance(kb, DesignResult) else kb.recommended_file or kb)
    for text in other_recommended(Path(file)):
        warnings.warn(text, stacklevel=2)

    def job(config: ExportConfig, opened: RunFolder) -> None:
        proofs.extend(write(command.prepared(config), wanted(config.to), opened, quiet=True))

    ran("export", "export", _OWN, job, command.check, {"kb": file, "to": targets}, folder, settings)
    return {proof.target: proof for proof in proofs}
