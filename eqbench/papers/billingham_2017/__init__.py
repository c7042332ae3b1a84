"""Billingham 2017: simplified three-player Kuhn poker, its equilibria, and its dynamics."""
