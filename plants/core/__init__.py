"""What a plant is and what follows from it: declaration, tracing, compiled kernels, motion, analysis, checks.

A plant is plain functions of numbers (:mod:`plants.core.plant`); they are traced (:mod:`plants.core.tracing`), printed
and compiled (:mod:`plants.core.kernel.kernel`), and moved (:mod:`plants.core.motion.step`). Blocks import their
functions from :mod:`plants.core.elementary`.
"""
