"""The results of a run on disk: one JSON line per finished cell, arrays next to it."""
