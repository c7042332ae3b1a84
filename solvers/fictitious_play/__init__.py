"""Fictitious play on the whole game, for any number of players."""
