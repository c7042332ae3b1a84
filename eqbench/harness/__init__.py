"""Run solvers on games: each cell in a child process, verified, judged and stored.

Read on from `request` (what is asked for) to `plan` (cells: games × solvers × seeds), `pipeline`
(a run of all cells), `child` and `worker` (both ends of a process, which speak in `frames`),
`solve` (the one solve, which `eqbench.solve` calls by way of `inprocess`), `judge` (measurements
and the status of a cell) and `record` (what is stored). `keeper`, `guard` and `guardian` see to it
that no process outlives its run.
"""
