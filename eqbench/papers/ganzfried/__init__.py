"""Ganzfried 2025: equilibria of three-player Kuhn poker by a quadratic program."""
