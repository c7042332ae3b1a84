"""``python -m eqbench`` is the command ``eqbench``."""

from eqbench.cli import main

main()
