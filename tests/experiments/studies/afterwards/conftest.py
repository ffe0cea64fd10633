"""A finished design as the studies open it, without its searches."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from experiments.studies.afterwards import budgets, certificates, chain, claims
from tests.experiments import finished_run


@pytest.fixture
def design(run):
    """What the searches of the finished run found."""
    return SimpleNamespace(
        bench=run.bench, reference=run.reference, group=run.group, judged=lambda: (run.bench, run.judgement), others={}
    )


@pytest.fixture
def finished(design, place, tmp_path, monkeypatch):
    """Its run folder in a folder of the test's own; the studies find the design there."""
    folder = tmp_path / "runs" / "van_der_pol-small-0"
    folder.mkdir(parents=True)
    for name in ("config.json", "metrics.json", "knowledge_base.json", "report.html"):
        (folder / name).write_bytes((place / name).read_bytes())
    opened = []

    @contextmanager
    def of_run(path):
        opened.append(path)
        yield design

    for study in (budgets, certificates, chain, claims):
        monkeypatch.setattr(study, "opened", of_run)
    return SimpleNamespace(folder=folder, opened=opened, configuration=finished_run.configuration)
