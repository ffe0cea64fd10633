"""A stored knowledge base as the start of a design: what is refused, and what the design takes over."""

import json
from dataclasses import replace

import numpy as np
import pytest

from experiments.settings import begun
from experiments.settings.start import given, starts
from experiments.starting.opening import configured
from flcs import KnowledgeBase, Variable

QUICK = ("draws={taught: 0, validation: 0, verdict: 0}",)


def job(kb_file, *words):
    return begun(configured("design", ["plant=van_der_pol", *QUICK, f"start={kb_file}", *words]))


def saved(kb, tmp_path, **changes):
    """A file of the knowledge base with another channel."""
    file = tmp_path / "other.json"
    replace(kb, channels=(replace(kb.channels[0], **changes),)).save(file)
    return file


def renamed(kb, name, **more):
    variable = replace(kb.channels[0].inputs[0], name=name, **more)
    return (variable, kb.channels[0].inputs[1])


# ------------------------------------------------------------------------------------------------------------- refusals


def test_what_is_no_knowledge_base_is_refused(refused, own_folder, kb_file):
    (own_folder / "text.json").write_text("no JSON")
    assert "start: text.json" in refused("design", "start=text.json")
    assert "start=none.json" in refused("design", "start=none.json")
    assert "start must be a file, got a folder; in a run's it is" in refused("design", f"start={own_folder}")
    document = json.loads(kb_file.read_text())
    document["channels"][0]["rules"][0]["gains"][0] += 1.0
    kb_file.write_text(json.dumps(document))
    assert "was changed after it was saved" in refused("design", f"start={kb_file}")


def test_other_channels_are_refused(refused, kb_file):
    said = refused("design", "plant=dc_motor", f"start={kb_file}")
    assert said == (
        f"error: start={kb_file}: plant 'dc_motor' has the channels angle, the knowledge base is for position of plant "
        "'van_der_pol'; give another file, or leave start out\n"
    )


def test_other_gains_are_refused(refused, knowledge_base, own_folder):
    file = saved(knowledge_base, own_folder, gain_names=("k1", "k2", "k3"))
    said = refused("design", f"start={file}")
    assert "a design has the gains kp, ki, kd, channel 'position' of the knowledge base has k1, k2, k3; give" in said


def test_inputs_and_terms_that_the_plant_does_not_have_are_refused(refused, knowledge_base, own_folder):
    file = saved(knowledge_base, own_folder, inputs=renamed(knowledge_base, "pressure"))
    said = refused("design", f"start={file}")
    assert "schedules over 'pressure', plant 'van_der_pol' measures position, velocity; give another file" in said
    level = replace(knowledge_base.channels[0], name="probe", inputs=(Variable("probe", "", -9.0, 9.0, (-9.0, 0.0, 9.0)),),
                    rules=knowledge_base.channels[0].rules[:0])  # fmt: skip
    replace(knowledge_base, channels=(level,)).save(file)
    assert "has probe in [2, 12], the knowledge base has terms at [-9.0, 0.0, 9.0]; give another file" in refused(
        "design", "plant=ph_neutralisation", f"start={file}"
    )


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("network.inputs=[e,velocity]", "schedules over ['e', 'e_rate'], which the design takes over; leave"),
        ("network.centres={e: [-1, 0, 1]}", "leave network.centres out, or start"),
        ("network.choose_inputs=true", "leave network.choose_inputs out, or start"),
        ("network.max_inputs=1", "leave network.max_inputs out, or start"),
    ],
)
def test_settings_that_contradict_it_are_refused(refused, kb_file, word, message):
    assert message in refused("design", f"start={kb_file}", word)


# ------------------------------------------------------------------------------------------------------ what is taken over


def test_the_design_has_its_inputs_and_terms(kb_file):
    found = job(kb_file, "network.inputs=[e_rate,e]")  # the same, in another order
    assert found.network.inputs == ("e", "e_rate")
    assert dict(found.network.centres) == {"e": (-2.0, 0.0, 2.0), "e_rate": (-4.0, 0.0, 4.0)}
    assert found.network.mirrored  # the plant is odd, and the terms are their own mirror image
    assert not job(kb_file, "network.mirrored=false").network.mirrored


def test_terms_that_are_not_their_own_mirror_image_decide_that_nothing_is_mirrored(knowledge_base, own_folder):
    aside = replace(knowledge_base.channels[0].inputs[0], centres=(-2.0, 0.2, 1.0))
    file = saved(knowledge_base, own_folder, inputs=(aside, knowledge_base.channels[0].inputs[1]))
    assert not job(file).network.mirrored
    assert job(file, "network.mirrored=true").network.centres["e"] == (-1.5, 0.0, 1.5)


def test_without_a_start_nothing_is_taken_over():
    found = begun(configured("design", ["plant=van_der_pol", *QUICK]))
    assert (found.start, found.network.centres, given(found), starts(found, None)) == (None, {}, None, ())


def test_it_is_judged_as_stored_under_the_designs_law(kb_file, knowledge_base):
    found = job(kb_file, "controller.sample_time=0.01")
    kb = given(found)
    x = np.random.default_rng(0).uniform(-2.0, 2.0, (50, 2))
    np.testing.assert_array_equal(kb.gains(x), knowledge_base.gains(x))
    assert kb.channels[0].law["sample_time"] == 0.01
    assert kb.tick == found.tick


def test_a_file_is_read_where_it_is_said_to_be(kb_file, own_folder):
    moved = kb_file.rename(own_folder / "moved.json")
    config = configured("design", ["plant=van_der_pol", *QUICK, f"start={kb_file}"])
    assert begun(config, moved).start == KnowledgeBase.load(moved)
