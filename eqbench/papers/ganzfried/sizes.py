"""Section 4: the models that Gurobi was given, and what its presolve made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, differs, holds, not_attempted, source_error
from eqbench.papers.ganzfried.found import TIME_RULE, cell_of, count, integer, statistic
from eqbench.papers.ganzfried.jobs import FULL, PAPER_MODEL
from eqbench.papers.stored import Stored

REDUCED_GAME, FULL_GAME = "reduced game", "full game"
# The reduced model with the number of fixed actions that 72 = 51 + 21 implies.
MODELS = {REDUCED_GAME: "21", FULL_GAME: "full"}
# What Gurobi may turn into such constraints, as it is in the model.
_COUNTED = {
    "sos": ("complementarities", "pairs x, r"),
    "bilinear": ("products", "products of two weights"),
}
_PRINTED_ROWS, _PRINTED_NONZEROS = 72, 168


def model(stored: Stored, name: str) -> dict[str, Any]:
    """Sizes of a model by our count."""
    found: dict[str, Any] = stored["program"].summary["models"][name]
    return found


def gurobi(stored: Stored, game: str) -> dict[str, Any]:
    """What Gurobi said about the model of a game; `unavailable` says why it said nothing."""
    found: dict[str, Any] = stored["program"].summary["gurobi"][MODELS[game]]
    return found


def _sized(name: str, key: str) -> Callable[[Stored], int]:
    return lambda stored: int(model(stored, name)[key])


def _rows(key: str, theirs: int) -> Callable[[Stored], Reading]:
    """A size that fits 21 fixed actions, where the tree of 415 nodes lacks 22."""

    def read(stored: Stored) -> Reading:
        right, other = model(stored, "22")[key], model(stored, "21")[key]
        nodes = {
            count: stored[job].printed_json["sizes"]["nodes"]
            for count, job in ((21, "info_21"), (22, "info_reduced"))
        }
        ours = f"{right} with the 22 actions that the tree of {nodes[22]} nodes lacks"
        if right == theirs or other != theirs:
            return integer(theirs, right)
        return source_error(
            ours,
            f"{theirs} takes 21 fixed actions; but the tree without those has {nodes[21]} nodes, "
            "not 415, and the four kinds that the paper removes are 22",
        )

    return read


def _nonzeros(stored: Stored) -> Reading:
    ours = statistic(cell_of(stored, "race", FULL, PAPER_MODEL), "nonzeros")
    counted, reduced = model(stored, "full")["nonzeros"], model(stored, "21")
    if ours != counted or counted == 149 or reduced["nonzeros"] != _PRINTED_NONZEROS:
        return integer(149, counted)
    return source_error(
        str(ours),
        "E x = e has an entry for each sequence and one for the sequence above each information "
        f"set; and the printed {_PRINTED_NONZEROS} of the reduced model, which only adds "
        f"{_PRINTED_ROWS - model(stored, 'full')['rows']} rows of one entry, is "
        f"{_PRINTED_NONZEROS - counted} more than {counted}",
    )


def _presolve(key: str, theirs: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        ours, other = model(stored, "21")[key], model(stored, "22")[key]
        return integer(theirs, ours, f"with 21 actions fixed; {other} with 22")

    return read


def _which(stored: Stored) -> Reading:
    printed = (45, 57, 66)
    names = ("presolve_rows", "presolve_columns", "complementarities")
    kept = stored["program"].summary["kept"]
    fitting = [
        name for name, sizes in kept.items() if tuple(sizes[key] for key in names) == printed
    ]
    whole = tuple(model(stored, "22")[key] for key in names)
    ours = f"with all 22: {whole[0]} rows, {whole[1]} columns, {whole[2]} pairs"
    if whole == printed or not fitting:
        return differs(ours, "these figures do not tell how many actions were fixed")
    return source_error(
        ours,
        "one action less was fixed in the model that was solved; it is one of "
        f"{len(fitting)}: {', '.join(fitting)}",
    )


def _of_gurobi(game: str, key: str, index: int, theirs: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = gurobi(stored, game)
        own = _own_count(stored, game, key)
        if "unavailable" in found:
            return not_attempted("; ".join(filter(None, (found["unavailable"], own))))
        # the log leaves out what there is none of
        ours = found[key][index] if key in found else 0
        version = f"Gurobi {found['version']}, another presolve" * (ours != theirs)
        return integer(theirs, ours, "; ".join(filter(None, (version, own))))

    return read


def _own_count(stored: Stored, game: str, key: str) -> str:
    """What the model has of a figure of the log before Gurobi's presolve; empty if not counted."""
    if key not in _COUNTED:
        return ""
    name, what = _COUNTED[key]
    return f"{model(stored, MODELS[game])[name]} {what} before it, by our count"


def _presolve_time(game: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = gurobi(stored, game)
        if "unavailable" in found:
            return not_attempted(found["unavailable"])
        if "time" not in found:
            return not_attempted("Gurobi's log says nothing of it")
        ours = float(found["time"][0])
        # printed to hundredths, so that theirs is below 0.005 s
        return holds(ours < 0.05, f"{ours:.2f} s", f"more than ten times 0.005 s; {TIME_RULE}")

    return read


def _counts() -> tuple[Claim, ...]:
    """Cells that our own count of the model answers."""
    red, full = REDUCED_GAME, FULL_GAME
    return (
        Claim("rows of the input", red, "72", _rows("rows", 72)),
        count("rows of the input", 51, _sized("full", "rows"), column=full),
        count("columns of the input", 249, _sized("21", "columns"), column=red),
        count("columns of the input", 249, _sized("full", "columns"), column=full),
        Claim("nonzeros of the input", red, "168", _rows("nonzeros", 168)),
        Claim("nonzeros of the input", full, "149", _nonzeros),
        count("quadratic constraints", 198, _sized("21", "quadratic_constraints"), column=red),
        Claim("first presolve: rows removed", red, "45", _presolve("presolve_rows", 45)),
        count("first presolve: rows removed", 3, _sized("full", "presolve_rows"), column=full),
        Claim("first presolve: columns removed", red, "57", _presolve("presolve_columns", 57)),
        count(
            "first presolve: columns removed", 6, _sized("full", "presolve_columns"), column=full
        ),
        Claim("actions fixed in the model", red, "the 22 that are removed", _which),
    )


def _gurobis() -> tuple[Claim, ...]:
    """Cells that only Gurobi answers."""
    cells = (
        ("second presolve: rows removed", REDUCED_GAME, "taken", 0, 24),
        ("second presolve: rows removed", FULL_GAME, "taken", 0, 0),
        ("second presolve: rows added", FULL_GAME, "added", 0, 12),
        ("second presolve: columns added", FULL_GAME, "added", 1, 0),
        ("second presolve: columns removed", REDUCED_GAME, "taken", 1, 76),
        ("second presolve: columns removed", FULL_GAME, "taken", 1, 9),
        ("SOS constraints in the end", REDUCED_GAME, "sos", 0, 66),
        ("SOS constraints in the end", FULL_GAME, "sos", 0, 96),
        ("bilinear constraints in the end", REDUCED_GAME, "bilinear", 0, 201),
        ("bilinear constraints in the end", FULL_GAME, "bilinear", 0, 396),
        ("rows in the end", REDUCED_GAME, "presolved", 0, 910),
        ("rows in the end", FULL_GAME, "presolved", 0, 1728),
        ("columns in the end", REDUCED_GAME, "presolved", 1, 375),
        ("columns in the end", FULL_GAME, "presolved", 1, 637),
        ("nonzeros in the end", REDUCED_GAME, "presolved", 2, 2306),
        ("nonzeros in the end", FULL_GAME, "presolved", 2, 4357),
        ("continuous variables", REDUCED_GAME, "kinds", 0, 375),
        ("continuous variables", FULL_GAME, "kinds", 0, 637),
        ("integer variables", REDUCED_GAME, "kinds", 1, 0),
        ("integer variables", FULL_GAME, "kinds", 1, 0),
    )
    return (
        *(
            Claim(row, game, f"{theirs:,}", _of_gurobi(game, key, index, theirs))
            for row, game, key, index, theirs in cells
        ),
        *(
            Claim("second presolve: time", game, "0.00 s", _presolve_time(game))
            for game in (REDUCED_GAME, FULL_GAME)
        ),
    )


MODEL_SIZES = Part(
    title="Section 4: sizes of the models",
    claims=(*_counts(), *_gurobis()),
    note=(
        "Sizes of the input and of the first presolve are counted by three rules (a fixed weight "
        "goes; a single action is the sequence above; the slack of a weight that is always 1 is "
        "0), which give both printed first presolves exactly. After them the reduced model has "
        "192 columns and is given to Gurobi here, whose size-limited license admits 200; the full "
        "model has 243. SOS and bilinear constraints are those that "
        "Gurobi's log counts after its presolve; what the model has of their like before it stands "
        "beside them. Without a larger license what only Gurobi "
        "can say about the full model is left open; with one the same command answers it."
    ),
)
