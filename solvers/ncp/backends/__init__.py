"""Gurobi and SCIP behind one interface."""
