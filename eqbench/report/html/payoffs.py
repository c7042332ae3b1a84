"""Where the equilibria that were found lie in the space of payoffs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from eqbench.report.html.axes import Axes, linear_scale
from eqbench.report.html.chart import chart
from eqbench.report.html.curves import looks_of
from eqbench.report.html.document import Beside, Block, Figure, Prose, Title, anchor_of
from eqbench.report.html.facts import PublishedPayoffs
from eqbench.report.html.looks import CIRCLE, CROSS, Look, add_look_mark, part_of
from eqbench.report.html.tracks import GameTracks
from eqbench.report.naming import kind_of_match, marked
from eqbench.report.svg import INK, add, add_text, svg_text
from eqbench.store.schema import EquilibriumRecord

# Of the payoff range: up to which regret a profile counts as an equilibrium here, and below
# which payoffs are the same.
EQUILIBRIUM, SAME = 1e-6, 1e-5
_SEGMENT = "#ccd6e2"


@dataclass(frozen=True)
class _Found:
    """An equilibrium and the look of the solver that found it."""

    look: Look
    record: EquilibriumRecord

    @property
    def place(self) -> str:
        """How it stands to what is published, in the words of `kind_of_match`."""
        identity = self.record.identity
        return "no name" if identity is None else kind_of_match(identity)

    @property
    def rank(self) -> int:
        """0 if it is in no published set, 1 if on the path of one, 2 if it is as published."""
        return {"strict": 2, "up to rounding": 2, "on path": 1}.get(self.place, 0)


def payoff_scatters(games: Sequence[GameTracks]) -> list[Block]:
    """Figures of the games whose equilibria differ in payoffs, and a note on each other one."""
    blocks: list[Block] = []
    notes = []
    for place, game in enumerate(games, 1):
        found = [
            _Found(track.look, item)
            for track in game.tracks
            for item in track.entry.record.equilibria
            if item.max_regret <= EQUILIBRIUM * game.unit and item.refuted is None
        ]
        moving = any(len(known.ends) > 1 for known in game.published)
        if found and (moving or len(_distinct(game, found)) > 2):
            pair = [_figure(game, found, p, place) for p in range(1, len(found[0].record.payoffs))]
            blocks += [Title(game.short, f"{anchor_of(game.short)}-payoffs-{place}"), Beside(pair)]
        elif found:
            notes.append(_note(game, found))
    return [*blocks, Prose(notes, small=True)] if notes else blocks


def _distinct(game: GameTracks, found: Sequence[_Found]) -> list[list[float]]:
    """Payoffs that differ, each as the equilibrium with the smallest max regret has them."""
    best: dict[tuple[int, ...], list[float]] = {}
    for item in sorted(found, key=lambda item: item.record.max_regret):
        payoffs = item.record.payoffs
        best.setdefault(tuple(round(u / (SAME * game.unit)) for u in payoffs), payoffs)
    return list(best.values())


def _note(game: GameTracks, found: Sequence[_Found]) -> str:
    """What there is to say where a figure would be a dot or two."""
    texts = _either(_distinct(game, found))
    count = f"{len(found)} equilibria have" if len(found) > 1 else "one equilibrium has"
    return f"{game.short}: {count} payoffs {texts}{_held_against_published(game, found)}."


def _held_against_published(game: GameTracks, found: Sequence[_Found]) -> str:
    """How many equilibria have published payoffs, and those if not all do; empty without any."""
    points = [end for known in game.published for end in known.ends]
    if not points:
        return ""
    alike = sum(
        any(_differ(item.record.payoffs, point) <= SAME * game.unit for point in points)
        for item in found
    )
    if alike == len(found):
        return ", as published"
    share = f"; {alike} of them as published, which is" if alike else "; published is"
    return f"{share} {_either(points)}"


def _differ(payoffs: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(u - v) for u, v in zip(payoffs, others, strict=True))


def _either(vectors: Iterable[Sequence[float]]) -> str:
    """Payoff vectors in words, each once."""
    texts = [", ".join(f"{payoff:+z.5f}" for payoff in vector) for vector in vectors]
    return " or ".join(dict.fromkeys(texts))


def _figure(game: GameTracks, found: Sequence[_Found], player: int, place: int) -> Figure:
    ends = [end for known in game.published for end in known.ends]
    vectors = [*(item.record.payoffs for item in found), *ends]
    width = max(max(v[0] for v in vectors) - min(v[0] for v in vectors), SAME * game.unit)
    middle = sum(v[player] for v in vectors) / len(vectors)
    x = linear_scale((v[0] for v in vectors), margin=0.12)
    # what does not vary shall not look as if it did
    spread = [middle - width / 4, middle + width / 4]
    y = linear_scale([*(v[player] for v in vectors), *spread], margin=0.12)
    own = [item.look for item in found]
    shown = [replace(k, mark=CIRCLE, lined=False) for k in looks_of(game.tracks) if k in own]
    names = ("payoff of P1", f"payoff of P{player + 1}")
    root, axes = chart(f"Payoffs of equilibria on {game.short}", (x, y), names, shown)
    right = axes.left + axes.width
    key = "● strict   ○ on path   × elsewhere"
    add_text(root, key, right, axes.bottom - axes.height - 12, text_anchor="end", fill=INK)
    for known in _merged(game.published):
        _published(root, axes, known, player)
    for group in _heaps(axes, found, player):
        _mark(root, axes, group, player)
    published = (
        "The gray line is the published family, or a gray dot where it has but one payoff vector. "
        if ends
        else "No family of payoffs is known here. "
    )
    rounded = (
        " or miss a published constraint by a trace only (up to rounding)"
        if any(item.place == "up to rounding" for item in found)
        else ""
    )
    return Figure(
        f"payoffs-{place}-p{player + 1}",
        svg_text(root),
        f"Each mark is an equilibrium that a solver found (max regret up to {EQUILIBRIUM:g} of the "
        f"payoff range). {published}Filled marks are strict, as published everywhere{rounded}; "
        "hollow ones are on path: as published where play leads, different elsewhere; crosses are "
        "in no published set, or only near one. How often a place was found says nothing about how "
        "likely it is.",
        f"P1 against P{player + 1}",
        least_width=420,
    )


def _merged(published: Sequence[PublishedPayoffs]) -> list[PublishedPayoffs]:
    """Sets with the same ends as one, since their lines would cover each other."""
    names: dict[tuple[tuple[float, ...], ...], list[str]] = {}
    for known in published:
        ends = tuple(tuple(round(u, 9) + 0.0 for u in end) for end in known.ends)
        names.setdefault(ends, []).append(known.name)
    return [PublishedPayoffs(", ".join(own), ends) for ends, own in names.items()]


def _published(root: ET.Element, axes: Axes, known: PublishedPayoffs, player: int) -> None:
    group = add(root, "g")
    add(group, "title").text = known.name
    places = [axes.place(end[0], end[player]) for end in known.ends]
    (x, y), (to_x, to_y) = places[0], places[-1]
    # a line of no length with round ends is a dot
    line = {"d": f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}", "stroke_linecap": "round"}
    add(group, "path", **line, stroke=_SEGMENT, stroke_width=11)


def _heaps(axes: Axes, found: Sequence[_Found], player: int) -> list[list[_Found]]:
    """Equilibria of one solver that fall on the same pixel; the strict ones last, hence on top."""
    heaps: dict[tuple[int, str, int, int], list[_Found]] = {}
    for item in sorted(found, key=lambda item: item.rank):
        x, y = axes.place(item.record.payoffs[0], item.record.payoffs[player])
        heaps.setdefault((item.rank, item.look.key, round(x), round(y)), []).append(item)
    return list(heaps.values())


def _mark(root: ET.Element, axes: Axes, heap: Sequence[_Found], player: int) -> None:
    item = heap[0]
    payoffs, identity = item.record.payoffs, item.record.identity
    look = replace(item.look, mark=CIRCLE if item.rank else CROSS)
    group = part_of(root, look)
    at = axes.place(payoffs[0], payoffs[player])
    add_look_mark(group, look, *at, hollow=item.rank == 1)
    name = " ".join(marked(identity)) if identity else "no name"
    texts = ", ".join(f"{payoff:+z.6f}" for payoff in payoffs)
    more = f", and {len(heap) - 1} more here" if len(heap) > 1 else ""
    said = f"{look.label}: {name} ({item.place}), payoffs {texts}{more}"
    add(group, "title").text = said
