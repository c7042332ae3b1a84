"""Longer questions than one run answers."""
