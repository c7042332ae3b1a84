"""Branches of regularized equilibria along a payoff parameter.

`follow` goes along a branch, `checkpoint` keeps how far it has come, `study` is what the command
does and what the page states of a branch; begin with `study.TraceStudy`.
"""
