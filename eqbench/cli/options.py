"""Option types that several commands share."""

from __future__ import annotations

import re
from typing import Any

import click

_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6}
_UNITS["gb"] = 10**9


class MemorySize(click.ParamType):
    """A size such as 2GiB or 500MB, as a number of bytes."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None or float(match[1]) <= 0:
            self.fail(f"{value!r} is not a size; write for example 500MB or 2GiB", param, ctx)
        return int(float(match[1]) * unit)


plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Python file that registers games or solvers; may be given several times.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
