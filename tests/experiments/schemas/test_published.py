"""The published JSON Schemas of files: not stale, accept what runs write, refuse what is none."""

import json

import pytest

import plants
from experiments.cases import counter_example
from experiments.report import exports
from experiments.runtime import formats
from experiments.schemas.published import PUBLISHED, text
from flcs.export.proof import unchecked
from sscq.fitness import Fitness
from sscq.identification import stored
from sscq.identification.loop_knowledge import LoopKnowledge
from sscq.identification.promise import LoopScenario
from sscq.worst.envelope import Envelope
from sscq.worst.genome import EnvelopeGenes
from tests.fences import blocks
from tests.reference.exports import job_of, knowledge_base
from tests.schemas import REFERENCE, read, validator


def written(value, folder):
    """The value as its file reads."""
    formats.write_json(folder / "x.json", value)
    return json.loads((folder / "x.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_file_is_that_of_the_records(name):
    """If not: python -m experiments.schemas.published docs/reference"""
    assert (REFERENCE / f"{name}.schema.json").read_text(encoding="utf-8") == text(name)
    validator(name).check_schema(json.loads(text(name)))


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_page_of_files_leads_to_it(name):
    assert f"({name}.schema.json)" in (REFERENCE / "files.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "file"), [("run", "config.json"), ("metrics", "metrics.json"), ("seeds", "seeds.json")]
)
def test_a_finished_run_fits(run, name, file):
    read(name, run.bench.folder.path / file)


def test_a_manifest_fits(tmp_path):
    job = job_of(knowledge_base(), ({"reference": 1.0, "t_end": 0.1},))
    files = [{"path": "c/x.c", "bytes": 3, "sha256": "0" * 64}]
    validator("manifest").validate(written(exports.manifest(job, [unchecked("c", "no compiler")], files), tmp_path))


def test_a_counter_example_fits(tmp_path, knowledge_base):
    plant, envelope = plants.get("van_der_pol"), Envelope(delay=(0.0, 0.05), t_end=1.0)
    genes = EnvelopeGenes(plant, envelope)
    found = counter_example.CounterExample(
        kb=knowledge_base, kb_file="knowledge_base.json", plant=plant, envelope=envelope, judged="knowledge_base",
        gains=None, fitness=Fitness(), fail_above=None, step=0.02, integrator="rk4", algebraic_loop="solved", seed=0,
        values=genes.values(genes.draw(1, 0)[0]),
    )  # fmt: skip
    validator("counter_example").validate(written(counter_example.document(found), tmp_path))


def test_plants_from_a_log_fit(tmp_path):
    loop = stored.StoredLoop((50.0, 40.0), (0.0, 100.0), 1.0, None, LoopScenario(100.0, 1.0, 0.0))
    head = {"schema": stored.SCHEMA, "version": stored.VERSION, "step": 1.0, "discrepancy": 0.08, "refusal": ""}
    told = {"sense": 1.0, "structures": [{"name": "two lags", "parameters": ["slope"], "members": [[0.1]]}]}
    for more in (told | {"loop": None}, {"loop": stored.plain_loop(loop), "grey_box": {"plant": "two_tanks"}}):
        validator("identified").validate(written(head | more, tmp_path))


def test_what_is_said_of_a_loop_fits_and_need_not_say_all(tmp_path):
    (told,) = blocks("docs/guide/logs.md", "json")
    for value in (json.loads(told), {}, written(LoopKnowledge(measured_span=(0.0, 1.0)), tmp_path)):
        validator("loop").validate(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run", {"schema": "sscq-run", "version": 2}),
        ("metrics", {"plant": 3}),
        ("loop", {"measured_spam": [0, 1]}),
        ("loop", {"output_limits": [0]}),
        ("manifest", {}),
        ("identified", {"schema": "sscq-run"}),
        ("counter_example", []),
        ("seeds", {"seed": "x"}),
        ("front", {"schema": "sscq-front", "version": 1}),
        ("sweep", {"schema": "sscq-sweep", "version": 1, "command": "design", "words": "plant=fopdt"}),
        ("operation", {"schema": "sscq.operation/2"}),
        ("commissioning", {"schema": 1, "status": "x"}),
    ],
)
def test_what_is_none_is_refused(name, value):
    assert list(validator(name).iter_errors(value))
