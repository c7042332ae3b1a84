"""Write the signatures of the games that documents of published equilibria name.

Run it when :func:`eqbench.model.isomorphism.signature` or a game changes; lines of a file stay in
their places, and only the signatures in them change.
"""

from __future__ import annotations

import json
from pathlib import Path

from eqbench import load_game
from eqbench.model.isomorphism import signature


def main() -> None:
    """Rewrite ``contents`` of all documents."""
    for file in sorted(Path("eqbench/equilibria/data").glob("*.json")):
        text = file.read_text(encoding="utf-8")
        for document in json.loads(text):
            for key, spec in document["contents"].items():
                old, new = f'"{key}": "{spec}"', f'"{signature(load_game(spec).tree)}": "{spec}"'
                text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
