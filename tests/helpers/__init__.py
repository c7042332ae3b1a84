"""What several tests need; begin with `runs`, `command` and `walks`."""
