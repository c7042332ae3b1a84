"""Experiments: what to run, written down in a TOML file, and read with its mistakes named by line.

The keys of a part are the options of ``eqbench run``. What stands at the top holds for all parts. A
solver or game may be a table with its name and options; an option with a list stands for as many
solvers or games as the list has values.
"""

from __future__ import annotations

import importlib.util
import itertools
import math
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from eqbench.builtin import extensions
from eqbench.documents import checked, read_file
from eqbench.errors import UsageError, counted, nearest
from eqbench.registry import Registry, default_registry
from eqbench.requests import (
    FLAG,
    GAME,
    JOBS,
    MOST_NODES,
    NUMBER,
    SHARE,
    SOLVER,
    Limits,
    MaxNodes,
    Option,
    Plugins,
    Scheduler,
    fields_of,
    to_data,
)
from eqbench.spec import GAME_FILES, is_foreign, parse_spec, split_specs
from eqbench.text import printable, shortened


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How cells are judged and carried out."""

    tolerance: Annotated[
        float,
        Option("Share of the payoff range above which a claimed equilibrium is refuted.", SHARE),
    ] = 1e-6
    max_nodes: MaxNodes = MOST_NODES
    jobs: Annotated[
        int | None,
        Option(
            "Cells that run at the same time; more than there are cores spoils the times.",
            JOBS,
            short="j",
            default="1; twice the threads of a cluster",
        ),
    ] = None
    scheduler: Scheduler = None
    verify_here: Annotated[
        bool,
        Option(
            "Measure profiles in this process instead of on the workers of the cluster.",
            FLAG,
            "verify-here",
        ),
    ] = False
    plugins: Plugins = ()


@dataclass(frozen=True)
class Request(Limits, Execution):
    """Games × solvers × seeds, and the limits of each cell."""

    games: Annotated[
        Sequence[str],
        Option(
            "Game, for example kuhn3 or 'kuhn(players=3, pot=3.2)', or several separated by "
            "commas.",
            GAME,
            "game",
        ),
    ]
    solvers: Annotated[
        Sequence[str],
        Option(
            "Solver, several separated by commas, 'all', or all of a library, as 'gambit_all'.",
            SOLVER,
            "solver",
        ),
    ]
    seeds: Annotated[
        int, Option("Run solvers that use randomness with seeds 0 to N-1.", NUMBER)
    ] = 1
    repeats: Annotated[
        int, Option("Run every cell N times over, to see how far its times scatter.", NUMBER)
    ] = 1

    @property
    def limits(self) -> Limits:
        """The limits of each cell alone."""
        return Limits(**{field.name: getattr(self, field.name) for field in fields(Limits)})


LOCAL_CLUSTER, NO_SCHEDULER = "local", "none"


def placed_scheduler(scheduler: str | None, folder: Path) -> str | None:
    """A scheduler as it is found from everywhere: a file with its address may be relative."""
    if scheduler in (None, LOCAL_CLUSTER, NO_SCHEDULER) or "://" in scheduler:
        return scheduler
    return str((folder / scheduler).absolute())


SCHEMA = "eqbench.experiment/1"
MOST_VALUES = 10_000  # of a range
FORMATS = ("csv", "html", "md", "tex")
_OWN = ("schema", "name", "takes", "report", "part")
SPECS = ("game", "solver")


@dataclass(frozen=True)
class Experiment:
    """Parts that are run into one folder, each with its own games, solvers and limits.

    Attributes
    ----------
    parts : one request each
    name : of the experiment; may be empty
    report : formats that are written into the folder when all is done
    takes : how long it took when measured, in words; may be empty
    """

    parts: tuple[Request, ...]
    name: str = ""
    report: tuple[str, ...] = ()
    takes: str = ""

    @property
    def jobs(self) -> int | None:
        """Cells that run at the same time; None if unspecified."""
        return max((part.jobs for part in self.parts if part.jobs is not None), default=None)

    @property
    def scheduler(self) -> str | None:
        """Scheduler of the cluster that carries out cells, None for this machine.

        Raises
        ------
        UsageError
            If parts name different ones.
        """
        named = {part.scheduler or NO_SCHEDULER for part in self.parts}
        if len(named) > 1:
            raise UsageError(
                f"parts of a run name the schedulers {', '.join(sorted(named))}; name one for all, "
                "or run them into folders of their own"
            )
        scheduler = named.pop()
        return None if scheduler == NO_SCHEDULER else scheduler

    @property
    def tolerance(self) -> float:
        """Share of the payoff range up to which a profile counts as an equilibrium."""
        return max(part.tolerance for part in self.parts)

    def sizes(self) -> dict[str, int]:
        """Numbers of games, by their names, and solvers, and what all limits may sum up to.

        No solver is imported for it, so all are taken to have cells for each seed.
        """
        registry = default_registry().with_plugins(self.plugins)
        games, solvers, seconds = set[str](), set[str](), 0.0
        for part in self.parts:
            named = {spec for text in part.games for spec in split_specs(text)}
            chosen = {name for text in part.solvers for name in registry.resolve_solvers(text)}
            games, solvers = games | named, solvers | chosen
            seconds += len(named) * len(chosen) * part.seeds * part.repeats * part.timeout_s
        most = {"most_seconds": math.ceil(seconds)}
        return {"games": len(games), "solvers": len(solvers)} | most

    @property
    def plugins(self) -> tuple[str, ...]:
        """Files that the specs of any part may refer to."""
        return tuple(dict.fromkeys(file for part in self.parts for file in part.plugins))

    def crowding(self) -> str:
        """Return what to say if more threads will want to run than this machine has cores."""
        from eqbench.solver import usable_cores  # brings NumPy

        threads, cores = max(part.threads for part in self.parts), usable_cores()
        jobs = self.jobs or 1
        if self.scheduler is not None or jobs * threads <= cores:
            return ""
        at_once = f"{counted(jobs, 'cell')} at a time with {counted(threads, 'thread')} each"
        return (
            f"{at_once} want more than the {counted(cores, 'core')} of this machine, which "
            "spoils their times; give a smaller -j or --threads"
        )

    def with_changes(self, changes: Mapping[str, Any]) -> Experiment:
        """The same with some attributes of all requests replaced."""
        return replace(self, parts=tuple(replace(part, **changes) for part in self.parts))

    def check_names(self) -> None:
        """Refuse games and solvers that are not registered; raises as the registry does."""
        for part in self.parts:
            registry = default_registry().with_plugins(part.plugins)
            for spec in itertools.chain.from_iterable(map(split_specs, part.games)):
                registry.game_entry(spec)
            for solvers in part.solvers:
                registry.resolve_solvers(solvers)


def shipped() -> dict[str, Path]:
    """Files of experiments by name: those of eqbench, and ``FOLDER_NAME`` those of extensions.

    An extension is a package whose folders have experiments in folders of that name.
    """
    here = Path(__file__).with_name("experiments")
    files = {file.stem: file for file in sorted(here.glob("*.toml"))}
    for package in extensions("experiments").values():
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            found = sorted(Path(place).glob("*/experiments/*.toml"))
            files |= {f"{file.parents[1].name}_{file.stem}": file for file in found}
    return files


def find_experiment(text: str) -> Path:
    """File that is meant: of that path, or shipped under that name."""
    return Path(text) if os.path.isfile(text) else shipped().get(text, Path(text))


@checked
def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment from its file.

    Raises
    ------
    UsageError
        If it cannot be read, or something in it is unknown or of the wrong kind; the message
        begins with the file and the line.
    """
    path = Path(path)
    try:
        text = read_file(path).decode("utf-8-sig")
        data = tomllib.loads(text)
    except OSError as error:
        raise UsageError(
            f"cannot read the experiment {path}: {error.strerror}; of those that are shipped "
            f"(eqbench info experiments), {nearest(str(path), shipped())}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: {printable(shortened(str(error)))}") from None
    return _ExperimentReader(path, text).experiment(data)


def experiment_text(experiment: Experiment) -> str:
    """TOML text of an experiment; what is the same in all parts stands at the top."""
    import tomli_w

    defaults = {field.name: field.write(field.default) for field in fields_of(Request)}
    parts = [
        {name: value for name, value in to_data(part).items() if value != defaults[name]}
        for part in (_with_files(part, Path.cwd()) for part in experiment.parts)
    ]
    common = {
        name: value for name, value in parts[0].items() if all(p.get(name) == value for p in parts)
    }
    document: dict[str, Any] = {"schema": SCHEMA}
    document |= {"name": experiment.name} if experiment.name else {}
    document |= {"takes": experiment.takes} if experiment.takes else {}
    document |= {"report": list(experiment.report)} if experiment.report else {}
    document |= common
    if len(parts) > 1:
        document["part"] = [
            {name: value for name, value in part.items() if name not in common} for part in parts
        ]
    return tomli_w.dumps(document, multiline_strings=False)


def _with_files(request: Request, folder: Path) -> Request:
    """The request with files of games and plugins as they are found from a folder."""
    return replace(
        request,
        games=tuple(
            ",".join(_placed(spec, folder) for spec in split_specs(text)) for text in request.games
        ),
        plugins=tuple(str((folder / file).absolute()) for file in request.plugins),
        scheduler=placed_scheduler(request.scheduler, folder),
    )


def _placed(spec: str, folder: Path) -> str:
    """A spec of a game; if it names a file, that in the folder."""
    name = parse_spec(spec).name if is_foreign(spec) else ""
    if not name.lower().endswith(GAME_FILES):
        return spec
    path = str(folder / name)
    return f'"{path}"' if "," in path else path


class _ExperimentReader:
    """Reads the data of one file; mistakes are named by file and line."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()
        self.fields = {field.name: field for field in fields_of(Request)}

    def experiment(self, data: dict[str, Any]) -> Experiment:
        schema = data.get("schema", SCHEMA)
        if schema != SCHEMA:
            self._refuse("schema", f"{schema!r} is another format; this version reads {SCHEMA!r}")
        stem = "" if self.path.stem == "manifest" else self.path.stem
        name, report = data.get("name", stem), data.get("report", [])
        takes = data.get("takes", "")
        for key, text in {"name": name, "takes": takes}.items():
            if not isinstance(text, str):
                self._refuse(key, f"{text!r} is not text")
        if not isinstance(report, list) or not all(form in FORMATS for form in report):
            self._refuse("report", f"{report!r} is not a list of some of {', '.join(FORMATS)}")
        common = {key: value for key, value in data.items() if key not in _OWN}
        given = data.get("part", [{}])
        if not isinstance(given, list) or not all(isinstance(part, dict) for part in given):
            self._refuse("part", "parts begin with a line [[part]] each")
        parts = tuple(self._part(common, part, k) for k, part in enumerate(given))
        if not parts:
            self._refuse("part", "there is no part; leave the key out, or write [[part]]")
        return Experiment(parts, name, tuple(report), takes)

    def _part(self, common: dict[str, Any], own: dict[str, Any], place: int) -> Request:
        chosen: dict[str, Any] = {}
        for key, value in (common | own).items():
            part = place if key in own else None
            if key not in self.fields:
                known = [*self.fields, *(_OWN if part is None else ())]
                self._refuse(key, f"unknown key {shortened(key)!r}: {nearest(key, known)}", part)
            field = self.fields[key]
            try:
                specs = list(_specs(value)) if key in SPECS else value
                listed = [specs] if field.several and isinstance(specs, str) else specs
                chosen[field.attribute] = field.read(listed)
            except (ValueError, UsageError) as error:
                self._refuse(key, f"{key}: {error}", part)
        for key in SPECS:
            if not chosen.get(self.fields[key].attribute):
                self._refuse(key, f"the key {key!r} is missing or empty", place)
        request = _with_files(Request(**chosen), self.path.parent)
        self._check_names(request, own, place)
        return request

    def _check_names(self, request: Request, own: dict[str, Any], place: int) -> None:
        """Refuse names that are not registered, before anything is run."""
        registry: Registry = default_registry().with_plugins(request.plugins)
        for key, check in (("game", registry.game_entry), ("solver", registry.resolve_solvers)):
            for text in getattr(request, self.fields[key].attribute):
                try:
                    for spec in split_specs(text):
                        check(spec)
                except UsageError as error:
                    self._refuse(key, str(error), place if key in own else None)

    def _refuse(self, key: str, problem: str, part: int | None = None) -> None:
        line = self._line(key, part)
        where = f"{self.path}, line {line}" if line else str(self.path)
        raise UsageError(f"{where}: {printable(problem)}")

    def _line(self, key: str, part: int | None) -> int | None:
        """Line on which a key stands: at the top, or in a part; None if it stands nowhere."""
        here = -1
        for number, line in enumerate(self.lines, start=1):
            if re.match(r"\s*\[\[\s*part\s*\]\]", line):
                here += 1
            inside = here == part if part is not None else here < 0
            names = rf"(\[+\s*)?(part\.)?[\"']?{re.escape(key)}[\"']?\s*(=|\.|\])"
            if inside and re.match(rf"\s*{names}", line):
                return number
        return None


def _specs(value: Any) -> Iterator[str]:
    """Specs of games or solvers: texts, and tables of a name and options with ranges."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict) and isinstance(item.get("name"), str):
            yield from _expanded(item)
        else:
            raise ValueError(f"{item!r} is neither a text nor a table with a name and options")


def _expanded(table: Mapping[str, Any]) -> Iterator[str]:
    spec = parse_spec(table["name"])
    options = {key: value for key, value in table.items() if key != "name"}
    ranges: list[Sequence[Any]] = []
    for key, value in options.items():
        if not re.fullmatch(r"[A-Za-z]\w*", key):
            raise ValueError(f"{key!r} is not the name of an option")
        if value == []:
            raise ValueError(f"the range of {key} is empty; give it a value")
        ranges.append(value if isinstance(value, list) else _values(value))
    if math.prod(map(len, ranges)) > MOST_VALUES:
        raise ValueError(f"its ranges make more than {MOST_VALUES:,} combinations")
    for values in itertools.product(*ranges):
        chosen = dict(zip(options, map(_exact, values), strict=True))
        yield str(spec.replace(**chosen))


def _values(value: Any) -> Sequence[Any]:
    """The value itself, or the integers of a range such as ``0..9``, both ends included."""
    match = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", value) if isinstance(value, str) else None
    if match is None:
        return [value]
    first, last = int(match[1]), int(match[2])
    if not first <= last < first + MOST_VALUES:
        raise ValueError(f"{value!r} is not a range of 1 to {MOST_VALUES:,} integers")
    return range(first, last + 1)


def _exact(value: Any) -> Any:
    """A number as it is written; a float of TOML means the decimal that it prints as."""
    if isinstance(value, float):
        return Fraction(repr(value))
    if isinstance(value, str | int):
        return value
    raise ValueError(f"{value!r} is not a value of an option")
