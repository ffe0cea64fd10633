"""Files of the rules alone: MATLAB's .fis, IEC 61131-7 FCL, scikit-fuzzy.

Each is read back, and other programs evaluate it at random inputs.
"""
