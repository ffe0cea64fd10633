"""Suspension, unicycle and balancing vehicle: loops, schemes, time and accuracy, and figures of their studies."""
