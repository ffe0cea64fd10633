"""Who is judged, in which rollouts, and how it is decided."""

from experiments.judging.contender import Contender, of_kb
from experiments.judging.group import RIVAL, choose_table, contenders, recommendable, taught_loops
from experiments.judging.judgement import Judgement, judge, keeps_margins, margins_of
from experiments.judging.rollout_tables import MEASURES, fitness_of, rollouts

__all__ = [
    "MEASURES",
    "RIVAL",
    "Contender",
    "Judgement",
    "choose_table",
    "contenders",
    "fitness_of",
    "judge",
    "keeps_margins",
    "margins_of",
    "of_kb",
    "recommendable",
    "rollouts",
    "taught_loops",
]
