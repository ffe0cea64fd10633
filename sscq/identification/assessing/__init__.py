"""What a log says of its loop before anything is advised.

assessment       all of it, and whether plants can be told
effective_gains  which gains the loop really ran with
signals          oscillation, moves, limits, the least variance that any controller could reach
valve            whether the valve sticks or has play
"""
