"""Players whose strategies come from different equilibria.

`study` is what the command does, `measure` what comes of all combinations; begin with
`study.CrossplayStudy` or, in Python, with `measure.Crossplay`.
"""
