"""Complete sets of equilibria, proved by branching over which actions are played.

Begin with :func:`eqbench.proofs.prover.prove`. ``docs/reference/proof_format.md`` has the
semantics of rows and certificates, and why the cases cover all equilibria.
"""
