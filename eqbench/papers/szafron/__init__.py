"""Szafron, Gibson and Sturtevant 2013: a family of equilibria of three-player Kuhn poker."""
