"""Studies as functions: the request of a command as keywords, its tables and points as objects."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import to_builtins

from eqbench.api.keywords import AnyPath, accepted, request_from, written_out
from eqbench.api.shown import ReportText
from eqbench.documents import checked
from eqbench.errors import UsageError
from eqbench.report.rows import Cell, Report, Table
from eqbench.requests import fields_of
from eqbench.studies.frame import Session, Study, StudyFolder, announce, answer, held
from eqbench.studies.requests import (
    CrossplayRequest,
    ProveRequest,
    QuantalRequest,
    RangesRequest,
    SimulationRequest,
    StabilityRequest,
    TraceRequest,
)
from eqbench.text import Displayed

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["terminal", "md"]
_OWN = """out
    Folder for the results.
figures
    Whether to draw figures.
{keywords}"""


@dataclass(frozen=True, repr=False)
class StudyResult(Displayed):
    """What a study found.

    Attributes
    ----------
    document : dict
        What ``--json`` prints.
    tables : Report
    path : Path or None
        Its folder, if it has one.
    figures : tuple of Path
        What was drawn, if figures were requested.
    notes : tuple of str
        Messages emitted on the way.
    """

    command: str
    document: dict[str, Any]
    tables: Report
    path: Path | None = None
    figures: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        place = f" in {self.path}" if self.path else ""
        titles = "; ".join(table.title for table in self.tables.tables if table.title)
        return f"<eqbench.{self.command}{place}{f': {titles}' if titles else ''}>"

    @checked
    def report(self, format: Format = "terminal") -> ReportText:
        """Its tables as text, ``terminal`` or ``md``."""
        from eqbench.report.formats import markdown
        from eqbench.report.terminal import plain_text, print_report

        if format not in get_args(Format):
            raise UsageError(f"{format!r} is not a format; choose of {', '.join(get_args(Format))}")
        if format == "md":
            return ReportText(markdown(self.tables), format)
        return ReportText(plain_text(lambda console: print_report(self.tables, console)))

    @checked
    def to_frame(self, table: int | None = None) -> pd.DataFrame:
        """The points that it wrote (points.csv or another), or the rows of a table by its number.

        Without a folder it is the first table.
        """
        import pandas as pd

        written = sorted(self.path.glob("*.csv")) if self.path else []
        if table is None and written:
            return pd.read_csv(written[0])
        return frame_of(self.tables.tables[table or 0])


def frame_of(table: Table) -> pd.DataFrame:
    """The values of a printed table, with a column for each player's payoff."""
    import pandas as pd

    table = table.with_payoff_columns()
    titles = [column.title for column in table.columns]
    rows = [[row.values.get(title) for title in titles] for row in table.rows]
    rows = [[each.value if isinstance(each, Cell) else each for each in row] for row in rows]
    return pd.DataFrame(rows, columns=titles)


def _function(request_type: type[Any]) -> Callable[..., StudyResult]:
    """Function of a study, made of its request."""
    command, fields = request_type.command, fields_of(request_type)

    def study(
        *given: Any, out: AnyPath | None = None, figures: bool = False, **options: Any
    ) -> StudyResult:
        first = fields[0]
        if given and first.attribute in options:
            raise UsageError(f"{command}() is given {first.attribute!r} twice")
        if len(given) > 1 and not first.several:
            extra = ", ".join(map(repr, given[1:]))
            raise UsageError(f"{command}() takes keywords after {first.attribute!r}, not {extra}")
        if given:
            options[first.attribute] = given if first.several else given[0]
        request = request_from(request_type, command, options)
        kind: type[Study[Any, Any, Any]] = pkgutil.resolve_name(request_type.study)
        messages: list[str] = []
        before = announce.set(messages.append)
        try:
            made = kind(request, figures=figures)
        finally:
            announce.reset(before)
        return _carry_out(made, messages, out, figures=figures)

    study.__name__ = study.__qualname__ = command
    about = inspect.getdoc(request_type) or ""
    # the first field by its position, the others by keywords, as in the request
    place = Parameter.VAR_POSITIONAL if fields[0].several else Parameter.POSITIONAL_OR_KEYWORD
    first = Parameter(fields[0].attribute, place, annotation=accepted(fields[0], one=True))
    own = f"{fields[0].attribute}\n    {fields[0].help}"
    study.__doc__ = f"{about}\n\nParameters\n----------\n{own}\n{_OWN}"
    return written_out(request_type, but=(fields[0].attribute,), first=first)(checked(study))


def _carry_out(
    study: Study[Any, Any, Any],
    messages: list[str],
    out: str | PathLike[str] | None,
    *,
    figures: bool,
) -> StudyResult:
    command = study.request.command
    if (preview := study.preview()) is not None:
        return StudyResult(command, {}, preview, notes=tuple(messages))
    if not (out or figures or study.request.writes_always):
        document = answer(study)
        return StudyResult(
            command, to_builtins(document), study.report(document), notes=tuple(messages)
        )
    folder = StudyFolder.create(study, None if out is None else Path(out))
    with held(folder.path, command):
        document = folder.carry_out(study, Session(folder.path, say=messages.append))
        drawn = folder.draw(study, document) if figures or study.always_draws else ()
        items = list(drawn)
    files = tuple(item for item in items if isinstance(item, Path))
    messages += [item for item in items if isinstance(item, str)]
    return StudyResult(
        command,
        to_builtins(document),
        study.report(document),
        folder.path,
        files,
        tuple(messages),
    )


crossplay = _function(CrossplayRequest)
prove = _function(ProveRequest)
qre = _function(QuantalRequest)
ranges = _function(RangesRequest)
simulate = _function(SimulationRequest)
stability = _function(StabilityRequest)
trace = _function(TraceRequest)
