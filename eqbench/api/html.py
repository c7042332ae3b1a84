"""How notebooks show games, profiles, measurements, records, runs and studies."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import singledispatch
from typing import Any

from markupsafe import Markup

from eqbench.api.profiles import with_words
from eqbench.api.runs import Run
from eqbench.api.studies import StudyResult
from eqbench.errors import EqbenchError
from eqbench.model.facts import kind_of_game
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.rational import short_figure
from eqbench.model.words import situation
from eqbench.report.cells import report_on
from eqbench.report.naming import described
from eqbench.report.profile_picture import sets_of, share_text
from eqbench.report.rows import Table, with_notes
from eqbench.report.tree_drawing import draw_tree
from eqbench.store.schema import FinishedCell, trial_of
from eqbench.verification import Verification, Verifier

MOST_DRAWN = 80  # nodes of a tree that is shown
MOST_COMPILED = 20_000  # nodes of a game that is looked at closely for this
MOST_ROWS = 60
MOST_UNBROKEN = 12  # characters
_SHOWN = (
    *("run", "game", "solver", "seed", "repeat", "status", "max regret", "found"),
    *("equilibrium", "credible", "time to target", "time"),
)


@singledispatch
def html_of(shown: Any) -> Markup:
    """HTML of an object as the output of a notebook's cell."""
    return Markup("<pre>{}</pre>").format(repr(shown))


@html_of.register
def _game(game: Game) -> Markup:
    tree = game.tree
    sizes = {
        "players": ", ".join(tree.players),
        "nodes": f"{tree.n_nodes:,}",
        "information sets": f"{tree.n_infosets:,}",
        "actions": f"{tree.n_actions:,}",
        "payoff range": f"{tree.payoff_range:g}",
        "payoffs and chances": "exact" if tree.exact else "floating point",
    }
    if tree.payoffs.parameter:
        sizes["parameter"] = f"{tree.payoffs.parameter} = {tree.payoffs.value}"
    if tree.n_nodes <= MOST_COMPILED:
        for name, value in kind_of_game(game).items():
            if value is None or isinstance(value, bool):
                sizes[name] = "yes" if value else "no"
            else:
                sizes[name] = value if isinstance(value, str) else f"{value:g}"
    drawing = (
        _picture(draw_tree(tree, game.spec, wording=game.wording))
        if tree.n_nodes <= MOST_DRAWN
        else Markup()
    )
    title = f"{game.spec}: {game.title}" if game.title else game.spec
    return _headed(title, _grid((), sizes.items()), drawing)


@html_of.register
def _profile(profile: BehaviorProfile) -> Markup:
    if profile.tree is None or profile.tree.n_nodes > MOST_COMPILED:
        return Markup("<pre>{}</pre>").format(repr(profile))
    payoffs = Verifier(profile.known_tree).verify(profile).payoffs
    paid = zip(profile.known_tree.players, payoffs, strict=True)
    words = Markup("<p>Payoffs: {}</p>").format(", ".join(f"{n} {_number(u)}" for n, u in paid))
    game = with_words(profile)
    known = [situation(label, game).words for _, label, _ in sets_of(game)]
    values = profile.exact or profile.probabilities.tolist()
    own = zip(sets_of(game), known, profile.known_tree.action_start.tolist(), strict=False)
    rows = [
        (game.tree.players[player], label, Markup(" ").join(map(_bar, actions, values[start:])))
        for (player, _, actions), label, start in own
    ]
    head = ("player", "situation", "frequencies")
    return _headed(profile.spec or "behavior profile", words, _grid(head, rows))


def _bar(action: str, share: Any) -> Markup:
    """An action with its frequency, which is also the width of its bar."""
    bar = '<span style="display: inline-block; width: 9em; box-shadow: inset {}em 0 0 #0072b255">'
    return Markup(bar + "{} {}</span>").format(f"{9 * float(share):.2f}", action, share_text(share))


@html_of.register
def _measured(measured: Verification) -> Markup:
    rows = [
        (f"P{player}", _number(payoff), _number(regret))
        for player, (payoff, regret) in enumerate(
            zip(measured.payoffs, measured.regrets, strict=True), start=1
        )
    ]
    summary = f"max regret {_number(measured.max_regret)}, NashConv {_number(measured.nash_conv)}"
    return _grid(("player", "payoff", "regret"), rows) + Markup("<p>{}</p>").format(summary)


@html_of.register
def _record(record: FinishedCell) -> Markup:
    known = record.equilibria[0].identity if record.equilibria else None
    identity = known if isinstance(known, dict) or known is None else vars(known)
    words = described(identity)["title"] if identity else ""
    name = identity and (f"{words} ({identity['name']})" if words else identity["name"])
    facts: dict[str, Any] = {
        "status": record.status,
        "reason": record.reason,
        "max regret": None if record.max_regret is None else f"{record.max_regret:.2e}",
        "payoffs": " ".join(f"{value:+.5f}" for value in record.payoffs or ()),
        "equilibrium": name,
        "profiles": len(record.equilibria) or None,
        "iterations": record.iterations and f"{record.iterations:,}",
        "time": None if record.elapsed_s is None else f"{record.elapsed_s:.3g} s",
    }
    title = f"{record.solver} on {record.game}" + (
        f", {trial_of(record)}" if trial_of(record) else ""
    )
    return _headed(title, _grid((), ((k, v) for k, v in facts.items() if v)))


@html_of.register
def _run(run: Run) -> Markup:
    tables = [*map(_without_details, report_on([run.stored], summarize=None).tables)]
    cells = [table for table in tables if not table.topic]
    lead = cells[0].lines if len(cells) == 1 else ()
    if lead:  # of one game what was found stands first
        tables = [*(each for each in tables if each.topic), replace(cells[0], lines=())]
    lines = (*lead, *run.answer.splitlines())
    sentences = Markup("").join(Markup("<p>{}</p>").format(line) for line in lines)
    chart = Markup()
    if any(record.trace is not None for record in run):
        try:
            chart = _picture(run.figure("answer").to_svg())
        except EqbenchError as error:
            chart = Markup("<p>{}</p>").format(error)
    return sentences + Markup("").join(_tables(tables)) + chart


def _without_details(table: Table) -> Table:
    """Table of cells with the columns that a notebook shows; others as they are."""
    if not any(column.kind == "status" for column in table.columns):
        return table
    return replace(table, columns=tuple(c for c in table.columns if c.title in _SHOWN))


@html_of.register
def _study(study: StudyResult) -> Markup:
    parts = [*_tables(study.tables.tables)]
    notes = (*study.tables.notes, *study.notes)
    parts += [Markup("<p><small>{}</small></p>").format(note) for note in notes if note]
    for file in study.figures:
        if file.suffix == ".svg":
            parts.append(_picture(file.read_text(encoding="utf-8")))
    return Markup("").join(parts)


def _headed(title: str, *parts: Markup) -> Markup:
    return Markup("<p><b>{}</b></p>").format(title) + Markup("").join(parts)


def _picture(svg: str) -> Markup:
    """A picture by itself, which no style of the page touches."""
    data = b64encode(svg.encode()).decode()
    return Markup('<img style="max-width:100%" src="data:image/svg+xml;base64,{}">').format(data)


def _tables(tables: Sequence[Table]) -> Iterator[Markup]:
    """Tables of a report with the lines above them, and their notes."""
    for table, below, later in with_notes(tables):
        rows = [[row.cell(column).text for column in table.columns] for row in table.rows]
        head = [column.title + column.unit for column in table.columns]
        grid = [_grid(head, rows)] if rows else []
        lines, notes = (
            [Markup("<p>{}</p>").format(Markup("<br>").join(texts))] if texts else []
            for texts in (table.lines, [*below, *later])
        )
        topic = f": {table.topic}" if table.topic else ""
        yield _headed(table.title + topic, *lines, *grid, *notes)


def _grid(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> Markup:
    """Rows and columns; of many rows the first ones, and how many more there are."""
    cell = Markup('<{0} style="text-align: left; padding: 0 1em 0 0{1}">{2}</{0}>')

    def line(tag: str, values: Iterable[Any]) -> Markup:
        texts = [value if isinstance(value, Markup) else str(value) for value in values]
        looks = (
            ("; white-space: pre; font-family: monospace", text)  # a row of a grid
            if "  " in text
            else ("; white-space: nowrap" * (len(text) <= MOST_UNBROKEN), text)
            for text in texts
        )
        cells = Markup("").join(cell.format(tag, look, text) for look, text in looks)
        return Markup("<tr>{}</tr>").format(cells)

    shown, titles = list(rows), list(head)
    more = len(shown) - MOST_ROWS
    body = Markup("").join(line("td", row) for row in shown[:MOST_ROWS])
    top = Markup("<thead>{}</thead>").format(line("th", titles)) if titles else Markup()
    rest = Markup("<p>and {} more</p>").format(more) if more > 0 else Markup()
    return Markup("<table>{}<tbody>{}</tbody></table>{}").format(top, body, rest)


def _number(value: Any) -> str:
    """Six significant digits, of what is not a short fraction."""
    if isinstance(value, Fraction):
        return short_figure(value, 12)
    text = str(value)
    return text if len(text) <= 12 and "." not in text else f"{float(Fraction(text)):.6g}"
