"""How equilibria are called where people read about them.

An identity is the dictionary of that name in an
:class:`~eqbench.store.schema.EquilibriumRecord`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from eqbench.store.schema import CellRecord, EquilibriumRecord

Identity = Mapping[str, Any]
Match = Literal["strict", "up to rounding", "on path", "near", "cluster"]

MOST_NAMES = 3
NEAR, LOOSE = "≈", "*"
_CLUSTER = "cluster:"
_MEANINGS = {
    f"{NEAR} ": "≈ nearest known equilibrium; probabilities of outcomes differ by more than 1e-7",
    LOOSE: "* on its path of play; elsewhere the behavior is not as published",
    _CLUSTER: "cluster: in no published set, with a regret up to 1e-6 of the payoff range",
    ",": "of several equilibria, the figures belong to the first",
}
_SYMBOLS = {"alpha": "α", "beta": "β"}
# The members of a family that their names do not sort, by the probability c11.
_FAMILY = ("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2")


class Member(NamedTuple):
    """A candidate that is on the path of play of an equilibrium."""

    identity: Identity
    record: EquilibriumRecord


def label(record: CellRecord) -> tuple[str, ...]:
    """What a cell found, in words that a space or a line break may join; empty if unknown.

    One equilibrium stands with its leading parameter, several without. They are that of the
    best candidate, which comes first, and all on whose path of play another candidate is.
    """
    best = record.equilibria[0].identity if record.equilibria else None
    members = found(record)
    by_name: dict[str, Identity] = {best["name"]: best} if best else {}
    by_name |= {name: members[name][0].identity for name in sorted(members, key=order)}
    if len(by_name) > 1:
        return listing([" ".join(marked(identity)) for identity in by_name.values()])
    return tuple(
        word
        for name, identity in by_name.items()
        for word in marked(identity, _leading_text(identity, members.get(name, ())))
    )


def found(record: CellRecord) -> dict[str, list[Member]]:
    """Candidates on the path of play of some equilibrium by its name, best first."""
    members: dict[str, list[Member]] = {}
    for item in record.equilibria:
        if item.identity and item.identity["on_path"]:
            members.setdefault(item.identity["name"], []).append(Member(item.identity, item))
    return members


def nearest(record: CellRecord) -> Identity | None:
    """Identity of the best candidate that has one, if no candidate is on the path of any."""
    if found(record):
        return None
    return next((item.identity for item in record.equilibria if item.identity), None)


def listing(names: list[str]) -> tuple[str, ...]:
    """Names in words that a space joins, the first three and how many more there are."""
    shown, more = names[:MOST_NAMES], len(names) - MOST_NAMES
    commas = (f"{name}," for name in shown[:-1])
    return (*commas, *shown[-1:], *([f"+{more} more"] if more > 0 else []))


def marks(labels: Iterable[Sequence[str]]) -> list[str]:
    """Explanations of the marks and of the clusters that occur in labels."""
    text = " ".join(part for parts in labels for part in parts)
    return [meaning for mark, meaning in _MEANINGS.items() if mark in text]


def order(name: str) -> tuple[Any, ...]:
    """Sort key of a name: known ones by family and number, then clusters by number."""
    place = _FAMILY.index(name) if name in _FAMILY else 0
    parts = re.split(r"(\d+)", name.partition(":")[2])
    numbered = [int(part) if at % 2 else part for at, part in enumerate(parts)]
    return is_cluster(name), name.partition(":")[0], place, numbered


def is_cluster(name: str) -> bool:
    """Whether a name stands for an equilibrium that is not known, numbered within its run."""
    return name.startswith(_CLUSTER)


def kind_of_match(identity: Identity) -> Match:
    """How well a profile fits the equilibrium that its identity names.

    ``strict``: every published constraint holds. ``up to rounding``: it is on the path of play
    and behaves as published elsewhere, but misses some constraint by more than the tolerance.
    ``on path``: so it is, and elsewhere it behaves differently. ``near``: it is not even on the
    path. ``cluster``: nothing is published that it could be held against.
    """
    if is_cluster(identity["name"]):
        return "cluster"
    if not identity["on_path"]:
        return "near"
    if identity["strict"]:
        return "strict"
    return "on path" if identity["off_path"] else "up to rounding"


def leading(identity: Identity) -> tuple[str, float] | None:
    """Symbol and value of the parameter that tells members of a family apart, if one does."""
    name: str | None = identity.get("leading")
    return None if name is None else (symbol(name), identity["parameters"][name])


def symbol(parameter: str) -> str:
    """What a parameter is called where people read."""
    return _SYMBOLS.get(parameter, parameter)


def broken(text: str) -> str:
    """Text in lines, with long names broken where a part of them ends."""
    return re.sub(r"\S{12,}", lambda name: name[0].replace(":", ":\n"), text)


def decimal(value: float, digits: int = 3) -> str:
    """A number with so many decimals, without zeros at its end."""
    text = f"{value:z.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def marked(identity: Identity, parameter: str = "") -> tuple[str, ...]:
    """Name and parameter as words, the mark of how well they fit before or behind them."""
    name: str = identity["name"]
    words = (name, parameter) if parameter else (name,)
    match kind_of_match(identity):
        case "near":
            return (f"{NEAR} {words[0]}", *words[1:])
        case "on path":
            return (*words[:-1], words[-1] + LOOSE)
    return words


def identity_text(identity: Mapping[str, Any] | None) -> str:
    """Which published equilibrium it is, with its leading parameter; empty if none is known."""
    if identity is None:
        return ""
    return " ".join(marked(identity, _leading_text(identity, ())))


def _leading_text(identity: Identity, members: Sequence[Member]) -> str:
    """The leading parameter as ``β=0.189``, its range in a complete list; empty if none."""
    parameter = leading(identity)
    if parameter is None:
        return ""
    letter, value = parameter
    listed = [m.identity for m in members if m.record.claim == "complete list"]
    values = [first[1] for each in listed if (first := leading(each))] or [value]
    low, high = decimal(min(values)), decimal(max(values))
    return f"{letter}={low}" if low == high else f"{letter}={low}…{high}"
