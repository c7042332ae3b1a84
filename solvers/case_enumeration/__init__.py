"""Complete lists of Nash equilibria of small games, by cases and in exact arithmetic."""
