"""The closed loop as one kernel: sensors, controller, actuators and measures as lane loops, run for many candidates.

``evaluate`` gives the quality of candidates in situations, ``record`` everything about one run over time.
``slow`` puts plants of other programs into the loop; ``stepping`` lets somebody else control it.
"""
