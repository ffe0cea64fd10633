"""Signals as far as simulation needs them: parts and their sums, unit noise, steps and sines, recorded series.

All kinds of excitation are made of these parts (:mod:`plants.excitation`, from where users import them).
"""
