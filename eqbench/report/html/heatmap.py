"""What became of every game with every solver, and what the verifier says of it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence

from eqbench.report.cell_notes import ALARMING
from eqbench.report.html.axes import picture
from eqbench.report.html.document import Figure
from eqbench.report.html.looks import short
from eqbench.report.html.tracks import GameTracks, Track
from eqbench.report.svg import GRAY, INK, add, add_text, svg_text
from eqbench.report.terminal import small
from eqbench.report.tree_layout import text_width
from eqbench.store.schema import Status

_FILLS = {"good": "#d5ecda", "fair": "#fbeecb", "bad": "#f8d3cf", "idle": "#eceff2"}
_MARKS = {"refuted": "✗", "exactly": "✓✓", "verified": "✓", "nothing": "·"}
_ROW, _HEAD, _GAP, _LEAST = 40.0, 40.0, 3.0, 112.0
_LONGEST = 26


def tone(status: str) -> str:
    """Which of the page's colors a status has: ``good``, ``fair``, ``bad`` or ``idle``."""
    if status in ALARMING:
        return "bad"
    return {"ok": "good", "unsupported": "idle", "unavailable": "idle"}.get(status, "fair")


def heatmap(games: Sequence[GameTracks]) -> Figure:
    """Status of every solver on every game, with the mark of the verifier."""
    asked = [
        *(track.look for game in games for track in game.tracks),
        *(look for game in games for look in game.awaited),
    ]
    shown = sorted(dict.fromkeys(asked), key=lambda look: int(look.key))
    awaited = any(game.awaited for game in games)
    names = [short(game.short, _LONGEST) for game in games]
    width = max(_LEAST, *(0.9 * text_width(name) + 12 for name in names))
    left = max(0.9 * text_width(short(look.label)) for look in shown) + 14
    size = (left + len(games) * (width + _GAP) + 6, _HEAD + len(shown) * (_ROW + _GAP))
    root = picture(*size, "Status of every solver on every game")
    for column, (game, name) in enumerate(zip(games, names, strict=True)):
        middle = left + column * (width + _GAP) + width / 2
        head = add_text(root, name, middle, _HEAD - 14, text_anchor="middle", fill=INK)
        head.set("font-weight", "600")
        add(head, "title").text = game.title
    for row, look in enumerate(shown):
        y = _HEAD + row * (_ROW + _GAP)
        add_text(root, short(look.label), left - 12, y + 24, text_anchor="end", fill=INK)
        for column, game in enumerate(games):
            own = [track for track in game.tracks if track.look is look]
            box = (left + column * (width + _GAP), y, width)
            _cell(root, own, box, "not run yet" if look in game.awaited else "not run")
    return Figure(
        "status",
        svg_text(root),
        "✓ measured by the verifier and nothing contradicts it, ✓✓ measured exactly, in integers, "
        "at every seed, ✗ a claim refuted, · no profile to measure; below it the smallest max "
        "regret in payoff units. Where seeds ended differently, how many ended so stands beside "
        "it; point at a cell for its reason. A limit is no failure: the regret says what the time "
        "bought." + (" Not run yet: the run has not come to it." if awaited else ""),
        "Status by game and solver",
        least_width=520 if len(games) > 2 else 340,
    )


def _cell(
    root: ET.Element, own: Sequence[Track], box: tuple[float, float, float], otherwise: str
) -> None:
    """Draw what became of a solver on a game; `otherwise` stands where it has no cell."""
    x, y, width = box
    records = [track.entry.record for track in own]
    statuses = Counter(record.status for record in records)
    group = add(root, "g")
    word, fill = _word(statuses) if records else (otherwise, "idle")
    add(group, "rect", x=x, y=y, width=width, height=_ROW, rx=4, fill=_FILLS[fill])
    if not records:
        add(group, "title").text = word
        add_text(group, word, x + width / 2, y + 24, text_anchor="middle", fill=GRAY)
        return
    add(group, "title").text = "; ".join(map(_reason, own))
    regrets = [record.max_regret for record in records if record.max_regret is not None]
    text = f"{word} {_MARKS[_verification(own)]}"
    line = y + (17 if regrets else 24)
    add_text(group, text, x + width / 2, line, text_anchor="middle", fill=INK)
    if regrets:
        best = small(min(regrets)) if min(regrets) else "0"
        below = add_text(group, best, x + width / 2, y + 32, text_anchor="middle")
        below.attrib |= {"fill": GRAY, "font-size": "11"}


def _word(statuses: Counter[Status]) -> tuple[str, str]:
    """What stands for the cells of all seeds, and the color: alarms first, then what is ok."""
    rank = {"bad": 2, "good": 1}
    shown = max(statuses, key=lambda status: (rank.get(tone(status), 0), statuses[status]))
    if len(statuses) == 1:
        return shown, tone(shown)
    fill = "bad" if tone(shown) == "bad" else "fair"
    return f"{shown} {statuses[shown]}/{statuses.total()}", fill


def _verification(own: Sequence[Track]) -> str:
    records = [track.entry.record for track in own]
    if any(record.status == "refuted" for record in records):
        return "refuted"
    if all(record.equilibria and record.equilibria[0].exact for record in records):
        return "exactly"
    return "verified" if any(record.equilibria for record in records) else "nothing"


def _reason(track: Track) -> str:
    record = track.entry.record
    seed = "" if record.seed is None else f" (seed {record.seed})"
    return f"{record.solver} on {record.game}{seed}: {record.status}" + (
        f", {record.reason}" if record.reason else ""
    )
