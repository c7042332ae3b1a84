"""Billingham 2018: regularization and arclength continuation for three-player Kuhn poker."""
