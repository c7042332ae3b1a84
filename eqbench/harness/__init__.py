"""Run solvers on games: each cell in a child process, verified, judged and stored.

Read on from `request` (what is requested) to `plan` (cells: games × solvers × seeds), `pipeline`
(a run of all cells), `jobs` (what the processes of :mod:`eqbench.isolation` do), `solve` (the one
solve, which `eqbench.solve` calls by way of `inprocess`), `judge` (measurements and the status of a
cell) and `record` (what is stored).
"""
