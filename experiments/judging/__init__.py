"""Who is judged, in which rollouts, and how it is decided."""

from experiments.judging.contender import Contender, of_kb
from experiments.judging.group import LADDER, choose_table, contenders, taught_loops
from experiments.judging.judgement import Judgement, judge, keeps_margins, margins_of
from experiments.judging.rollout_tables import MEASURES, fitness_of, rollouts

__all__ = [
    "LADDER",
    "MEASURES",
    "Contender",
    "Judgement",
    "choose_table",
    "contenders",
    "fitness_of",
    "judge",
    "keeps_margins",
    "margins_of",
    "of_kb",
    "rollouts",
    "taught_loops",
]
