"""The knowledge base (rule-based gain schedule): a document that is complete without the code that made it.

It holds one rule base per control channel and everything needed to judge and to use them: the plant, the PID law, what
was taught and how it was validated. It gives gains with NumPy alone, and is stored as JSON.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs import plots
from flcs.inference import defuzzification, inference
from flcs.inference import rule_base as common
from flcs.inference.rule_base import OWN_INPUTS, Inference, RuleBase, rule_number
from flcs.knowledge_base import files, tabulation
from flcs.knowledge_base.complaints import KnowledgeBaseError
from flcs.knowledge_base.files import content_hash
from flcs.knowledge_base.schema import (
    FORMAT,
    SCHEMA_OF_COMMON_TERMS,
    built,
    channel_document,
    check_kind,
    inference_document,
    read_channel,
    read_inference,
)
from flcs.knowledge_base.sentences import rule_table, sentence
from flcs.plain_data import plain
from plants.core import atomic_files
from plants.core.presentation import html_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from flcs.knowledge_base.lookup import LookupTable


_RECORDS = ("plant_parameters", "fitness", "valid_range", "stability", "training")
_TABLES = ("taught", "validation")


@dataclass(frozen=True)
class KnowledgeBase:
    """Rule bases of all channels of one plant, with their history.

    Attributes
    ----------
    plant : str
        Name of the plant it was designed for.
    channels : tuple of RuleBase
        In the order of the plant's control channels.
    inference : Inference
        Form, t-norm, order, fallback to the reference gains.
    tick : float, optional
        Time between two updates of the gains [s]; None: every controller sample. Needed where a channel uses the error
        integral or `slew` is set.
    slew : float, optional
        Largest rate of a gain, in shares of its box per second [1/s].
    common_terms : bool
        All channels read the same plant outputs by the same terms, and keep the same rules: their gains move together.
    plant_parameters : mapping
        Values of the plant's parameters in the design.
    fitness : mapping
        Definition of the fitness and all its normalisers.
    taught, validation : sequence of mappings
        Taught situations (names, seeds, ...); results in validation situations.
    valid_range : mapping
        Name to [low, high]: delays, noise, parameters that were taught.
    stability : mapping
        Report of the stability checks.
    training : mapping
        How well the gains follow from the inputs, rules before and after pruning, ...

    Raises
    ------
    ValueError
        Where these contradict each other or hold something that is no plain data.
    """

    plant: str
    channels: tuple[RuleBase, ...]
    inference: Inference = field(default_factory=Inference)
    tick: float | None = None
    slew: float | None = None
    common_terms: bool = False
    plant_parameters: Mapping[str, Any] = field(default_factory=dict)
    fitness: Mapping[str, Any] = field(default_factory=dict)
    taught: Sequence[Mapping[str, Any]] = ()
    validation: Sequence[Mapping[str, Any]] = ()
    valid_range: Mapping[str, Any] = field(default_factory=dict)
    stability: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check and coerce."""
        given: object = self.channels
        object.__setattr__(self, "channels", (given,) if isinstance(given, RuleBase) else tuple(self.channels))
        for name in _RECORDS:
            object.__setattr__(self, name, plain(dict(getattr(self, name)), name))
        for name in _TABLES:
            object.__setattr__(self, name, plain([dict(row) for row in getattr(self, name)], name))
        for name in ("tick", "slew"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, float(value))
                if not 0.0 < value < math.inf:
                    raise ValueError(f"{name} must be a positive number or None, got {value}")
        self._check_channels()

    def _check_channels(self) -> None:
        if not self.channels:
            raise ValueError("a knowledge base needs at least one channel, got none")
        names = [channel.name for channel in self.channels]
        if len(set(names)) != len(names):
            raise ValueError(f"channels of a knowledge base need different names, got {names}")
        for channel in self.channels:
            shape = (len(channel.gain_names), len(channel.inputs)) if self.inference.order else (0, 0)
            for number, rule in enumerate(channel.rules):
                if (len(rule.slopes), len(rule.slopes[0]) if rule.slopes else 0) != shape or len(
                    {len(row) for row in rule.slopes}
                ) > 1:
                    raise ValueError(
                        f"slopes of rule {rule_number(number)} of channel {channel.name!r} must have shape {shape} "
                        f"with order {self.inference.order}, got {rule.slopes}"
                    )
            if "z" in channel.input_names and self.tick is None:
                raise ValueError(
                    f"channel {channel.name!r} uses the error integral 'z', whose step is the tick: give tick [s]"
                )
        if self.slew is not None and self.tick is None:
            raise ValueError("a slew limit needs the time between two updates: give tick [s]")
        if self.common_terms:
            common.check_common_terms(self.channels)

    # ------------------------------------------------------------------------------------------------------- structure

    @property
    def n_rules(self) -> int:
        """Number of rules that are on, over all channels."""
        return sum(len(channel.active) for channel in self.channels)

    @property
    def in_step(self) -> bool:
        """Whether the gains of all channels are the same mean of their rules, with the same weights."""
        means = not self.inference.apart and self.slew is None
        return self.common_terms and means and common.terms_agree(self.channels)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains of all channels; with several channels with _1, _2, ... behind."""
        return tuple(self.suffixed(name, i) for i, c in enumerate(self.channels) for name in c.gain_names)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Columns that :meth:`gains` takes: own inputs of a channel like the gains' names, each plant output once."""
        return tuple(
            dict.fromkeys(self._column(name, i) for i, c in enumerate(self.channels) for name in c.input_names)
        )

    @property
    def signals(self) -> tuple[str, ...]:
        """Plant outputs among the inputs, each once."""
        return tuple(dict.fromkeys(name for channel in self.channels for name in channel.signals))

    def suffixed(self, name: str, channel: int) -> str:
        """Return the name of something of a channel among all channels' (channels count from 0, names from 1)."""
        return name if len(self.channels) == 1 else f"{name}_{channel + 1}"

    def _column(self, name: str, channel: int) -> str:
        return self.suffixed(name, channel) if name in OWN_INPUTS else name

    def columns(self, channel: int) -> list[int]:
        """Return the places of a channel's inputs among :attr:`input_names`."""
        names = self.input_names
        return [names.index(self._column(name, channel)) for name in self.channels[channel].input_names]

    def with_channel(self, number: int, channel: RuleBase) -> KnowledgeBase:
        """Return the knowledge base with one rule base replaced."""
        return replace(self, channels=(*self.channels[:number], channel, *self.channels[number + 1 :]))

    def compact(self) -> KnowledgeBase:
        """Return the knowledge base without the rules that are off."""
        return replace(self, channels=tuple(channel.compact() for channel in self.channels))

    # -------------------------------------------------------------------------------------------------------- numbers

    def gains(self, inputs: ArrayLike, authority: float | None = None) -> NDArray[np.float64]:
        """Return the gains of all channels.

        Parameters
        ----------
        inputs : array [n, n_inputs]
            Columns as in :attr:`input_names`. Outside the taught ranges the gains return to the reference gains; so
            they do for NaN.
        authority : float, optional
            In place of the knowledge base's own.

        Returns
        -------
        array [n, n_gains]
            Columns as in :attr:`gain_names`.
        """
        x = self._inputs(inputs)
        result = np.empty((len(x), len(self.gain_names)))
        column = 0
        for number, channel in enumerate(self.channels):
            own = tuple(x[:, k] for k in self.columns(number))
            for gain in inference.infer(channel, self.inference, own, inference.own_numbers(channel), authority):
                result[:, column] = gain
                column += 1
        return result

    def firing(self, inputs: ArrayLike, channel: int = 0) -> NDArray[np.float64]:
        """Return the firing strengths [n, n_rules] of a channel's rules, on or off."""
        x = self._inputs(inputs)
        own = [x[:, k] for k in self.columns(channel)]
        return np.asarray(inference.every_firing(self.channels[channel], self.inference, own))

    def shares(
        self, inputs: ArrayLike, channel: int = 0, strengths: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return each rule's share in the gains [n, n_rules] (0 for rules that are off); the reference has the rest.

        Firing strengths [n, n_rules] of these inputs need not be found again where they are given. With the centroid
        of the maximum no shares give the gains; these are those of the sum of the same sets.
        """
        fired = self.firing(inputs, channel) if strengths is None else strengths
        strengths = fired * [rule.on for rule in self.channels[channel].rules]
        own = tuple(self._inputs(inputs)[:, k] for k in self.columns(channel))
        weight = inference.confidence(self.channels[channel], self.inference, own)
        total = strengths.sum(axis=1)
        columns = defuzzification.voices(self.inference, list(strengths.T), total)
        said = np.stack(columns, axis=1) if columns else strengths
        return np.asarray(said * (weight / np.maximum(total, self.inference.fallback))[:, None])

    def _inputs(self, inputs: ArrayLike) -> NDArray[np.float64]:
        x = np.asarray(inputs, dtype=float)
        if x.ndim != 2 or x.shape[1] != len(self.input_names):
            raise ValueError(f"inputs must have shape (n, {len(self.input_names)}) {self.input_names}, got {x.shape}")
        return x

    def lookup_table(
        self, channel: int = 0, points: int | Sequence[int] | None = None, tolerance: float | None = 0.01
    ) -> LookupTable:
        """Return a channel as a look-up table; see :func:`flcs.knowledge_base.tabulation.tabulate`."""
        base, source = self.channels[channel], self.content_hash
        return tabulation.tabulate(base, self.inference, points=points, tolerance=tolerance, source=source)

    # ----------------------------------------------------------------------------------------------------------- words

    def sentences(self) -> tuple[str, ...]:
        """Return every rule as a sentence, channel after channel; rules that are off say so."""
        several = len(self.channels) > 1
        return tuple(
            (f"{channel.name}: " if several else "") + sentence(channel, rule, self.inference.form)
            for channel in self.channels
            for rule in channel.rules
        )

    def table(self) -> str:
        """Return the rules as text tables with firing strength, rank and confidence, the strongest first."""
        return "\n\n".join(rule_table(channel) for channel in self.channels)

    def plot(self, channel: int = 0) -> Any:
        """Draw the terms of a channel's inputs and its gains with matplotlib; return the axes [2, n]."""
        return plots.plot(self, channel)

    def plot_activation(self, inputs: ArrayLike, time: ArrayLike | None = None, channel: int = 0) -> Any:
        """Draw each rule's share in the gains along inputs [n, n_inputs]; see :func:`flcs.plots.activation`."""
        return plots.activation(self, inputs, time, channel)

    def __repr__(self) -> str:
        """As in ``<KnowledgeBase of two_tanks: 6 rules over e, lower>``."""
        rules = sum(rule.on for base in self.channels for rule in base.rules)
        return f"<KnowledgeBase of {self.plant}: {rules} rules over {', '.join(self.input_names)}>"

    def _repr_html_(self) -> str:
        """The rules that are on, channel after channel, for notebooks."""
        return "".join(
            html_table(
                (*(v.words for v in base.inputs), *base.gain_names),
                (
                    (
                        *(v.term_words(term) for v, term in zip(base.inputs, rule.terms, strict=True)),
                        *map(float, rule.gains),
                    )
                    for rule in base.rules
                    if rule.on
                ),
            )
            for base in self.channels
        )

    # ------------------------------------------------------------------------------------------------------- document

    def document(self) -> dict[str, Any]:
        """Return the knowledge base as plain data, with its schema version and content hash."""
        content = to_document(self)
        return {**content, "hash": content_hash(content)}

    @property
    def content_hash(self) -> str:
        """SHA-256 of the document: equal for equal knowledge bases."""
        return str(self.document()["hash"])

    def save(self, path: str | Path) -> None:
        """Write the document as JSON; `path` holds the old file or the whole new one at any moment."""
        atomic_files.write(
            Path(path), json.dumps(self.document(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        )

    @classmethod
    def load(cls, path: str | Path, *, edited: bool = False) -> KnowledgeBase:
        """Read a knowledge base; nothing in the file is executed.

        Parameters
        ----------
        path : path
        edited : bool
            Accept a file that was changed by hand, whose content does not fit its hash.

        Raises
        ------
        KnowledgeBaseError
            If the file is cut off, of another kind or schema, or holds anything but what it should.
        """
        document = files.read(path)
        try:
            kb = from_document(document)
        except KnowledgeBaseError as error:
            raise KnowledgeBaseError(f"{path}: {error}") from error
        files.check_hash(path, document, edited=edited)
        return kb

    def require_plant(self, name: str) -> None:
        """Raise KnowledgeBaseError unless the knowledge base was designed for the plant called `name`."""
        if name != self.plant:
            raise KnowledgeBaseError(
                f"this knowledge base was designed for plant {self.plant!r}, got plant {name!r}; choose that plant, or "
                f"design a knowledge base for {name!r}"
            )


def to_document(kb: KnowledgeBase) -> dict[str, Any]:
    """Return a knowledge base as plain data, without its hash."""
    schema = SCHEMA_OF_COMMON_TERMS if kb.common_terms else 1 if kb.inference.form == "sugeno" else 2
    return {
        "format": FORMAT,
        "schema": schema,
        "plant": kb.plant,
        "plant_parameters": kb.plant_parameters,
        "inference": inference_document(kb.inference, schema),
        "tick": kb.tick,
        "slew": kb.slew,
        "channels": [channel_document(channel) for channel in kb.channels],
        "fitness": kb.fitness,
        "taught": kb.taught,
        "validation": kb.validation,
        "valid_range": kb.valid_range,
        "stability": kb.stability,
        "training": kb.training,
    }


def from_document(document: Mapping[str, Any]) -> KnowledgeBase:
    """Return the knowledge base of a document.

    Raises
    ------
    KnowledgeBaseError
        With the place, what was expected and what came.
    """
    from flcs.knowledge_base import structure  # msgspec, which only readers need

    check_kind(document)
    fields = structure.checked(document, structure.DOCUMENTS[document["schema"]])
    channels = tuple(read_channel(value, f"channels[{n}]") for n, value in enumerate(fields.channels))
    return built(
        "knowledge base",
        KnowledgeBase,
        channels=channels,
        inference=read_inference(fields.inference),
        common_terms=document["schema"] == SCHEMA_OF_COMMON_TERMS,
        **{key: getattr(fields, key) for key in ("plant", "tick", "slew", *_RECORDS, *_TABLES)},
    )
