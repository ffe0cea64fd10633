"""Whether a plant keeps its contract: accepted, or refused with the exact reason.

The blocks are traced, run as plain Python, on arrays and on the tape, and simulated; what they give is compared with
what the plant declares. Nothing of this needs a controller.
"""
