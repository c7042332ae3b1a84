"""A standing challenge: 25 games with questions, whose answers anyone may submit."""
