"""Figures, in one style: data in, a matplotlib figure out; `style` is shared by all."""
