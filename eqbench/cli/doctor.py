"""`eqbench doctor`: is everything in place?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say
from eqbench.requests import FOLDER, Json, Kind, Option

if TYPE_CHECKING:
    from eqbench.cli.checks import Check


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
    from eqbench.report.rows import Column, Report, Row, Table

    if request.locks is not None:
        found = lock_checks(Path(request.locks), WAIT_S, say)
    else:
        found = checks() if request.scheduler is None else _workers(request.scheduler)
    columns = (Column("name", identifies=True), Column("state", "status"), Column("detail"))
    rows = tuple(Row(check.name, asdict(check)) for check in found)
    put_result(
        {"schema": "eqbench.doctor/1", "checks": [row.values for row in rows]},
        lambda: Report((Table("", columns, rows),)),
        as_json=request.as_json,
    )
    return int(any(check.state == "broken" for check in found))


def _workers(scheduler: str) -> list[Check]:
    """What there is to say about each worker of a cluster."""
    from eqbench.cli.checks import Check
    from eqbench.harness.cluster import connected, workers_of
    from eqbench.harness.environment import fingerprint

    own = ", ".join(f"{name} {version}" for name, version in fingerprint().items())
    found = [Check("here", "good", own)]
    with connected(scheduler) as client:
        for worker in workers_of(client):
            facts = worker.host
            about = f"{facts.get('name')}, {facts.get('processor')}, {worker.threads} threads"
            state: Literal["good", "broken"] = "broken" if worker.unfit else "good"
            found.append(Check(worker.address, state, worker.unfit or about))
    if len(found) == 1:
        found.append(Check("workers", "broken", f"none: start some by dask worker {scheduler}"))
    return found
