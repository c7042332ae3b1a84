"""What `eqbench trace` is asked for: numbers in options, and options of a trace that goes on."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import click

MOST = "most"
LONGEST = 100  # characters of a number
_OF_SOLVER = ("epsilon", "regularization", "derivative")
_NUMBER = r"[+-]?(\d+/\d*[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?)"


class ExactNumber(click.ParamType):
    """An integer, a decimal or p/q, exactly; also the word `most` if that is allowed."""

    name = "number"

    def __init__(self, *, most: bool = False) -> None:
        self.most = most

    def convert(self, value: Any, param: Any, ctx: Any) -> Fraction | str:
        if self.most and value == MOST:
            return MOST
        text = str(value).strip()
        if len(text) <= LONGEST and re.fullmatch(_NUMBER, text):
            return Fraction(text)
        self.fail(
            f"{value!r} is no number; write for example 3, 3.2 or 7/2"
            + (f", or the word {MOST}" if self.most else ""),
            param,
            ctx,
        )


class Interval(click.ParamType):
    """Two numbers with a comma between them, the smaller one first."""

    name = "interval"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, float]:
        if isinstance(value, tuple):
            return value
        try:
            low, high = map(float, str(value).split(","))
        except ValueError:
            low = high = math.nan
        if not -math.inf < low < high < math.inf:
            self.fail(f"{value!r} is no interval; write for example 3.1,3.3", param, ctx)
        return low, high


def new_request(options: dict[str, Any]) -> Any:
    """The request of a trace that begins.

    Raises
    ------
    UsageError
        If options are missing, or an option of the solver is given twice.
    """
    from eqbench.studies.trace.request import TraceRequest

    for name in ("game", "from", "to"):
        if options[name] is None:
            raise click.UsageError(
                f"Missing option '--{name}'; a new trace needs --game, --from and --to, for "
                "example: eqbench trace --game skp --from 2 --to 6"
            )
    solver = _solver(options["solver"], options)
    return TraceRequest(**_fields(options), solver=solver, plugins=options["plugins"])


def same_request(ctx: click.Context, stored: Any, registry: Any, options: dict[str, Any]) -> Any:
    """The request of a trace that goes on; what is given again must be the same.

    Raises
    ------
    UsageError
        If it is not.
    """
    from dataclasses import replace

    from click.core import ParameterSource

    from eqbench.errors import UsageError

    def given(name: str) -> bool:
        return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE

    asked = {name: value for name, value in _fields(options).items() if given(_OPTION[name])}
    stored_fields = stored.__dict__ | {"at": stored.at + (MOST,) * stored.at_most}
    if asked.pop("at_most", False):
        asked["at"] += (MOST,)
    if "game" in asked:
        asked["game"] = registry.describe_game(asked["game"])[1]
    if any(map(given, ("solver", *_OF_SOLVER))):
        text = options["solver"] if given("solver") else stored.solver
        again = _solver(text, options, replaces=not given("solver"))
        asked["solver"] = registry.load_solver(again).spec
    for name, value in asked.items():
        before = stored_fields[name]
        if value != before:
            raise UsageError(
                f"this trace was begun with --{_OPTION.get(name, name)} {_shown(before)}, now it "
                f"is {_shown(value)}; leave the option out, or begin a new trace"
            )
    return replace(stored, plugins=options["plugins"])


# Fields of a request by the options that they come from.
_OPTION = {
    "game": "game",
    "parameter": "parameter",
    "first": "from",
    "last": "to",
    "at": "at",
    "at_most": "at",
    "starts": "starts",
    "seed": "seed",
}


def _fields(options: dict[str, Any]) -> dict[str, Any]:
    fields = {name: options[option] for name, option in _OPTION.items()}
    values = [value for value in options["at"] if value != MOST]
    return fields | {"at": tuple(dict.fromkeys(values)), "at_most": MOST in options["at"]}


def _solver(text: str, options: dict[str, Any], *, replaces: bool = False) -> str:
    """Spec of the solver with the options that stand for some of its own."""
    from eqbench.errors import UsageError
    from eqbench.spec import parse_spec

    spec = parse_spec(text)
    chosen = {name: options[name] for name in _OF_SOLVER if options[name] is not None}
    twice = [name for name in chosen if name in dict(spec.options)]
    if twice and not replaces:
        raise UsageError(
            f"{twice[0]} is given by --{twice[0]} and in --solver {text}; give it once"
        )
    if "epsilon" in chosen:
        chosen["epsilon"] = Fraction(repr(chosen["epsilon"]))
    return str(spec.replace(**chosen))


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return str(value)
