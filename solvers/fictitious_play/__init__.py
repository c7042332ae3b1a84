"""Fictitious play on the whole game, for any number of players."""

from .full_width import FictitiousPlay

__all__ = ["FictitiousPlay"]
