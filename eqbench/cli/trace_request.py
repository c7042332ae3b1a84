"""Numbers in options, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from eqbench.requests import Exact


class ExactNumber(click.ParamType):
    """An integer, a decimal or p/q, exactly."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> Fraction | str:
        try:
            return Exact().read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
