"""Which game of OpenSpiel is meant by a spec."""

from __future__ import annotations

from typing import Any

from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.spec import OPENSPIEL, Value, parse_spec

# Options that OpenSpiel's game of that name does not have: what they must be there.
_KUHN: dict[str, Value] = {"reduce": "none", "raises": 0}
_LEDUC: dict[str, Value] = {"suits": 2, "raises": 2}
_DICE: dict[str, Value] = {"dice": 1, "players": 2}
_CLASSICS = {
    "matching_pennies": "matrix_mp",
    "rock_paper_scissors": "matrix_rps",
    "jordan": "matching_pennies_3p",
}


def their_game(spec: str) -> Any:
    """OpenSpiel's game of a canonical spec, with simultaneous moves in turn.

    Raises
    ------
    UsageError
        If OpenSpiel does not have the game; the message says why and what to do.
    SolverUnavailableError
        If OpenSpiel is not installed.
    """
    try:
        import pyspiel
    except ImportError as error:
        raise SolverUnavailableError(
            f"OpenSpiel cannot be imported ({error}); install it by: pip install 'eqbench[peers]'"
        ) from error
    name = openspiel_name(spec)
    if spec.startswith(OPENSPIEL):
        import open_spiel.python.games  # noqa: F401 - its import registers further games
    game = pyspiel.load_game(name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    return game


def openspiel_name(spec: str) -> str:
    """Text for `pyspiel.load_game`; raises UsageError as :func:`their_game`."""
    if spec.startswith(OPENSPIEL):
        return spec.removeprefix(OPENSPIEL)
    name, options = _parsed(spec)
    players = options.get("players")
    if name == "kuhn" and isinstance(players, int):
        _require(spec, options, {"cards": players + 1, "pot": players, **_KUHN})
        return f"kuhn_poker(players={players})"
    if name == "leduc" and isinstance(players, int):
        _require(spec, options, {"ranks": players + 1, **_LEDUC})
        return f"leduc_poker(players={players})"
    if name == "liars_dice":
        _require(spec, options, _DICE)
        return f"liars_dice(dice_sides={options['sides']})"
    if name == "goofspiel":
        rules = f"num_cards={options['cards']},players={players}"
        prizes = f"points_order={options['prizes']},returns_type=win_loss"
        return f"goofspiel(imp_info=True,{rules},{prizes})"
    if name == "matrix" and options.get("name") in _CLASSICS:
        return _CLASSICS[str(options["name"])]
    raise UsageError(
        f"OpenSpiel has no game that is known to be {spec}; use one of its own by "
        "--game openspiel:NAME, or kuhn, leduc, liars_dice, goofspiel, matching_pennies, "
        "rock_paper_scissors or jordan"
    )


def _parsed(spec: str) -> tuple[str, dict[str, Value]]:
    try:
        parsed = parse_spec(spec)
    except SpecError:  # a game that was not named by a spec
        return "", {}
    return parsed.name, dict(parsed.options)


def _require(spec: str, options: dict[str, Value], wanted: dict[str, Value]) -> None:
    """Raise UsageError unless the options have the values that OpenSpiel's rules imply."""
    wrong = [name for name, value in wanted.items() if options[name] != value]
    if wrong:
        fixed = ", ".join(f"{name}={wanted[name]}" for name in wrong)
        raise UsageError(
            f"OpenSpiel has this game only with {fixed}, not {spec}; choose that, or one of "
            "its own games by --game openspiel:NAME"
        )
