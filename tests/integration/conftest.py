"""What tests of children share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eqbench.isolation.guard import Guardian


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    guardian = Guardian()
    yield guardian
    guardian.close()
