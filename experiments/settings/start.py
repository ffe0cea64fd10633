"""A design that goes on from a stored knowledge base: whether it fits, and what it gives the design.

The design's knowledge base has the inputs of the stored one and begins with its terms, so that its rules hold on the
grid of the design.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plants
from controllers import pid_form
from experiments.runtime.errors import UserError
from experiments.settings.assemble import Setup, setup
from experiments.settings.learning import is_odd
from flcs import KnowledgeBase, KnowledgeBaseError
from flcs.inference.rule_base import OWN_INPUTS, PID_GAINS
from flcs.learning.terms import bounds_of
from flcs.refinement.transfer import all_on, transferred

if TYPE_CHECKING:
    from configs.schema import DesignConfig
    from plants import Plant

_ADVICE = "give another file, or leave start out"


def begun(config: DesignConfig, file: Path | str | None = None) -> Setup:
    """Return the objects of a design, with the knowledge base that it starts from where it has one.

    Parameters
    ----------
    config : DesignConfig
    file : path, optional
        Where `config.start` is to be read; left out, where it says.

    Raises
    ------
    UserError
        If the knowledge base cannot be read or does not fit the plant or the settings.
    """
    if config.start is None:
        return setup(config)
    kb = _loaded(config.start, file or config.start)
    _check(kb, config, plants.find(config.plant_name))
    job = setup(replace(config, network=_network(kb, config)))
    config.step = job.step
    return replace(job, start=kb)


def given(job: Setup) -> KnowledgeBase | None:
    """Return the knowledge base that a design starts from as its plant's, under the design's law; None without one."""
    if job.start is None:
        return None
    channels = tuple(
        replace(base, law=pid_form.describe(law)) for base, law in zip(job.start.channels, job.laws, strict=True)
    )
    parameters = dict(zip((q.name for q in job.plant.parameters), job.plant.nominal(), strict=True))
    return replace(job.start, plant=job.plant.name, channels=channels, tick=job.tick, plant_parameters=parameters)


def starts(job: Setup, structure: KnowledgeBase) -> tuple[KnowledgeBase, ...]:
    """Return the stored knowledge base on the grid of a structure with every rule on, for searches; () without one."""
    return () if job.start is None else (all_on(transferred(job.start, structure)),)


def _loaded(start: str, file: Path | str) -> KnowledgeBase:
    if Path(file).is_dir():
        raise UserError(f"start must be a file, got a folder; in a run's it is {Path(file) / 'knowledge_base.json'}")
    try:
        return KnowledgeBase.load(file)
    except KnowledgeBaseError as error:
        raise UserError(f"start: {error}") from None
    except OSError as error:
        raise UserError(f"start={start} cannot be read: {(error.strerror or str(error)).lower()}; {_ADVICE}") from None


def _check(kb: KnowledgeBase, config: DesignConfig, plant: Plant) -> None:
    """Raise where the knowledge base does not fit the plant, or the settings contradict it."""
    outputs, names = [c.output for c in plant.channels], [base.name for base in kb.channels]
    if names != outputs:
        raise UserError(
            f"start={config.start}: plant {plant.name!r} has the channels {', '.join(outputs)}, the knowledge base is "
            f"for {', '.join(names)} of plant {kb.plant!r}; {_ADVICE}"
        )
    for base in kb.channels:
        if base.gain_names != PID_GAINS:
            raise UserError(
                f"start={config.start}: a design has the gains {', '.join(PID_GAINS)}, channel {base.name!r} of the "
                f"knowledge base has {', '.join(base.gain_names)}; {_ADVICE}"
            )
    _check_terms(kb, config, plant)
    _check_settings(kb, config)


def _check_terms(kb: KnowledgeBase, config: DesignConfig, plant: Plant) -> None:
    measured = [quantity.name for quantity in plant.measurements]
    for base in kb.channels:
        for variable in base.inputs:
            if variable.name not in (*OWN_INPUTS, *measured):
                raise UserError(
                    f"start={config.start}: the knowledge base schedules over {variable.name!r}, plant {plant.name!r} "
                    f"measures {', '.join(measured)}; {_ADVICE}"
                )
            low, high = bounds_of(plant, variable.name)
            if not low <= variable.centres[0] <= variable.centres[-1] <= high:
                raise UserError(
                    f"start={config.start}: plant {plant.name!r} has {variable.name} in [{low:g}, {high:g}], the "
                    f"knowledge base has terms at {list(variable.centres)}; {_ADVICE}"
                )


def _check_settings(kb: KnowledgeBase, config: DesignConfig) -> None:
    net, inputs = config.network, _inputs(kb)
    if net.inputs is not None and set(net.inputs) != set(inputs):
        raise UserError(
            f"network.inputs={net.inputs}: the knowledge base given as start schedules over {inputs}, which the design "
            "takes over; leave network.inputs out, or start"
        )
    chosen: dict[str, Any] = {
        "centres": net.centres,
        "choose_inputs": net.choose_inputs,
        "max_inputs": net.max_inputs is not None,
    }
    for name in (name for name, wanted in chosen.items() if wanted):
        raise UserError(
            f"network.{name} chooses inputs or terms, and the knowledge base given as start has them; leave "
            f"network.{name} out, or start"
        )


def _inputs(kb: KnowledgeBase) -> list[str]:
    return list(dict.fromkeys(name for base in kb.channels for name in base.input_names))


def _network(kb: KnowledgeBase, config: DesignConfig) -> Any:
    """The network's settings with inputs and terms of the knowledge base; of several channels the first one's terms."""
    net: Any = config.network
    centres: dict[str, list[float]] = {}
    for base in reversed(kb.channels):
        centres |= {variable.name: list(variable.centres) for variable in base.inputs}
    mirrored = net.mirrored
    if mirrored is None:
        own = set(centres) <= set(OWN_INPUTS) and all(row == _mirrored(row) for row in centres.values())
        mirrored = own and is_odd(config, plants.find(config.plant_name))
    if mirrored:
        centres = {name: _mirrored(row) for name, row in centres.items()}
    return replace(net, inputs=_inputs(kb), centres=centres, mirrored=mirrored)


def _mirrored(centres: list[float]) -> list[float]:
    """The nearest centres that are their own mirror image."""
    return [0.5 * (right - left) for right, left in zip(centres, reversed(centres), strict=True)]
