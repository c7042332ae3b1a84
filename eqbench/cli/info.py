"""`eqbench info`: which games, solvers and experiments there are, and all about one of them."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from shutil import get_terminal_size
from textwrap import fill, indent
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put, put_json, say
from eqbench.cli.progress import LiveProgress
from eqbench.extras import installation_of
from eqbench.registry import GROUPS, NameOptions
from eqbench.requests import EITHER, Json, Option
from eqbench.text import grouped, short_number, shortened

if TYPE_CHECKING:
    from eqbench.model.words import Wording
    from eqbench.plugins import Entry
    from eqbench.registry import Registry

LISTS = ("games", "solvers", "experiments")


@dataclass(frozen=True)
class InfoRequest(NameOptions):
    """Describe a game or a solver with its options, or list games, solvers and experiments.

    For a game: what kind it is, its sizes, which solvers take it, and its published equilibria.
    For a solver: its method with sources, what an iteration is, what it claims, which games it
    takes. The words games, solvers and experiments list these; without SPEC all are listed. Of
    solvers also which kinds of games they take, as they answer for a few games of each kind.
    """

    spec: Annotated[
        str,
        Option(
            "Game or solver; or games, solvers or experiments.",
            EITHER,
            "game",
            argument=True,
            named=True,
        ),
    ] = ""
    as_json: Json = False


@command(InfoRequest)
def info(request: InfoRequest) -> None:
    registry, spec = request.registry(), request.spec
    if not spec or spec in LISTS:
        kinds = [spec] if spec else LISTS
        rows = {kind: _listed(kind, registry) for kind in kinds}
        if request.as_json:
            put_json({"schema": f"eqbench.{spec or 'info'}/1", **rows})
            return
        for kind in kinds:
            if not spec:
                put(f"{'' if kind == kinds[0] else chr(10)}{kind}")
            _print_list(kind, rows[kind])
        return
    facts, wording = _facts(spec, registry)
    if request.as_json:
        put_json(facts)
    else:
        _print(facts, wording)


def _listed(kind: str, registry: Registry) -> list[dict[str, Any]]:
    """All games, solvers or experiments."""
    from eqbench.builtin import FOREIGN_GAMES
    from eqbench.harness.experiment import read_experiment, shipped

    if kind == "solvers":
        return [_head(entry) | _solver_facts(entry) for entry in registry.solvers()]
    if kind == "games":
        return [_head(entry) for entry in (*registry.games(), *FOREIGN_GAMES.values())]
    rows = []
    for name, file in shipped().items():
        found = read_experiment(file)
        sizes = found.sizes()
        takes = found.takes or f"at most {math.ceil(sizes['most_seconds'] / 60)} min"
        facts = {"name": name, "title": found.name, "file": str(file), "takes": takes}
        rows.append(facts | sizes)
    return rows


def _head(entry: Entry) -> dict[str, Any]:
    return {"name": entry.name, "summary": entry.summary, "source": entry.source}


def _print_list(kind: str, rows: list[dict[str, Any]]) -> None:
    if kind == "experiments":
        for row in ({key: key for key in rows[0]}, *rows):
            counts = f"{row['games']:>5} {row['solvers']:>7}"
            put(f"{row['name']:<23} {counts}  {row['takes']:<15}  {row['title']}")
        say("\nRun one of them: eqbench run kuhn_games")
        return
    texts = {row["name"]: _summary(row) for row in rows}  # for programs a line each
    _put_facts(texts.items(), "", max(map(len, texts), default=0) + 1, sys.maxsize)
    if kind == "solvers":
        # solvers with equal answers on one line; code of others is not run for a list
        alike = grouped(
            (row for row in rows if row["takes"]), lambda row: (*row["takes"].values(),)
        )
        put("\ngames that they take")
        for number, name in enumerate(rows[0]["takes"]):
            put(f"{'|     ' * number}{name}")
        for answers, own in alike.items():
            text = "".join(f"{answer:<6}" for answer in answers)
            put(_filled(", ".join(row["name"] for row in own), text))
    say(f"\nOptions of one of them: eqbench info {rows[0]['name']}")
    if kind == "solvers":
        say("By a few games of each kind. For a game of yours: eqbench info GAME")
        say(f"Several at once: {', '.join(('all', *GROUPS))}")


def _summary(row: dict[str, Any]) -> str:
    """Summary of a game or solver, with remarks on it."""
    text: str = row["summary"]
    if row["source"] != "eqbench":
        text += f"  [{row['source']}]"
    if row.get("default_row") is False:
        text += "  (not in all)"
    if row.get("missing"):
        text += f"  (unavailable: {'; '.join(map(installation_of, row['missing']))})"
    return text


def _facts(spec: str, registry: Registry) -> tuple[dict[str, Any], Wording | None]:
    """What there is to say about a game or a solver, and what the labels of a game mean."""
    from eqbench.equilibria import known_equilibria, same_games
    from eqbench.model.facts import kind_of_game, sizes
    from eqbench.options import option_texts
    from eqbench.spec import parse_spec

    entry, typed, wording = registry.entry(spec), parse_spec(spec).name, None
    facts: dict[str, Any] = {"schema": "eqbench.info/1", "name": typed, "kind": entry.kind}
    facts |= {"summary": entry.summary, "source": entry.source}
    if entry.kind == "game":
        with LiveProgress(f"building {spec}"):
            instance = registry.describe_game(spec)[0]
            game = registry.load_game(spec)
            wording = game.wording
        # integers that no float holds are texts
        sized = {
            name: [n if n < 2**53 else short_number(n) for n in value]
            if isinstance(value, list)
            else value
            for name, value in sizes(game).items()
        }
        facts |= {"title": game.title} if game.title else {}
        facts |= {"spec": game.spec, "sizes": sized, "kinds": kind_of_game(game)}
        answers: dict[str, Any] = {"take it": [], "unsupported": {}, "unavailable": {}}
        for name, obstacle in registry.obstacles(game).items():
            if obstacle is None:
                answers["take it"].append(name)
            else:
                answers[obstacle[0]][name] = obstacle[1]
        facts["solvers"] = answers
        facts["same_as"] = [same.described(game.tree) for same in same_games(game)]
        facts["equilibria"] = [asdict(known) for known in known_equilibria(game)]
    else:
        solver = registry.load_solver(spec)
        instance = solver.instance
        # the method, its sources and claims stand in the docstring before its parameters
        about = re.split(r"\n[A-Z][a-z]+\n---", inspect.getdoc(type(instance)) or "")[0].strip()
        facts |= {"spec": solver.spec, **_solver_facts(entry), "about": about}
    values = option_texts(instance)
    facts["options"] = [
        option.as_listed() | {"value": values[option.name]} for option in registry.options(entry)
    ]
    return facts, wording


def _solver_facts(entry: Entry) -> dict[str, Any]:
    row = {"missing": entry.missing(), "default_row": entry.default_row}
    return row | {"takes": dict(entry.takes)}


def _print(facts: dict[str, Any], wording: Wording | None) -> None:
    put(f"{facts['name']}: {facts.get('title') or facts['summary']}")
    put(f"  spec  {facts['spec']}")
    for sentence in facts.get("same_as", ()):
        put(f"  {sentence}")
    kinds = facts.get("kinds", {})
    if kinds:
        total = kinds["constant sum"]
        kinds = kinds | {"constant sum": False if total is None else f"yes, {_text(total)}"}
        if kinds["symmetric"] == "not decided":
            kinds["symmetric"] += "; only small strategic forms are tried with actions renamed"
    known = (kinds | facts.get("sizes", {})).items()
    _put_facts((name, _text(value)) for name, value in known if value is not None)
    if facts.get("about"):
        put(indent(f"\n{facts['about']}\n", "  "))
    if facts.get("takes"):
        takes = [f"{kind}: {share}" for kind, share in facts["takes"].items()]
        _put_facts([("games", "; ".join(takes))])
    if "solvers" in facts:
        _put_facts([("solvers", ", ".join(facts["solvers"]["take it"]) or "none")])
        for status in ("unsupported", "unavailable"):
            reasons = facts["solvers"][status]
            alike = grouped(reasons, lambda name: reasons[name].removeprefix(f"{name} "))  # noqa: B023
            texts = (f"{', '.join(own)}: {shortened(reason)}" for reason, own in alike.items())
            _put_facts((status, text) for text in texts)
    if facts["options"]:
        put("options")
    for option in facts["options"]:
        put(f"  {option['name']} = {option['value']}  ({option['type']})")
        if option["doc"]:
            put(f"      {option['doc']}")
    _print_equilibria(facts.get("equilibria", []), wording)


def _print_equilibria(known: list[dict[str, Any]], wording: Wording | None) -> None:
    from eqbench.model.words import key_line, place_in_words
    from eqbench.report.naming import symbol

    if not known:
        return
    constants = [f"{name} = {value}" for name, value in known[0]["constants"].items()]
    given = f"; here {', '.join(constants)}" if constants else ""
    put(f"published equilibria ({known[0]['source']}){given}")
    if key := key_line(wording):
        put(_filled(key, "  "))
    for facts in known:
        put(f"  {facts['name']}: {facts['title']}" if facts["title"] else f"  {facts['name']}")
        rest = facts["frequencies"].items()
        own = facts["parameters"].items()
        texts = {
            "in words": [facts["sentence"]] if facts["sentence"] else [],
            "symbols": [f"{symbol(name)}: {text}" for name, text in facts["symbols"].items()],
            "parameters": [f"{name}: {place_in_words(at, wording)}" for name, at in own],
            "frequencies": [
                f"{name} = {text}: {place_in_words(place, wording)}" for name, (place, text) in rest
            ],
            "figures": [f"{name} = {text}" for name, text in facts["figures"].items()],
            "constraints": facts["constraints"],
            "payoffs": facts["payoffs"],
            "transfer": [facts["transfer"]] if facts["transfer"] else [],
        }
        _put_facts(((title, text) for title in texts for text in texts[title]), "    ", 12)


def _put_facts(
    facts: Iterable[tuple[str, str]], begin: str = "  ", room: int = 19, widest: int = 100
) -> None:
    """Print what stands under each name, wrapped next to it; a name is not repeated."""
    before = None
    for name, text in facts:
        put(_filled(text, f"{begin}{'' if name == before else name:<{room}} ", widest))
        before = name


def _filled(text: str, begin: str, widest: int = 100) -> str:
    """Text wrapped behind its beginning, at most as wide as the terminal if there is one."""
    width = max(min(widest, get_terminal_size((widest, 24)).columns), 40)
    rest = " " * len(begin)
    return fill(text, width, initial_indent=begin, subsequent_indent=rest, break_on_hyphens=False)


def _text(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case list():  # one for each player
            return " x ".join(map(_text, value))
        case int():
            return short_number(value)
    return f"{value:g}"
