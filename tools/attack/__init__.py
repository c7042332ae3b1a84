"""Hostile trials: files, names and commands that try to break a run, each with what must come.

Begin with :mod:`attack.run` (`make attack`). One module for each kind of attack lists its trials,
and :mod:`attack.sandbox` holds what every trial must leave behind.
"""
