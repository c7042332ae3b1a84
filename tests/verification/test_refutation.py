"""When a candidate is refuted: the rules as a table, borders included."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from eqbench import verification

RANGE = 8.0  # a power of two, so that the borders are exact
ALLOWED, SLACK = 1e-6 * RANGE, 1e-9 * RANGE
ABOVE = math.nextafter(ALLOWED, 1)

# max_regret, claim, claimed_regret, tolerance, refuted?
RULES: list[tuple[float, str, float | None, float | None, bool]] = [
    (0.0, "equilibrium", None, None, False),
    (-1e-16, "equilibrium", None, None, False),  # rounding is not clipped
    (ALLOWED, "equilibrium", None, None, False),
    (ABOVE, "equilibrium", None, None, True),
    (ALLOWED, "complete list", None, None, False),
    (ABOVE, "complete list", None, None, True),
    (math.nan, "equilibrium", None, None, True),
    (ALLOWED, "equilibrium", 0.1, None, False),
    (ABOVE, "equilibrium", 0.1, None, True),  # whatever bound is named
    (ABOVE, "complete list", 1e6, None, True),
    (ALLOWED, "equilibrium", 0.0, None, True),  # within the tolerance, but not as claimed
    (SLACK, "equilibrium", 0.0, None, False),
    (ALLOWED, "equilibrium", ALLOWED - SLACK, None, False),
    (0.25, "equilibrium", None, 0.25 / RANGE, False),
    (0.26, "equilibrium", None, 0.25 / RANGE, True),
    (0.0, "equilibrium", None, 0.0, False),
    (1e-300, "equilibrium", None, 0.0, True),
    (5.0, "iterate", None, None, False),
    (5.0, "average", None, None, False),
    (5.0, "iterate", 5.0, None, False),
    (SLACK, "iterate", 0.0, None, False),
    (math.nextafter(SLACK, 1), "iterate", 0.0, None, True),
    (math.nextafter(SLACK, 1), "average", 0.0, None, True),
    (5.0, "average", 6.0, None, False),
]


def broken_rules(refutation: Callable[..., str | None]) -> list[tuple]:
    """Rows of the table on which `refutation` decides otherwise."""
    broken = []
    for row in RULES:
        regret, claim, claimed, tolerance, refuted = row
        options = {} if tolerance is None else {"tolerance": tolerance}
        reason = refutation(regret, claim=claim, claimed_regret=claimed, scale=RANGE, **options)
        if (reason is not None) is not refuted:
            broken.append(row)
    return broken


def test_claims_are_refuted_by_the_rules() -> None:
    assert broken_rules(verification.refutation) == []


def test_reason_of_a_refutation_names_both_figures() -> None:
    reason = verification.refutation(0.25, claim="equilibrium", claimed_regret=None, scale=RANGE)
    assert reason is not None
    assert "0.25" in reason
    assert "8e-06" in reason


@pytest.mark.parametrize("verdict", [None, "refuted"])
def test_table_of_rules_notices_a_broken_refutation(
    verdict: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "refutation", lambda *_, **__: verdict)
    assert broken_rules(verification.refutation) != []
