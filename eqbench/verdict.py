"""What a verdict on a claimed equilibrium is, and how all verdicts that are known are passed.

A verdict is a function of a :class:`Claimed` equilibrium and an allowance of work. It returns a
:class:`Judgment`, or None where it says nothing. The built-in ones stand in
:mod:`eqbench.builtin`; installed distributions add theirs by the entry-point group
``eqbench.verdicts``. Solvers cannot bring any: a verdict runs in the process of the run.
"""

from __future__ import annotations

import json
import math
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from eqbench.builtin import EXTENSIONS, extensions
from eqbench.documents import check_plain
from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.rational import short_figure
from eqbench.model.tree import GameTree
from eqbench.model.trembles import Trembles
from eqbench.model.words import Wording, situation
from eqbench.plugins import describe
from eqbench.requests import Limits
from eqbench.text import printable, shortened
from eqbench.verification import Allowance, Verification
from eqbench.verification.verifier import EXACT_NODE_DIGITS, NODE_DIGITS, ExactRules


class Judgment(Protocol):
    """What a verdict finds; its text is shown in the column of the verdict."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, which are stored."""
        ...


@dataclass(frozen=True)
class Claimed:
    """A profile that is claimed to be an equilibrium, and measured.

    Attributes
    ----------
    exact : whether it may be judged in Fractions, since its regrets were measured so
    refuted : whether the measurement contradicts the claim
    approximates : whether nothing is claimed, and the regret only is within the tolerance
        Verdicts with an attribute `takes_approximations` see such profiles, others do not.
    trembles : what the solver hands over as proof that it is sequential
    """

    tree: GameTree
    profile: BehaviorProfile
    exact: bool = False
    refuted: bool = False
    trembles: Trembles | None = None
    approximates: bool = False

    def play(self, allowance: Allowance | None, sweeps: int = 1) -> Play | None:
        """Its play in Fractions or, where they cost too much, in floats; None if these do too.

        None also where no player decides, and where floats do not resolve or hold the losses.

        Parameters
        ----------
        allowance : from which the cost is taken; without one in Fractions, whatever they cost
        sweeps : number of passes over the tree that the verdict needs
        """
        tree, profile = self.tree, self.profile
        if tree.n_infosets == 0 or not math.isfinite(tree.payoff_scale):
            return None
        if allowance is None:
            return Play.exactly(tree, profile)
        if (
            self.exact
            and profile.exact is not None
            and allowance.spend(sweeps * EXACT_NODE_DIGITS * tree.n_nodes)
            and allowance.take(tree, lambda: ExactRules.of(tree), profile.exact)
        ):
            return Play.exactly(tree, profile)
        if tree.is_wide or not allowance.spend(sweeps * NODE_DIGITS * tree.n_nodes):
            return None
        return Play.of(tree, profile)


FIELDS = ("credible", "kind")  # of a record of an equilibrium

Verdict = Callable[[Claimed, Allowance | None], Judgment | None]


@dataclass(frozen=True)
class _Failed:
    """Judgment of a verdict that raised an error or returned what cannot be stored."""

    error: str

    def __str__(self) -> str:
        return f"failed: {self.error}"

    def to_json(self) -> dict[str, Any]:
        return {"error": self.error}


def judge(name: str, claimed: Claimed, allowance: Allowance | None) -> Any:
    """Judgment of a verdict by its name; an error of one that others wrote is its judgment.

    None where the tree is not built: verdicts go through its nodes.
    """
    if isinstance(claimed.tree, UnbuiltTree):
        return None
    try:
        verdict = pkgutil.resolve_name(extensions("verdicts")[name])
        if claimed.approximates and not getattr(verdict, "takes_approximations", False):
            return None
        found = verdict(claimed, allowance)
        if found is not None and name not in EXTENSIONS["verdicts"]:
            document = found.to_json()
            json.dumps(document, allow_nan=False)
            check_plain(document)
        return found
    except Exception as error:
        if name in EXTENSIONS["verdicts"]:
            raise
        return _Failed(shortened(printable(describe(error))))


def judge_claims(claims: Sequence[Claimed | None]) -> list[dict[str, Judgment]]:
    """Judgments on the claims of a cell by verdict; each verdict has one allowance for all."""
    found: list[dict[str, Judgment]] = [{} for _ in claims]
    for name in extensions("verdicts"):
        allowance = Allowance()
        for claimed, own in zip(claims, found, strict=True):
            judgment = None if claimed is None else judge(name, claimed, allowance)
            if judgment is not None:
                own[name] = judgment
    return found


def judge_measured(
    tree: GameTree,
    profile: BehaviorProfile,
    measured: Verification,
    certified: Verification | None = None,
    names: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Judgments on one profile by verdict; none if it was not measured to be an equilibrium.

    Parameters
    ----------
    certified : the same in Fractions; without any regret it is judged in Fractions too
    names : of the verdicts; all that are known unless given
    """
    exact = certified is not None and certified.max_regret == 0 and tree.n_infosets > 0
    if not exact and (not measured.resolved or measured.max_regret > Limits().target_for(tree)):
        return {}
    claimed, found = Claimed(tree, profile, exact), {}
    for name in extensions("verdicts") if names is None else names:
        judgment = judge(name, claimed, None if exact else Allowance())
        if judgment is not None:
            found[name] = judgment
    return found


def stored(judgments: Mapping[str, Judgment]) -> dict[str, Any]:
    """Judgments as fields of a stored record: those that have one by name, others by `verdicts`.

    Labels of others are stored, since a report may be read where the verdict is not installed.
    """
    fields: dict[str, Any] = {}
    for name, each in judgments.items():
        if name in FIELDS:
            fields[name] = each.to_json()
        else:
            text = shortened(printable(str(each)))
            fields.setdefault("verdicts", {})[name] = {"label": text, "record": each.to_json()}
    return fields


def credible_text(summary: Mapping[str, Any] | None, wording: Wording | None = None) -> str:
    """Credible sets of a stored profile and the worst loss, as text; empty if not judged."""
    if summary is None:
        return ""
    count = f"{summary['credible']}/{summary['sets']}"
    if summary["worst_set"] is None:
        return count
    worst = short_figure(Fraction(summary["exact"]) if summary["exact"] else summary["worst"])
    where = " ".join(situation(part, wording).words for part in summary["worst_set"])
    return shortened(printable(f"{count}, worst {worst} at {where}"))
