"""Profiles in files that a command is given."""

from __future__ import annotations

import errno
import sys
from typing import Any


def read_profile(path: str) -> Any:
    """Interchange form of the profile in a JSON file, or on standard input if `path` is ``-``.

    Raises
    ------
    UsageError
        If the file cannot be read.
    ProfileError
        If it is not JSON, with its name.
    """
    from eqbench.documents import read_file
    from eqbench.errors import ProfileError, UsageError
    from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile

    try:
        data = _standard_input() if path == "-" else read_file(path, MOST_PROFILE_BYTES)
        text = data.decode()
    except (OSError, ValueError) as error:
        undecoded = isinstance(error, UnicodeDecodeError)
        what = "it is not UTF-8 text" if undecoded else getattr(error, "strerror", error)
        raise UsageError(f"cannot read the profile {path}: {what}") from None
    try:
        return parse_profile(text)
    except ProfileError as error:
        raise ProfileError(f"{'standard input' if path == '-' else path}: {error}") from None


def _standard_input() -> bytes:
    """All of standard input, if it has an end."""
    from eqbench.documents import size_text
    from eqbench.model.profile_json import MOST_PROFILE_BYTES

    data = sys.stdin.buffer.read(MOST_PROFILE_BYTES + 1)
    if len(data) > MOST_PROFILE_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {size_text(MOST_PROFILE_BYTES)}")
    return data
