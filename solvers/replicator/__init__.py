"""Replicator dynamics of extensive-form games, in log-odds of behavior frequencies."""
