"""Run solvers on games: each cell in a child process, verified, judged and stored.

Read on from `experiment` (what is requested) to `plan` (cells: games × solvers × seeds), `run` (a
run of all cells, and what it stores), `attempt` (one cell, and the engines that carry cells out),
`solve` (the jobs of the processes of :mod:`eqbench.isolation` and the one solve, which
`eqbench.solve` calls by way of `inprocess`) and `judge` (measurements and the status of a cell).
"""
