"""Read fuzzy inference files of other programs as a knowledge base: ``sscq import``.

As in::

    sscq import fis/van_der_pol_position.fis --complement fis/complement.json -o knowledge_base.json
    sscq import theirs.fis --plant van_der_pol --settings settings.json -o knowledge_base.json
"""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime.errors import UserError, add_user_file, tell

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from flcs import KnowledgeBase
    from flcs.exchange import FuzzySystem, Given
    from plants import Plant

_KNOWN = ("plant", "tick", "slew", "fallback", "fade", "authority", "channels")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=".fis or .fcl, one a channel; read as text")
    parser.add_argument(
        "--complement",
        metavar="FILE",
        help="complement.json that was exported with them; found where it lies beside them",
    )
    parser.add_argument("--plant", metavar="NAME", help="the plant, where there is no complement")
    parser.add_argument("--plant-file", metavar="FILE", help="your own plant file; it is executed")
    parser.add_argument(
        "--settings", metavar="FILE", help="JSON with what the files lack; see docs/reference/exports/fis.md"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="knowledge_base.json",
        help="where to write it; nothing is overwritten",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Import, write, and say what was taken for what the files lack."""
    import plants

    if options.plant_file:
        add_user_file(options.plant_file)
        plants.load_plant_file(options.plant_file, tell)
    _refuse_existing(options.output)
    systems = [read(Path(file)) for file in options.files]
    if options.complement and (options.settings or options.plant):
        raise UserError("a complement says all that the files lack: leave --settings and --plant out")
    if complement := options.complement or (None if options.settings else _complement_beside(options)):
        kb = _restored(systems, complement)
    else:
        kb = _imported(systems, options.plant, options.settings)
        print("\n".join(taken(kb)))
    _refuse_existing(options.output)
    kb.save(options.output)
    print(f"{kb.n_rules} rules of {len(kb.channels)} channels for {kb.plant}: {options.output}")


def _refuse_existing(output: str) -> None:
    if os.path.lexists(output):
        raise UserError(f"{output} is there already and is not overwritten; choose another name with -o FILE")


def _complement_beside(options: argparse.Namespace) -> str | None:
    """The complement that was exported with the files: in their folder, and of the plant, its channels in their order.

    The files of an export are called PLANT_CHANNEL, so that a file of another origin is not taken for one of them.
    """
    from flcs.export.rules.files import COMPLEMENT, stem
    from flcs.knowledge_base import files

    folders = {Path(file).parent for file in options.files}
    place = folders.pop() / COMPLEMENT
    if folders or not place.is_file():
        return None
    rest = files.read(str(place)).get("rest")
    plant = rest.get("plant") if isinstance(rest, dict) else None
    channels = rest.get("channels") if isinstance(rest, dict) else None
    if not isinstance(plant, str) or not isinstance(channels, list) or options.plant not in {None, plant}:
        return None
    names = [str(channel.get("name")) for channel in channels if isinstance(channel, dict)]
    if [Path(file).stem for file in options.files] != [stem(plant, name) for name in names]:
        return None
    print(f"what the files lack: {place}")
    return str(place)


def read(path: Path) -> FuzzySystem:
    """Return the system of a file, by its ending.

    Raises
    ------
    UserError
        If the ending is unknown.
    ExchangeError
        With the file, the line, what was expected and what came.
    """
    from flcs.exchange import ExchangeError, fcl_reader, fis_reader, text_of

    readers = {".fis": fis_reader.read, ".fcl": fcl_reader.read}
    if path.suffix.lower() not in readers:
        raise UserError(f"expected a file that ends in {' or '.join(readers)}, got {path.name!r}")
    text = text_of(path)
    try:
        return readers[path.suffix.lower()](text)
    except ExchangeError as error:
        raise ExchangeError(f"{path}: {error}") from error


def _restored(systems: Sequence[FuzzySystem], complement: str) -> KnowledgeBase:
    from flcs.exchange import restored
    from flcs.knowledge_base import files

    return restored(files.read(complement), systems)


def _imported(systems: Sequence[FuzzySystem], name: str | None, file: str | None) -> KnowledgeBase:
    import plants
    from flcs import Inference
    from flcs.exchange import check_settings, imported
    from flcs.knowledge_base import files

    settings = dict(files.read(file)) if file else {}
    _refuse_unknown("setting", settings, _KNOWN)
    name = name or settings.get("plant")
    if not isinstance(name, str):
        raise UserError("say for which plant the files are: --plant NAME (sscq plants lists them)")
    plant = plants.find(name)
    given = list(_given(plant, settings.get("channels", [{}] * len(systems)), len(systems)))
    check_settings(settings)
    how = Inference(**{key: settings[key] for key in ("fallback", "fade", "authority") if key in settings})
    return imported(systems, given, plant.name, tick=settings.get("tick"), slew=settings.get("slew"), inference=how)


def _given(plant: Plant, entries: Any, count: int) -> Iterator[Given]:
    """What the settings say of each channel; names and units of channels are the plant's, in its order."""
    from flcs.exchange import Given

    if len(plant.channels) != count or not isinstance(entries, list) or len(entries) != count:
        wanted = ", ".join(channel.output for channel in plant.channels)
        raise UserError(f"expected a file (and an entry of settings.channels) for each channel: {wanted}; got {count}")
    units = {q.name: q.unit for q in plant.measurements}
    for channel, entry in zip(plant.channels, entries, strict=True):
        _refuse_unknown("setting of a channel", entry, tuple(f.name for f in fields(Given)))
        own = {"e": units[channel.output], "e_rate": f"{units[channel.output]}/s", "z": f"{units[channel.output]} s"}
        _check_kinds(entry)
        ranges = {key: (float(ends[0]), float(ends[1])) for key, ends in entry.get("ranges", {}).items()}
        rest = {"channel": channel.output, "units": {**units, **own}}
        yield Given(**{**rest, **entry, "ranges": ranges})


def _check_kinds(entry: dict[str, Any]) -> None:
    """Refuse settings of a channel that are no mappings, and ranges that are no pairs of numbers."""
    for name, value in entry.items():
        if name != "channel" and not isinstance(value, dict):
            raise UserError(f"settings.channels: {name} must be a mapping of names, got {json.dumps(value)[:60]}")
    for name, ends in entry.get("ranges", {}).items():
        if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, int | float) for end in ends):
            raise UserError(f"settings.channels: ranges.{name} must be [low, high], got {json.dumps(ends)[:60]}")


def _refuse_unknown(what: str, given: Any, known: tuple[str, ...]) -> None:
    from plants.core.names import unknown

    if not isinstance(given, dict):
        raise UserError(f"expected a mapping for the {what}s, got {json.dumps(given)[:60]}")
    for key in given:
        if key not in known:
            raise UserError(unknown(what, key, known))


def taken(kb: KnowledgeBase) -> Iterator[str]:
    """Yield in words what a knowledge base has beside its rules: to be looked at after an import."""
    how = kb.inference
    yield f"fallback {how.fallback:g}, fade {how.fade:g}, authority {how.authority:g}, tick {kb.tick}, slew {kb.slew}"
    for base in kb.channels:
        yield f"{base.name}: law {json.dumps(base.law)}"
        for v in base.inputs:
            yield f"  {v.name} [{v.unit or '1'}] from {v.low:g} to {v.high:g}, {v.n_terms} {v.shape.name} terms"
        for name, low, rest, high in zip(base.gain_names, base.low, base.reference, base.high, strict=True):
            yield f"  {name} from {low:g} to {high:g}, reference {rest:g}"
