"""Profiles in files that a command is given."""

from __future__ import annotations

from typing import Any

import click


def read_profile(path: str) -> Any:
    """Interchange form of the profile in a JSON file, or on standard input if `path` is ``-``.

    Raises
    ------
    UsageError
        If the file cannot be read.
    ProfileError
        If it is not JSON, with its name.
    """
    from eqbench.errors import ProfileError, UsageError
    from eqbench.model.profile_json import parse_profile

    try:
        with click.open_file(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"cannot read the profile {path}: {what}") from None
    try:
        return parse_profile(text)
    except ProfileError as error:
        raise ProfileError(f"{'standard input' if path == '-' else path}: {error}") from None
