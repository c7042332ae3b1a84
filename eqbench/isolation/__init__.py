"""Carry out jobs in processes of their own, which end with the run, whatever goes wrong in them.

    run ── server ── worker ── whatever a solver starts

:func:`eqbench.isolation.child.run_child` starts a job, passes its messages on and ends it at its
limits. `server` is one process for all jobs: it forks or spawns the workers, ends them with all
that they have started, and removes scratch folders when the run is gone, however it ended.
`worker` is the entry of the process that does a job, `messages` are what it sends, `processes`
finds descendants and their memory. What jobs there are is decided above, in
:mod:`eqbench.harness.solve`.
"""
