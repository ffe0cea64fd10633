"""A design as small as can be. Tests that run whole designs share it, so that its kernels are compiled once for all of them."""

from experiments.front.words import words_of

PLANT = "fopdt"
SETTINGS = {
    "seeds": 1,
    "budget.evaluations": 60,
    "budget.teacher_generations": 1,
    "budget.verdict_seeds": 2,
    "network.inputs": ["e", "e_rate"],
    "draws": {"taught": 0, "validation": 0, "verdict": 40},
    "fitness.margins_of": "first",  # drawn plants leave so short a search nothing
    "assurance": {"certificate": False, "worst_evaluations": 20, "map_points": 0},
}


def words(**own):
    """The words of its command, silent and on one thread, with `own` ones added or in place of them."""
    return words_of({"plant": PLANT, "budget": "small", **SETTINGS, "threads": 1, "quiet": True} | own)
