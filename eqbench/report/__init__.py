"""What people look at: a function of what is stored and of games; it runs nothing."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_data(name: str) -> dict[str, Any]:
    """Read a file of data that stands beside these modules: columns, figures, sentences."""
    return tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))
