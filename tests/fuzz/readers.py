"""What reads files from elsewhere, each with sound files of its kind to begin from."""

import argparse
import contextlib
import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np

import plants
from experiments import importing
from experiments.cases import counter_example
from experiments.log import identified, sheet
from experiments.report import plain_data
from experiments.report.records.report_data import ReportData
from experiments.runtime import formats as run_formats
from experiments.runtime import user_settings
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from flcs import KnowledgeBase
from flcs.exchange import fcl_writer, fis_writer
from flcs.export.rules.files import written
from flcs.knowledge_base.files import content_hash
from flcs.knowledge_base.lookup import load_csv
from flcs.lint import recorded_inputs
from plants.adapters.fmu import FmuDeclaration
from plants.core.reading import formats
from plants.core.signals.recorded import Recorded
from plants.identification.grey_box import LOADS
from sscq.fitness import Fitness
from sscq.identification import stored
from sscq.identification.loop_knowledge import LoopKnowledge
from sscq.identification.reading.log import read_log
from sscq.search.checkpoint import Checkpoint
from sscq.teaching.teaching_signal import TeachingSignal
from sscq.worst.envelope import usual_envelope
from sscq.worst.genome import EnvelopeGenes
from tests.experiments.report_example import example
from tests.reference.exports import knowledge_base

SETTINGS = {
    "plant": "van_der_pol", "tick": 0.04, "slew": 2.0, "fade": 0.5, "fallback": 0.01, "authority": 1.0,
    "channels": [{
        "inputs": {"z": "z"}, "reference": {"kp": 1.5, "ki": 1.5, "kd": 1.0}, "law": {"sample_time": 0.01},
        "ranges": {"kp": [0.0, 10.0]}, "units": {"e": "m"},
    }],
}  # fmt: skip
DECLARATION = {
    "name": "unit", "channels": [{"output": "y", "low": -1.0, "high": 1.0}], "inputs": ["u"], "disturbances": ["w"],
    "shown": ["y"], "parameters": {"m": 1.0}, "region": {"y": [-1.0, 1.0]}, "situations": {"taught": [{"reference": 1}]},
    "step": 0.01, "substeps": 2,
}  # fmt: skip
PART = "# a part of a user's\ndefaults: [other]\ntaught:\n  a: {reference: 2, t_end: 3.5, initial: [1, 2]}\n  b: {}\n"


_ROWS = [(k, 50 + k % 3, 40.5 - k % 4) for k in range(30)]
LOGS = (
    ("time,set_point,measured,output\n" + "".join(f"{k},50,{y},{u}\n" for k, y, u in _ROWS)).encode(),
    ("Date;SP;PV;OP;mode\n" + "".join(f"2026-11-03 14:00:{k:02d};50;{y},5;{u};auto\n" for k, y, u in _ROWS)).encode(),
)


LOOP = {
    "measured_span": [0, 150], "output_limits": [0, 100], "present": {"form": "standard", "K": 0.5, "Ti": 60.0},
    "scenario": {"set_point": 2.0}, "limits": {"travel_factor": 1.5}, "columns": {"measured": "PV"},
}  # fmt: skip
IDENTIFIED = {
    "schema": stored.SCHEMA, "version": stored.VERSION, "sense": 1.0, "step": 1.0, "discrepancy": 0.08, "refusal": "",
    "loop": {
        "rest": [50.0, 40.0], "limits": [0, 100], "sample_time": 1.0, "present": [0.5, 0.02, 0],
        "scenario": {"horizon": 300.0, "set_point": 2.0, "load": 4.0}, "levels": [-3.0, 5],
    },
    "structures": [
        {"name": one.name, "parameters": list(one.parameters), "members": [[0.5] * 9, [1] * 9]}
        for one in stored.STRUCTURES.values()
    ],
}  # fmt: skip
OF_EQUATIONS = {key: IDENTIFIED[key] for key in ("schema", "version", "step", "discrepancy", "refusal")}
OF_EQUATIONS["loop"] = IDENTIFIED["loop"] | {
    "rest": [0.1, -2.0],
    "limits": [-9.2, 5.7],
    "scenario": {"horizon": 200.0, "set_point": 0.03, "load": 0.6},
    "levels": [-0.01, 0.04],
}
OF_EQUATIONS["grey_box"] = {
    "plant": "two_tanks",
    "plant_file": "",
    "loaded": "inflow",
    "fitted": ["pump"],
    "parameters": ["pump", *LOADS],
    "members": [[3e-6, 1.0, 5e-4, 1e-7, 1e-8, 4.0]] * 2,
}
COMMISSIONED = {
    "schema": sheet.SCHEMA, "status": "advised", "reason": "use these gains",
    "controller": {"form": "parallel", "kp": 0.9, "ki": 0.02, "kd": 0, "schedule": None},
}  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """What reads one kind of file.

    Attributes
    ----------
    ending : str
        Of the file's name.
    seeds : tuple of bytes
        Sound files.
    read : callable
        Takes the path of a file.
    sealed : bool
        Whether a hash over the content is in it, which a mutated file gets anew.
    """

    ending: str
    seeds: tuple[bytes, ...]
    read: object
    sealed: bool = False


def readers(folder):
    """Return all readers by name; `folder` is for files of theirs."""
    kb = knowledge_base()
    kb_file = folder / "kb.json"
    kb.save(kb_file)
    return {
        "knowledge base": Reader(".json", (kb_file.read_bytes(), _document(knowledge_base(shape="gaussian"))), _knowledge_base, sealed=True),
        "look-up table": Reader(".csv", (_saved(folder, kb.lookup_table(points=3, tolerance=None)),), load_csv),
        "teaching signal": Reader(".csv", (_saved(folder, _signal()),), TeachingSignal.load),
        "series": Reader(".csv", (b"t,y,z\n0,1,2\n0.5,2,3\n1,-1e3,4\n", b"0,1\n1,2\n# end\n"), lambda path: Recorded.from_csv(path, 1).feed(0.1)),
        "data": Reader(".csv", (b"time,e,z\n0,0.5,1\n0.1,1,2\n",), lambda path: recorded_inputs.recorded(recorded_inputs.read(path), kb)),
        "arrays": Reader(".npz", _arrays(), lambda path: recorded_inputs.recorded(recorded_inputs.read(path), kb)),
        "checkpoint": Reader(".npz", (_checkpoint(folder),), lambda path: Checkpoint(path).read({"method": "ga", "seed": 1})),
        "rules (fis)": Reader(".fis", (_rules(kb, "fis", fis_writer.write),), lambda path: _imported(path, folder, settings=folder / "settings.json")),
        "rules (fcl)": Reader(".fcl", (_rules(kb, "fcl", fcl_writer.write),), lambda path: _imported(path, folder, settings=folder / "settings.json")),
        "settings of an import": Reader(".json", (json.dumps(SETTINGS).encode(),), lambda path: _imported(folder / "rules.fis", folder, settings=path)),
        "complement": Reader(".json", (_rules(kb, "fis", fis_writer.write, "complement.json"),), lambda path: _imported(folder / "rules.fis", folder, complement=path)),
        "declaration of a unit": Reader(".json", (json.dumps(DECLARATION).encode(),), FmuDeclaration.from_file),
        "counter-example": Reader(".json", (_counter_example(kb),), lambda path: counter_example.load(path, kb_file), sealed=True),
        "record of a run": Reader(".json", (_record(folder),), lambda path: _resumed(path, folder, "config.json")),
        "stage of a run": Reader(".json", (_stage(folder),), lambda path: _resumed(path, folder, "stages/one/stage.json")),
        "report of a run": Reader(".json", (_report(),), _read_report),
        "a user's part": Reader(".yaml", (PART.encode(),), user_settings.checked),
        "log of a loop": Reader(".csv", LOGS, lambda path: read_log(path).records()),
        "knowledge of a loop": Reader(".json", (json.dumps(LOOP).encode(),), LoopKnowledge.read),
        "identified plants": Reader(".json", tuple(json.dumps(one).encode() for one in (IDENTIFIED, OF_EQUATIONS)), lambda path: identified.load(str(path))),
        "identified plants of a stranger": Reader(".json", tuple(_of_strangers(folder)), _refused),
        "gains of a sheet": Reader(".json", (json.dumps(COMMISSIONED).encode(),), sheet.gains_on),
        "any JSON": Reader(".json", (b'{"a": [1, 2.5, null, true, "\\u00e9"], "b": {}}',), formats.read_json),
        "any NPZ": Reader(".npz", _arrays(), formats.read_npz),
    }  # fmt: skip


def _of_strangers(folder):
    """Members of a plant of somebody's file, which must not be executed, and of plants of the file itself."""
    stranger = folder / "stranger.py"
    stranger.write_text("raise SystemError('a stranger was executed')\n")
    for plant_file in (stranger, folder / "mutated.json"):
        box = OF_EQUATIONS["grey_box"] | {"plant_file": str(plant_file)}
        yield json.dumps(OF_EQUATIONS | {"grey_box": box}).encode()


def _refused(path):
    with contextlib.suppress(UserError):  # the sound ones, too, are refused
        identified.load(str(path))


def _document(kb):
    return json.dumps(kb.document()).encode()


def _knowledge_base(path):
    kb = KnowledgeBase.load(path)
    kb.gains(np.zeros((3, len(kb.input_names))))
    kb.sentences()
    assert kb.content_hash


def _saved(folder, thing):
    thing.save(folder / "saved")
    return (folder / "saved").read_bytes()


def _signal():
    rng = np.random.default_rng(0)
    return TeachingSignal(
        situation=np.array([0, 0, 1]), time=np.arange(3.0), inputs=rng.normal(size=(3, 3)), gains=rng.normal(size=(3, 3)),
        weight=np.ones(3), fitness=np.ones(3), input_names=("error", "error_rate", "error_integral"),
        gain_names=("kp", "ki", "kd"), situation_names=("up", "down"),
    )  # fmt: skip


def _arrays():
    found = []
    for save in (np.savez, np.savez_compressed):
        stream = io.BytesIO()
        save(stream, inputs=np.arange(6.0).reshape(3, 2), input_names=np.array(["e", "z"]), time=np.arange(3.0))
        found.append(stream.getvalue())
    return tuple(found)


def _checkpoint(folder):
    place = Checkpoint(folder / "checkpoint.npz")
    place.write({"method": "ga", "seed": 1}, {"generation": 3, "state": 2**127}, {"population": np.ones((4, 2))})
    return (folder / "checkpoint.npz").read_bytes()


def _rules(kb, ending, write, name=None):
    texts = written(kb, ending, write)
    return texts[name or next(iter(texts))].encode()


def _imported(path, folder, settings=None, complement=None):
    if not (folder / "rules.fis").exists():
        (folder / "rules.fis").write_bytes(_rules(knowledge_base(), "fis", fis_writer.write))
        (folder / "settings.json").write_text(json.dumps(SETTINGS))
    output = folder / "imported.json"
    output.unlink(missing_ok=True)
    words = {"files": [str(path)], "plant": None, "plant_file": None}
    words |= {"settings": settings and str(settings), "complement": complement and str(complement)}
    with contextlib.redirect_stdout(io.StringIO()):
        importing.run(argparse.Namespace(**words, output=str(output)))


def _counter_example(kb):
    plant = plants.get("van_der_pol")
    envelope = usual_envelope(plant)
    made = counter_example.CounterExample(
        kb=kb, kb_file="kb.json", plant=plant, envelope=replace(envelope, t_end=1.0), judged="knowledge_base", gains=None,
        fitness=Fitness(), fail_above=None, step=plant.step, integrator="rk4", algebraic_loop="solved", seed=0, values={},
    )  # fmt: skip
    genes = EnvelopeGenes(plant, made.envelope)
    values = genes.values(0.5 * (np.array(genes.box.low) + np.array(genes.box.high)))
    return json.dumps(counter_example.document(replace(made, values=values))).encode()


def _one_stage(folder, _):
    return folder.stage(
        "one", lambda _: {"value": [1.5]}, lambda place, value: run_formats.write_json(place / "value.json", value),
        lambda place: run_formats.read_json(place / "value.json")["value"][0],
    )  # fmt: skip


def _record(folder):
    place = folder / "run"
    if not place.exists():
        (folder / "series.csv").write_text("0,1\n")
        config = {"plant": "van_der_pol", "seed": 1, "controller": {"low": [0.0, 1.0]}, "plant_file": None}
        with RunFolder.create(
            place, command="design", config=config, overrides=["seed=1"], inputs=[folder / "series.csv"]
        ) as run:
            _one_stage(run, None)
    return (place / "config.json").read_bytes()


def _stage(folder):
    _record(folder)
    return (folder / "run/stages/one/stage.json").read_bytes()


def _resumed(path, folder, name):
    """Resume a run in which one file is another."""
    place = folder / "run" / name
    before = place.read_bytes()
    place.write_bytes(Path(path).read_bytes())
    try:
        with (
            mock.patch("experiments.runtime.run_folder.versions", dict),
            RunFolder.resume(folder / "run", command="design") as run,
        ):
            _one_stage(run, None)
    finally:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(before)


def _report():
    data = example(t_end=1.0, step=0.1)
    return json.dumps({"schema": "sscq-report", "version": 1, "report": plain_data.plain(data)}).encode()


def _read_report(path):
    plain_data.record(ReportData, run_formats.read_json(path, "sscq-report", 1).get("report"), "report.json")


def sealed(content):
    """Return a JSON document with the hash of its content, where it is one."""
    try:
        document = json.loads(content)
        return json.dumps({**document, "hash": content_hash(document)}).encode()
    except (ValueError, TypeError, RecursionError, UnicodeError):
        return content
