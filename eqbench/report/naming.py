"""Names of equilibria for people."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from eqbench.model.rational import short_figure
from eqbench.report import read_data
from eqbench.store.schema import EQUILIBRIA, CellRecord, EquilibriumRecord
from eqbench.text import printable, shortened

Identity = Mapping[str, Any]  # as an IdentityRecord has it

NEAR, LOOSE = "≈", "*"
_CLUSTER = "cluster:"
_SYMBOLS = {"alpha": "α", "beta": "β"}
# The members of a family that their names do not sort, by the probability c11.
_FAMILY = ("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2")


def label(record: CellRecord) -> list[str]:
    """Names of what a cell found: that of its best candidate, then all on whose path others are.

    Each has the number of those that were handed over, and a single one where they are.
    """
    members, finds = found(record), {}
    for best in record.equilibria[:1]:
        if best.identity:
            near = replace(best, identity={**best.identity, "on_path": False})
            finds[best.identity["name"]] = [near]
    finds |= {name: members[name] for name in sorted(members, key=order)}
    texts = []
    for own in finds.values():
        shown = handed_over(own)
        where = "" if len(finds) > 1 else spread(item.identity for item in shown)
        texts.append(identity_text(own[0].identity, where, len(shown)))
    return texts


def found(record: CellRecord) -> dict[str, list[EquilibriumRecord]]:
    """Candidates that are equilibria by the names of these, best first.

    Their play is on the path of one, their regret within the tolerance, and no claim refuted.
    """
    members: dict[str, list[EquilibriumRecord]] = {}
    allowed = math.inf if record.tolerance is None else record.tolerance
    for item in record.equilibria:
        is_equilibrium = item.refuted is None and item.max_regret <= allowed
        if is_equilibrium and item.identity and item.identity["on_path"]:
            members.setdefault(item.identity["name"], []).append(item)
    return members


def handed_over(members: Sequence[EquilibriumRecord]) -> Sequence[EquilibriumRecord]:
    """Candidates that a solver calls equilibria, of several on one path; the best if none is."""
    claimed = [item for item in members if item.claim in EQUILIBRIA]
    return claimed or members[:1]


def marks(labels: Iterable[str]) -> tuple[str, ...]:
    """Explanations of the marks and of the clusters that occur in labels."""
    text = " ".join(labels)
    known = read_data("profile")["marks"].items()
    return tuple(dict.fromkeys(meaning for mark, meaning in known if mark in text))


def order(name: str) -> tuple[Any, ...]:
    """Sort key of a name: known ones by family and number, then clusters by number."""
    place = _FAMILY.index(name) if name in _FAMILY else 0
    family, _, member = name.partition(":")
    numbered = [int(part) if at % 2 else part for at, part in enumerate(re.split(r"(\d+)", member))]
    return is_cluster(name), family, place, numbered


def is_cluster(name: str) -> bool:
    """True for the name of an equilibrium that is not known, numbered within its run."""
    return name.startswith(_CLUSTER)


def kind_of_match(identity: Identity) -> str:
    """Closeness of a profile to the equilibrium that its identity names: see profile.toml."""
    if is_cluster(identity["name"]):
        return "cluster"
    if not identity["on_path"]:
        return "near"
    if identity["strict"]:
        return "strict"
    return "on path" if identity["off_path"] else "up to rounding"


def spread(identities: Iterable[Identity | None]) -> str:
    """Place of members in their family: ``β=0.189`` or ``β 0.1…0.3``; empty if it has no name."""
    known = [identity for identity in identities if identity and identity.get("leading")]
    if not known:
        return ""
    values = [identity["parameters"][identity["leading"]] for identity in known]
    name, low, high = symbol(known[0]["leading"]), decimal(min(values)), decimal(max(values))
    return f"{name}={low}" if low == high else f"{name} {low}…{high}"


def symbol(parameter: str) -> str:
    """Letter of a parameter, or its name."""
    return _SYMBOLS.get(parameter, parameter)


def decimal(value: float, digits: int = 3) -> str:
    """A number with so many decimals, without zeros at its end."""
    text = f"{value:z.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def identity_text(identity: Identity | None, where: str | None = None, times: int = 1) -> str:
    """Name of an equilibrium with its place in the family, and how often; empty if unknown.

    The place is that of its leading parameter unless `where` is given.
    """
    if not identity:
        return ""
    match = kind_of_match(identity)
    near, loose = f"{NEAR} " * (match == "near"), LOOSE * (match == "on path")
    where = spread([identity]) if where is None else where
    count = f" ×{times}" * (times > 1)
    place = f"{',' * bool(count)} {where}" if where else ""
    return f"{near}{identity['name']}{count}{place}{loose}"


def credible_text(summary: Mapping[str, Any] | None) -> str:
    """Credible sets of a stored profile and the worst loss, as text; empty if not judged."""
    if summary is None:
        return ""
    count = f"{summary['credible']}/{summary['sets']}"
    if summary["worst_set"] is None:
        return count
    worst = short_figure(Fraction(summary["exact"]) if summary["exact"] else summary["worst"])
    return shortened(printable(f"{count}, worst {worst} at {' '.join(summary['worst_set'])}"))


def verdict_texts(item: EquilibriumRecord) -> dict[str, str]:
    """Text of each verdict on a candidate that has a column, by the name of the column."""
    credible = {} if item.credible is None else {"credible": credible_text(item.credible)}
    others = {name: shortened(printable(own["label"])) for name, own in item.verdicts.items()}
    return credible | {printable(name): text for name, text in others.items()}
