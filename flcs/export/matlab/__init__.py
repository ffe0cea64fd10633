"""MATLAB's language: controller, scheduler and look-up tables as functions, run by Octave.

State goes in and comes out as a struct; no toolbox.
"""
