"""A controller in operation: the plant changes by a declared course, a supervisor renews what the controller knows.

course     how parameters drift; programme: what the loop is asked for, window by window
running    the loop in operation, from one snapshot to the next; handover: new numbers without a bump
estimate   what the last window tells of the plant; renewal: proposals for the changed plant, and the gains of rivals
judging    whether a proposal may take over; supervisor: the course of decisions, roll back included
"""
