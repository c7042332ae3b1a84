"""Plan cells, run each in a child process of its own, verify what comes back, store it."""
