"""`eqbench doctor`: is everything in place?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from eqbench.cli.options import command
from eqbench.cli.output import print_formatted, put_json
from eqbench.requests import Json

if TYPE_CHECKING:
    from eqbench.harness.environment import Check


@dataclass(frozen=True)
class DoctorRequest:
    """Check the installation: packages, optional solvers, cache, results folder.

    Exit code 1 if something that eqbench needs is broken.
    """

    as_json: Json = False


@command(DoctorRequest)
def doctor(request: DoctorRequest) -> int:
    from eqbench.harness.environment import checks

    found = checks()
    if request.as_json:
        put_json({"schema": "eqbench.doctor/1", "checks": [asdict(check) for check in found]})
    else:
        _print(found)
    return int(any(check.state == "broken" for check in found))


def _print(checks: Sequence[Check]) -> None:
    from rich.table import Table
    from rich.text import Text

    styles = {"good": "green", "absent": "yellow", "broken": "red"}
    table = Table(box=None, show_header=False)
    for check in checks:
        table.add_row(
            Text(check.name),
            Text(check.state, style=styles[check.state]),
            Text(check.detail, overflow="fold"),
        )
    print_formatted(lambda console: console.print(table))
