"""Players whose strategies come from different equilibria.

`study` is what the command does, `entries` where equilibria come from, `measure` what comes of all
combinations; begin with `study.CrossplayStudy` or, in Python, with `measure.crossplay`.
"""
