"""Let players prepare for different equilibria of one game: the study, its summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eqbench.equilibria import Identifier
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.report.rows import Report
from eqbench.store.stored_run import StoredRun, game_of_runs, read_runs
from eqbench.studies.crossplay.entries import (
    Found,
    LeftOut,
    corners,
    counted_by_name,
    equilibria_of_runs,
    recognized,
    selection,
    without_copies,
)
from eqbench.studies.crossplay.measure import (
    Crossplay,
    WorstCases,
    check_entries,
    combinations_csv,
    crossplay,
    crossplay_exactly,
)
from eqbench.studies.crossplay.tables import report_on
from eqbench.studies.frame import Session, Study
from eqbench.studies.requests import CrossplayRequest
from eqbench.studies.study_files import write_texts

SCHEMA = "eqbench.crossplay/1"
COMBINATIONS = "combinations.csv"
Number = Callable[[Any], float | str]


class CrossplayStudy(Study[CrossplayRequest]):
    """Mix the equilibria of runs, files and published sets in all ways; one part."""

    request_type = CrossplayRequest

    def __init__(self, request: CrossplayRequest, *, figures: bool = False) -> None:
        """Collect the entries.

        Raises
        ------
        UsageError
            If there are none, too many, or of several games.
        """
        if request.exact:
            sys.set_int_max_str_digits(0)  # fractions may be longer than Python likes to print
        self.request = request
        runs = read_runs(request.runs)
        self.notes = tuple(dict.fromkeys(note for run in runs for note in run.notes))
        profiles = {path: read_profile(path) for path in request.profiles}
        self.game = _game_of(request, runs, profiles.values())
        self.allowed = request.tolerance * self.game.tree.payoff_scale
        found, self.left_out = self._collected(runs, profiles)
        different, copies = without_copies(self.game, found, exact=request.exact)
        self.found = selection(different, request.most or len(different))
        self.copies = [(copy, kept) for copy, kept in copies if kept in self.found]
        self.left_out["most"] = counted_by_name(
            item.name for item in different if item not in self.found
        )
        self.entries = [(_label(place), item.profile) for place, item in enumerate(self.found)]
        check_entries(self.game, self.entries, request.limit, exact=request.exact)

    def _collected(
        self, runs: Sequence[StoredRun], profiles: Mapping[str, Any]
    ) -> tuple[list[Found], LeftOut]:
        """Equilibria with their sources, known ones first, since these are exact; what is not."""
        game = self.game
        named, without_corners = corners(game) if self.request.known else ([], [])
        named += [(path, profile_from_json(game.tree, data)) for path, data in profiles.items()]
        found = recognized(Identifier(game), named, self.allowed)
        above, same_run = None, 0
        if runs:
            more, above, same_run = equilibria_of_runs(runs, game, self.allowed)
            found += more
        if not found:
            raise UsageError("nothing to compare; give a RUN, --known or --profile FILE")
        return found, LeftOut(
            above_tolerance=above, same_run=same_run, most=[], without_corners=without_corners
        )

    def parts(self) -> list[str]:
        return ["combinations"]

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Measure all combinations; they are written if the folder stays."""
        request = self.request
        result = (
            crossplay_exactly(self.game, self.entries, limit=request.limit)
            if request.exact
            else crossplay(
                self.game, self.entries, tolerance=request.tolerance, limit=request.limit
            )
        )
        if session.keeps:
            write_texts(session.folder, {COMBINATIONS: combinations_csv(result)})
        return summary(result, self.found, self.copies, self.left_out)

    def summary(self, records: Sequence[dict[str, Any]], *, finished: bool) -> dict[str, Any]:
        return records[0] if records else {"schema": SCHEMA, "game": self.game.spec}

    def report(self, document: Mapping[str, Any]) -> Report:
        return report_on(document)


def _game_of(request: CrossplayRequest, runs: Sequence[StoredRun], profiles: Iterable[Any]) -> Game:
    """The only game that runs and profiles are about, or the one that was asked for.

    Raises
    ------
    UsageError
        If there is none or several, or the runs have no such game.
    """
    registry = request.registry()
    specs = {cell.game_spec: None for run in runs for cell in run.cells}
    if request.game is not None:
        spec = registry.describe_game(request.game)[1]
        if specs and spec not in specs:
            raise UsageError(f"no run has cells of {spec}; the games are {'; '.join(specs)}")
    else:
        named = [data.get("game") for data in profiles if isinstance(data, dict)]
        specs |= {registry.describe_game(text)[1]: None for text in named if isinstance(text, str)}
        if len(specs) != 1:
            raise UsageError(
                f"these are several games; choose one by --game SPEC: {'; '.join(specs)}"
                if specs
                else "which equilibria? give a RUN, or --game SPEC with --known or --profile FILE"
            )
        (spec,) = specs
    return game_of_runs(runs, spec, registry.load_game, max_nodes=request.max_nodes)


def _label(number: int) -> str:
    """A, B, …, Z, AA, AB, … as spreadsheets count."""
    text = ""
    while number >= 0:
        number, letter = divmod(number, 26)
        text, number = chr(ord("A") + letter) + text, number - 1
    return text


def summary(
    result: Crossplay,
    found: Sequence[Found],
    copies: Sequence[tuple[Found, Found]],
    left_out: LeftOut,
) -> dict[str, Any]:
    """What is to be said about a cross-play, as JSON values.

    Numbers are floats; from exact arithmetic the same figures stand under `exact` once more,
    as ``"p/q"``.

    Parameters
    ----------
    result : the study, its entries in the order of `found`
    found : where each entry comes from
    copies : what repeats an entry, each with that entry
    left_out : what else is not among the entries
    """
    label_of = dict(zip(map(id, found), result.labels, strict=True))
    equilibria, n = result.n_equilibria, result.n_combinations
    document = {
        "schema": SCHEMA,
        "game": result.game.spec,
        "players": list(result.game.tree.players),
        "tolerance": float(result.tolerance),
        "entries": [
            {
                "label": label,
                "source": item.source,
                "identity": item.identity,
                "payoffs": _numbers(result.swap_payoffs[0, a, a], float),
                "max_regret": float(result.swap_regrets[0, a, a].max()),
            }
            for a, (label, item) in enumerate(zip(result.labels, found, strict=True))
        ],
        "copies": [{"source": copy.source, "same_as": label_of[id(kept)]} for copy, kept in copies],
        "left_out": left_out,
        "combinations": {
            "strategies": list(result.n_strategies),
            "count": n,
            "equilibria": equilibria,
            "share": None if equilibria is None else equilibria / n,
        },
        **_figures(result, float),
    }
    if result.exact:
        document["exact"] = _figures(result, str)
    return document


def _figures(result: Crossplay, number: Number) -> dict[str, Any]:
    """What is measured, with numbers as `number` writes them."""
    players, n = range(result.game.tree.n_players), range(len(result.labels))
    labels = result.game.tree.players
    return {
        "own": [
            {
                "payoffs": _numbers(result.swap_payoffs[0, a, a], number),
                "regrets": _numbers(result.swap_regrets[0, a, a], number),
            }
            for a in n
        ],
        "interchange": [
            {
                "player": labels[i],
                "equilibrium": result.interchangeable[i].tolist(),
                "payoffs": _numbers(result.swap_payoffs[i], number),
                "regrets": _numbers(result.swap_regrets[i], number),
            }
            for i in players
        ],
        "worst_cases": [
            {
                "player": labels[i],
                "own": _numbers(result.own_payoffs[i], number),
                "others_agree": _worst(result, result.others_agree, i, number),
                "others_differ": _worst(result, result.others_differ, i, number),
                "guaranteed_others_act_as_one": _worst(result, result.guaranteed, i, number),
            }
            for i in players
        ],
    }


def _worst(result: Crossplay, cases: WorstCases, player: int, number: Number) -> dict[str, Any]:
    """Worst cases of one player by entry, who plays what then, and the entries to choose."""
    names = np.array(result.labels, dtype=object)
    played = {} if cases.entries is None else {"entries": names[cases.entries[player]].tolist()}
    return {
        "payoffs": _numbers(cases.payoffs[player], number),
        **played,
        "best": names[cases.best[player]].tolist(),
    }


def _numbers(values: Any, number: Number) -> Any:
    """Nested lists of numbers as `number` writes them."""
    return np.frompyfunc(number, 1, 1)(values).tolist()
