"""Every part and recipe fits its schema, and the rules of the schema hold what they say."""

import math
from dataclasses import dataclass

import pytest
from hydra import compose, initialize_config_dir
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

import plants
from configs import FOLDER, rules, store
from configs.schema import (
    DesignConfig,
    EvaluateConfig,
    MapConfig,
    NetworkSettings,
    OperateConfig,
    RunConfig,
    SimulateConfig,
    WorstConfig,
)
from controllers.settings import setting
from experiments.settings.situations import REAL_LOOP, declared_sets

PARTS = sorted((path.parent.name, path.stem) for path in FOLDER.glob("*/*.yaml"))


@pytest.fixture(scope="module", autouse=True)
def composing():
    store.register()
    with initialize_config_dir(version_base="1.3", config_dir=str(FOLDER)):
        yield


def composed(name, *overrides):
    config = OmegaConf.to_object(compose(name, overrides=list(overrides)))
    rules.check(config)
    return config


# ---------------------------------------------------------------------------------------------------- parts and recipes


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("design", DesignConfig),
        ("simulate", SimulateConfig),
        ("evaluate", EvaluateConfig),
        ("worst", WorstConfig),
        ("map", MapConfig),
        ("operate", OperateConfig),
    ],
)
def test_every_command_runs_as_it_stands(name, schema):
    assert isinstance(composed(name), schema)


@pytest.mark.parametrize(("part", "choice"), PARTS)
def test_every_part_and_recipe_composes(part, choice):
    assert composed("design", f"{part}={choice}")


def test_a_recipe_and_what_is_said_beside_it():
    config = composed("design", "experiment=van_der_pol_study", "fitness.entropy_weight=0.5")
    assert (config.fitness.entropy_weight, config.fitness.travel_weight, config.fitness.relative) == (0.5, 0.002, False)
    assert list(config.situations.taught) == ["step up", "return to rest", "step down", "swing across"]


def test_weights_of_a_plants_own_measures_are_given_by_name():
    several = composed("design", "plant=quarter_car", "fitness.own_measures={ride_comfort: 1, stroke: 0.2}")
    assert several.fitness.own_measures == {"ride_comfort": 1.0, "stroke": 0.2}
    assert composed("design", "fitness.own_measures.ride_comfort=2").fitness.own_measures == {"ride_comfort": 2.0}


def test_options_of_a_real_loop_reach_the_situations():
    """Those of one situation, those of all, and both for a plant's own situations."""
    values = dict(zip(REAL_LOOP, (0.02, 0.04, 0.01, 0.3, 0.05, 0.1, 0.2, 20.0, 0.15, 0.25), strict=True))
    words = [f"{name}: {value}" for name, value in values.items()]
    plant = plants.get("van_der_pol")
    own = composed("design", f"situations.taught={{a: {{{', '.join(words)}}}}}")
    common = composed("design", *(f"situations.{name}={value}" for name, value in values.items()))
    for config in (own, common):
        sets, _ = declared_sets(config, plant)
        for situation in sets["taught"]:
            assert {name: getattr(situation, name) for name in REAL_LOOP} == values
    assert declared_sets(own, plant)[0]["unforeseen"][0].jitter == 0.0
    assert {s.dropout for kind in declared_sets(common, plant)[0].values() for s in kind} == {0.1}


def test_studies_and_earlier_runs_ask_for_no_worst_case_and_no_certificate():
    """So that their numbers, and the stages that a stopped run has, stay as they are; all but the recipes of today."""
    off = {"certificate": False, "worst_evaluations": 0, "map_points": 0}
    for name in {name for group, name in PARTS if group == "experiment"} - {"as_published", "as_published_inertia"}:
        assert vars(composed("design", f"experiment={name}").assurance) == {**off, "authority": "margins"}
    before = store.with_earlier_defaults("design", {"seed": 3, "draws": {"taught": 8}})
    assert before == {"seed": 3, "draws": {"taught": 8}, "assurance": off}
    assert store.with_earlier_defaults("design", {"seed": 3})["assurance"] == off
    now = {"assurance": {"certificate": True, "worst_evaluations": 100}}
    assert store.with_earlier_defaults("design", now) == now


def test_a_search_for_the_worst_case_is_none_or_long_enough():
    assert composed("design", "assurance.worst_evaluations=0").assurance.worst_evaluations == 0
    with pytest.raises(ValueError, match="assurance.worst_evaluations must be 0, or at least 20, got 5"):
        composed("design", "assurance.worst_evaluations=5")


def test_every_setting_is_documented():
    for schema in (DesignConfig, SimulateConfig, EvaluateConfig, MapConfig, WorstConfig):
        assert [leaf.key for leaf in rules.settings(schema) if not leaf.rule.text] == []


def test_settings_of_a_session_decide_no_result():
    assert rules.session_keys(RunConfig) == ("threads", "output", "resume", "quiet")


# ---------------------------------------------------------------------------------------------------------------- rules


@dataclass
class Box:
    low: float = setting(0.0, "low end", low=0, high=1)
    high: float = setting(1.0, "high end", above=0)
    word: str = setting("left", "side", choices=("left", "right"))
    points: list[float] = setting(list, "points", low=0)
    file: str | None = setting(None, "a file", file=True)

    def complaints(self):
        if self.low >= self.high:
            yield f"low must be below high, got {self.low} and {self.high}"


@dataclass
class Boxes:
    first: Box = setting(Box, "a box")
    named: dict[str, Box] = setting(dict, "more boxes")


def complaints(config):
    try:
        rules.check(config)
    except ValueError as error:
        return str(error).splitlines()
    return []


@given(st.floats())
def test_a_range_holds_its_ends_and_refuses_nan(value):
    assert (complaints(Box(low=value, high=2.0)) == []) == (0.0 <= value <= 1.0)


@given(st.floats())
def test_an_open_end_is_outside(value):
    assert (complaints(Box(low=0.0, high=value)) == []) == (0.0 < value < math.inf)


def test_complaints_name_the_setting_wherever_it_stands():
    boxes = Boxes(first=Box(word="lift"), named={"small": Box(low=2.0, high=3.0), "odd": Box(points=[0.0, -1.0])})
    assert complaints(boxes) == [
        "first.word must be one of left, right, got 'lift'; did you mean 'left'?",
        "named.small.low must be at least 0 and at most 1, got 2.0",
        "named.odd.points[1] must be at least 0, got -1.0",
    ]


def test_common_terms_are_of_inputs_that_all_channels_share_and_chosen_for_none_of_them():
    assert complaints(NetworkSettings(inputs=["speed"], common_terms=True)) == []
    assert complaints(NetworkSettings(inputs=["speed"], common_terms=True, terms=None, centres={"speed": [0, 1]})) == []
    assert complaints(NetworkSettings(common_terms=True)) == [
        "common_terms need inputs that all channels share, measurements; e is each channel's own"
    ]
    for word, wrong in {
        "terms=null": {"terms": None}, "shape=search": {"shape": "search"}, "choose_inputs": {"choose_inputs": True},
        "max_inputs": {"max_inputs": 1},
    }.items():  # fmt: skip
        told = complaints(NetworkSettings(inputs=["speed"], common_terms=True, **wrong))
        assert told == [
            f"{word} chooses by each channel's own gains, common_terms need the same terms in all; leave one out"
        ]


def test_two_settings_may_contradict_each_other():
    assert complaints(Boxes(named={"a": Box(low=0.5, high=0.25)})) == [
        "named.a.low must be below high, got 0.5 and 0.25"
    ]


def test_a_setting_that_is_none_of_the_schema_is_refused():
    box = Box()
    box.hihg = 3.0
    assert complaints(Boxes(first=box)) == ["no setting first.hihg; did you mean 'high'?"]


def test_files_are_found_each_once():
    boxes = Boxes(first=Box(file="a.csv"), named={"x": Box(file="b.csv"), "y": Box(file="a.csv"), "z": Box()})
    assert rules.files(boxes) == ["a.csv", "b.csv"]


def test_the_settings_of_a_schema_are_its_leaves():
    keys = [leaf.key for leaf in rules.settings(Boxes)]
    assert keys == ["first.low", "first.high", "first.word", "first.points", "first.file", "named"]
    assert [rules.type_words(leaf.type) for leaf in rules.settings(Box)] == [
        "a number", "a number", "a word", "a list [a, b]", "a word or null",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"form": "mamdani", "aggregation": "maximum", "output_points": 33}, ""),
        ({"form": "tsukamoto", "order": 1}, "order must be 0 with form tsukamoto"),
        ({"implication": "product"}, "implication is a setting of form mamdani, got form sugeno"),
        ({"form": "mamdani", "output_width": 0.02}, "output_points must be at least 10"),
    ],
)
def test_settings_of_another_form_of_inference_are_refused(settings, words):
    found = list(NetworkSettings(**settings).complaints())
    assert (found == []) if not words else (len(found) == 1 and words in found[0])


@pytest.mark.parametrize(
    ("recipe", "searches"),
    [
        ("", (4, 1500, 3)),
        ("as_published", (1, 6000, 6)),
        ("as_published_inertia", (1, 6000, 6)),
        ("balancing_vehicle_study", (1, 5000, 2)),
        ("cstr_dimensionless", (1, 6000, 6)),
        ("cstr_smooth", (1, 6000, 6)),
        ("cstr_steps", (1, 6000, 6)),
        ("fitness_trap", (1, 1500, 6)),
        ("fopdt", (1, 6000, 6)),
        ("fopdt_trap", (1, 6000, 6)),
        ("suspension_study", (1, 5000, 2)),
        ("unicycle_region_study", (1, 1000, 1)),
        ("unicycle_study", (1, 5000, 4)),
        ("van_der_pol_study", (1, 6000, 6)),
    ],
)
def test_what_a_design_searches_unless_it_is_told_otherwise(recipe, searches):
    """Seeds, evaluations and generations of the teacher: those of a recipe are the ones that its findings were made with."""
    config = composed("design", *([f"experiment={recipe}"] if recipe else []))
    assert (config.seeds, config.budget.evaluations, config.budget.teacher_generations) == searches
