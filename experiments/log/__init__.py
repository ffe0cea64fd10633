"""Commands that begin with a log of a running loop.

arguments  what they take
loop_log   what they share: the log, what is known of the loop, its assessment
report     what they print
assess     sscq assess: what a log says of its loop
commission sscq commission: gains to type in, with a promise, or why not
verify     sscq verify: whether the plants of a sheet explain a later log
sheet      what commission writes for programs; sheet_page: one page to print
"""
