"""Sections 1 and 4: which methods of Gambit apply, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, differs, holds, not_attempted, reproduced
from eqbench.papers.ganzfried.found import cell_of, regret_of, seconds
from eqbench.papers.ganzfried.jobs import FULL, LOGIT, LOGIT_CALL, REDUCED
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.store.schema import CellRecord

# A share of the payoff range, 6, at which a profile counts as an equilibrium found approximately.
APPROXIMATE = 1e-4
_TOO_LONG = "ten minutes for each method are too long here"
_LIKE_LOGIT = (LOGIT, LOGIT_CALL)


def _cell(stored: Stored, method: str, game: str = REDUCED) -> CellRecord:
    return cell_of(stored, "gambit", game, f"gambit_{method}")


def _ending(cell: CellRecord) -> str:
    """How a cell ended, in a few words; a time-out says after how many seconds."""
    return f"{cell.status}: {cell.reason.partition(',')[0]}"[:90]


def _said(stored: Stored) -> dict[str, Any]:
    found: dict[str, Any] = stored["gambit_says"].summary
    if "unavailable" in found:
        raise NotStoredError(found["unavailable"])
    return found


def _two_players_only(method: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        said = _said(stored)["refusals"][method]
        ours = f"called with the reduced game, pygambit says: {said or 'nothing, it runs'}"
        return holds("two-player" in said, ours, "not refused for its three players")

    return read


def _works_for_two(method: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        cell = cell_of(stored, "gambit_two_players", "kuhn2", f"gambit_{method}")
        ours = f"kuhn2: {cell.status}, max regret {regret_of(cell):.0e}"
        return holds(cell.status == "ok", ours, cell.reason)

    return read


def _form(method: str, *, extensive: bool) -> Callable[[Stored], Reading]:
    """Whether it takes a tree: the full game's strategic form is too large for any method."""

    def read(stored: Stored) -> Reading:
        cell, reduced = _cell(stored, method, FULL), _cell(stored, method)
        takes = cell.status != "unsupported"
        if reduced.status == "unsupported":
            return differs("refused on both games", reduced.reason)
        ours = "takes the tree" if takes else "strategic form only, so not the full game"
        by = "pygambit 17 has it for trees" if takes else "pygambit 17 does not have it for trees"
        return holds(takes == extensive, ours, by)

    return read


def _agents(method: str) -> Callable[[Stored], Reading]:
    """Whether pygambit has it for trees, where it looks for agent equilibria."""

    def read(stored: Stored) -> Reading:
        said = _said(stored)["agents"][method]
        ours = f"{method}_agent_solve {'takes' if not said else 'does not take'} a tree"
        detail = f"of three players; {method}_solve is for the strategic form in pygambit 17"
        return holds(not said, ours, said, detail)

    return read


def _nothing(method: str) -> Callable[[Stored], Reading]:
    """Whether nothing near an equilibrium came out."""

    def read(stored: Stored) -> Reading:
        cell = _cell(stored, method)
        if _found(cell):
            return differs(f"an equilibrium: {_ending(cell)}", f"max regret {regret_of(cell):.0e}")
        if cell.status == "timeout":
            return not_attempted(f"{_TOO_LONG}; nothing until then ({_ending(cell)})")
        if cell.status in ("crashed", "unsupported", "unavailable"):
            return differs(_ending(cell), "it did not search, which is not to search in vain")
        return reproduced(f"nothing: {_ending(cell)}")

    return read


def _found(cell: CellRecord) -> bool:
    return regret_of(cell) <= APPROXIMATE * 6


def _available(stored: Stored) -> Reading:
    cell = _cell(stored, "enumpoly")
    ours = f"available: {_ending(cell)}"
    return holds(cell.status == "crashed", ours, "pygambit 17 has it; no crash until then")


def _crash(stored: Stored) -> Reading:
    cell = _cell(stored, "simpdiv")
    return holds(cell.status == "crashed", _ending(cell), "no crash of pygambit 17 until then")


def _logit(stored: Stored) -> Reading:
    cell = cell_of(stored, "race", REDUCED, LOGIT)
    ours = f"path followed in {seconds(cell.elapsed_s or 0.0)}, max regret {regret_of(cell):.2e}"
    call = _cell(stored, "logit")
    detail = f"the stock call first scans all payoffs: {_ending(call)}"
    return holds(regret_of(cell) <= APPROXIMATE * 6, ours, detail, detail)


def _only_one(stored: Stored) -> Reading:
    cells = [cell for cell in stored["gambit"].cells if cell.game == REDUCED]
    near = {cell.solver for cell in cells if _found(cell)}
    ours = f"{', '.join(sorted(near)) or 'none'} of {len(cells)}"
    if not near or not near <= set(_LIKE_LOGIT):
        return differs(ours, "others solve it, or none does")
    ended = [c for c in cells if c.status == "timeout" and c.solver not in _LIKE_LOGIT]
    if ended:
        return not_attempted(
            f"{_TOO_LONG}; until then {ours}, and {len(ended)} others nothing ({ended[0].reason})"
        )
    return reproduced(ours)


_TREE, _RESULT = "applies to", "result on the reduced game"
_TWO, _STRATEGIC, _EXTENSIVE = "two players only", "strategic form only", "extensive form"
_HALTED = "halted after ten minutes"

METHODS = Part(
    title="Sections 1 and 4: methods of Gambit",
    claims=(
        *(
            Claim(method, _TREE, _TWO, _two_players_only(method))
            for method in ("enummixed", "lcp", "lp")
        ),
        *(
            Claim(method, "two players", "solves such games", _works_for_two(method))
            for method in ("lcp", "lp")
        ),
        Claim("enumpoly", _TREE, _EXTENSIVE, _form("enumpoly", extensive=True)),
        Claim("enumpoly", "can be run", "no: listed, but it crashes the window", _available),
        Claim("enumpoly", _RESULT, "none", _nothing("enumpoly")),
        *(
            Claim(method, _TREE, _STRATEGIC, _form(method, extensive=False))
            for method in ("simpdiv", "gnm", "ipa")
        ),
        Claim("simpdiv", "can be run", "no: crashes on the command line", _crash),
        Claim("simpdiv", _RESULT, "none", _nothing("simpdiv")),
        *(
            Claim(method, _RESULT, f"none: {_HALTED}", _nothing(method))
            for method in ("gnm", "ipa")
        ),
        Claim("enumpure", _TREE, _EXTENSIVE, _agents("enumpure")),
        Claim("liap", _TREE, _EXTENSIVE, _agents("liap")),
        Claim("liap", _RESULT, f"none: {_HALTED}", _nothing("liap")),
        Claim("logit", _TREE, _EXTENSIVE, _form("logit_path", extensive=True)),
        Claim("logit", _RESULT, "an approximate equilibrium", _logit),
        Claim("all methods", _RESULT, "logit is the only one with a solution", _only_one),
    ),
    note=(
        "Gambit is pygambit 17.0.0b2 here, not version 16.4, and each method has 15 s on each game "
        "(2 s without --full): too little for a verdict against ten minutes where it only runs "
        "out. A result is a profile with a max regret of 6e-4 or less, a "
        "ten-thousandth of the payoff range. Methods that need the strategic form are told apart "
        "by the full game, whose strategic form has 4.3e12 contingencies. On trees "
        "enumpure and liap look for agent equilibria in pygambit, which need not be Nash "
        "equilibria; their results here are those of the strategic form. What a method is for is "
        "asked of pygambit itself (job gambit_says)."
    ),
)
