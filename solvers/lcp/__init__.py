"""Lemke's algorithm on the sequence form of two-player games."""
