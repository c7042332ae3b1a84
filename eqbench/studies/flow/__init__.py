"""Flows in continuous time: trajectories (`simulate`), their regimes, and stability."""
