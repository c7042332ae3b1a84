"""How long a run may take, as it is said before it starts."""

from __future__ import annotations

import pytest

from eqbench.cli.dry_run import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.16, "less than 1 s"),
        (1.4, "1 s"),
        (119.4, "119 s"),
        (120, "2 min"),
        (7200, "2.0 h"),
    ],
)
def test_foretold_durations_are_never_rounded_to_nothing(seconds: float, text: str) -> None:
    assert duration(seconds) == text
