"""Carry out jobs in processes of their own.

Begin with :func:`eqbench.isolation.child.run_child`.
"""
