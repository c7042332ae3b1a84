"""`eqbench doctor`: is everything in place?"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from eqbench.cli.options import command
from eqbench.cli.output import put_result
from eqbench.requests import Json


@dataclass(frozen=True)
class DoctorRequest:
    """Check the installation: packages, optional solvers, cache, results folder.

    Exit code 1 if something that eqbench needs is broken.
    """

    as_json: Json = False


@command(DoctorRequest)
def doctor(request: DoctorRequest) -> int:
    from eqbench.harness.environment import checks
    from eqbench.report.rows import Column, Report, Row, Table

    found = checks()
    columns = (Column("name", identifies=True), Column("state", "status"), Column("detail"))
    rows = tuple(Row(check.name, asdict(check)) for check in found)
    put_result(
        {"schema": "eqbench.doctor/1", "checks": [row.values for row in rows]},
        lambda: Report((Table("", columns, rows),)),
        as_json=request.as_json,
    )
    return int(any(check.state == "broken" for check in found))
