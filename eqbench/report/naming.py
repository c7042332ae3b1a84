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
    f"{NEAR} ": "≈ only near it: outcomes differ by more than 1e-7",
    LOOSE: "* same play, other behavior off its path",
    _CLUSTER: "cluster: in no published set, numbered within its run",
    "×": "×n: n equilibria of it",
    ",": "of several the figures are those of the best",
}
_SYMBOLS = {"alpha": "α", "beta": "β"}
# The members of a family that their names do not sort, by the probability c11.
_FAMILY = ("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2")


class Member(NamedTuple):
    """A candidate that is on the path of play of an equilibrium."""

    identity: Identity
    record: EquilibriumRecord


def label(record: CellRecord) -> tuple[str, ...]:
    """What a cell found, in words that a space joins; empty if unknown.

    They are the equilibrium of the best candidate, which comes first, and all on whose path of
    play another candidate is, each with the number of those that were handed over. If there is
    only one, where in its family they are stands behind it.
    """
    best = record.equilibria[0].identity if record.equilibria else None
    members = found(record)
    by_name: dict[str, Identity] = {best["name"]: best} if best else {}
    by_name |= {name: members[name][0].identity for name in sorted(members, key=order)}
    names = []
    for name, identity in by_name.items():
        own = handed_over(members[name]) if name in members else []
        times = f" ×{len(own)}" if len(own) > 1 else ""
        where = spread([member.identity for member in own] or [identity])
        if len(by_name) > 1 or not where:
            names.append("".join([*marked(identity), times]))
        else:
            name, *rest = marked(identity, where)
            names.append(" ".join([name + times + "," * bool(times), *rest]))
    return listing(names, MOST_NAMES if len(names) <= MOST_NAMES else 1)


def found(record: CellRecord) -> dict[str, list[Member]]:
    """Candidates on the path of play of some equilibrium by its name, best first."""
    members: dict[str, list[Member]] = {}
    for item in record.equilibria:
        if item.identity and item.identity["on_path"]:
            members.setdefault(item.identity["name"], []).append(Member(item.identity, item))
    return members


def handed_over(members: Sequence[Member]) -> Sequence[Member]:
    """Candidates that a solver calls equilibria, of several on one path; the best if none is."""
    claimed = [m for m in members if m.record.claim in ("equilibrium", "complete list")]
    return claimed or members[:1]


def nearest(record: CellRecord) -> Member | None:
    """Best candidate that has an identity, if no candidate is on the path of any."""
    if found(record):
        return None
    return next((Member(item.identity, item) for item in record.equilibria if item.identity), None)


def listing(names: Sequence[str], most: int = MOST_NAMES) -> tuple[str, ...]:
    """Names in words that a space joins, the first few and how many more there are."""
    more = len(names) - most
    shown = [*names[:most], *([f"+{more} more"] if more > 0 else [])]
    return (*(f"{name}," for name in shown[:-1]), *shown[-1:])


def marks(labels: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Explanations of the marks and of the clusters that occur in labels."""
    text = " ".join(part for parts in labels for part in parts)
    return tuple(meaning for mark, meaning in _MEANINGS.items() if mark in text)


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


def spread(identities: Iterable[Identity]) -> str:
    """Where in a family some members are: ``β=0.189`` or ``β 0.1…0.3``; empty if it has no name."""
    found = [first for identity in identities if (first := leading(identity))]
    if not found:
        return ""
    values = [value for _, value in found]
    low, high = decimal(min(values)), decimal(max(values))
    return f"{found[0][0]}={low}" if low == high else f"{found[0][0]} {low}…{high}"


def symbol(parameter: str) -> str:
    """What a parameter is called where people read."""
    return _SYMBOLS.get(parameter, parameter)


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
    return " ".join(marked(identity, spread([identity]))) if identity else ""
