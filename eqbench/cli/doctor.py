"""`eqbench doctor`: is everything in place?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say
from eqbench.requests import FOLDER, Json, Kind, Option

WAIT_S = 30.0  # for the other machine


@dataclass(frozen=True)
class DoctorRequest:
    """Check the installation: packages, optional solvers, cache, results folder.

    With --locks DIR it checks instead whether several runners may share a folder; typed on two
    machines within 30 s, whether runners on both of them may. Exit code 1 if something that
    eqbench needs is broken.
    """

    locks: Annotated[
        str | None, Option("Check only whether locks in this folder hold.", FOLDER)
    ] = None
    scheduler: Annotated[
        str | None,
        Option(
            "List the workers of this Dask cluster instead, and whether they may take part in runs "
            "from here.",
            Kind("ADDRESS"),
        ),
    ] = None
    as_json: Json = False


@command(DoctorRequest)
def doctor(request: DoctorRequest) -> int:
    from eqbench.cli.checks import checks, lock_checks
    from eqbench.harness.attempt import engine_of
    from eqbench.report.rows import Column, Report, Row, Table

    if request.locks is not None:
        found = lock_checks(Path(request.locks), WAIT_S, say)
    else:
        scheduler = request.scheduler
        found = checks() if scheduler is None else engine_of(scheduler).checks(scheduler)
    columns = (Column("name", identifies=True), Column("state", "status"), Column("detail"))
    rows = tuple(Row(check.name, asdict(check)) for check in found)
    put_result(
        {"schema": "eqbench.doctor/1", "checks": [row.values for row in rows]},
        lambda: Report((Table("", columns, rows),)),
        as_json=request.as_json,
    )
    return int(any(check.state == "broken" for check in found))
