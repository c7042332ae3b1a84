"""The linear relaxation of the equilibria of a game at a case, and the certificates of its duals.

Each monomial is a column, that of the constant 1 too, so feasible points form a cone. With a
margin below all rows that are greater than 0, at most 1, there is a point of the case only where
the largest margin is 1; where it is 0, the duals are a combination of rows that adds up to 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product as choices

import numpy as np
from scipy.sparse import csr_array

from eqbench.proofs.linear import Optimum, Program, exact_multipliers
from eqbench.proofs.rows import (
    Algebra,
    Case,
    Certificate,
    Form,
    Monomial,
    Polynomial,
    Rows,
    contradicts,
    divided,
    shows,
)

_CLOSED = 1e-6  # margins below count as 0, until the certificate is exact
_STATUS = re.compile(r"([wg])(\d+)")


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a relaxation: values of monomials, that of 1 being 1."""

    values: dict[Monomial, float]

    def at(self, polynomial: Polynomial) -> float:
        """Value of a polynomial; NaN if the relaxation has not all of its monomials."""
        get = self.values.get
        return sum(value * get(monomial, np.nan) for monomial, value in polynomial.items())


class Relaxation:
    """Rows of a game with the blow-ups of a case; its statuses and splits can change.

    Parameters
    ----------
    extra : forms whose monomials get columns
    """

    def __init__(self, algebra: Algebra, case: Case, extra: Iterable[Form] = ()) -> None:
        self.algebra, self.case = algebra, Case(blows=case.blows)
        self.rows = Rows(algebra, self.case)
        names = [*self._facts(), *self._products(extra)]
        known = {name: self.rows.polynomial(name) for name in names}
        self.monomials = sorted({m for p in known.values() for m in p}, key=lambda m: (len(m), m))
        self._column = {monomial: k for k, monomial in enumerate(self.monomials)}
        self._bounds: dict[int, str] = {}  # names of columns that are rows
        self._names: list[str] = []
        for name, polynomial in known.items():
            if len(polynomial) == 1 and [*polynomial.values()] == [1]:
                self._bounds.setdefault(self._column[next(iter(polynomial))], name)
            elif polynomial:
                self._names.append(name)
        self._bounds.pop(self._column[()], None)  # 1 > 0 has a row of its own
        self._strict: dict[str, int] = {}
        self._splits: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
        entries = [self._entries(known[name]) for name in self._names]
        self.margin = len(self.monomials)
        for name in ("1", *(name for name in names if re.fullmatch(r"w\d+(\*w\d+)?(/\d+)?", name))):
            self._strict[name] = len(entries)
            entries.append(self._entries(self.rows.polynomial(name)) | {self.margin: -1.0})
        self.program = Program(_sparse(entries, self.margin + 1))
        self._place = {name: k for k, name in enumerate(self._names)}
        self._where = {name: column for column, name in self._bounds.items()}
        for name in ("1", *self._names, *self._where):
            self._show(name)
        self._items: dict[str, list[str]] = {}
        for name in {*self._names, *self._bounds.values(), *self._strict}:
            for kind, action in _STATUS.findall(name):
                self._items.setdefault(kind + action, []).append(name)
        self._margin_program()

    # -- what the rows are ------------------------------------------------------------------

    def _facts(self) -> list[str]:
        algebra, tree = self.algebra, self.algebra.tree
        actions = range(tree.n_actions)
        facts = [f"w{a}" for a in actions] + [f"g{a}" for a in actions]
        if algebra.constant_sum:
            facts.append("u")
        elif tree.n_players > 2:
            facts += [f"u{i}" for i in range(tree.n_players)]
        return facts

    def _products(self, extra: Iterable[Form]) -> list[str]:
        """Products of weights with columns, closed under their own monomials; blow-ups too."""
        rows, found = self.rows, dict[str, None]()
        forms = [rows.form(form) for form in extra]
        todo = [m for p in [*map(rows.polynomial, self._facts()), *forms] for m in p]
        done = set[Monomial]()
        while todo:
            monomial = todo.pop()
            if monomial in done or len(monomial) < 2:
                continue
            done.add(monomial)
            for chosen in choices(*(self._beside(a) for a in monomial)):
                name = "*".join(f"w{a}" for a in chosen)
                found[name] = None
                todo.extend(rows.polynomial(name))
        for node, (weights, _) in self.case.blows.items():
            hats = rows.hat(node)
            found[f"t{node}"] = None
            for name in [*self._facts(), *found]:
                try:
                    divided(rows.polynomial(name), hats)
                except KeyError:
                    continue
                if rows.polynomial(name):
                    found[f"{name}/{node}"] = None
            for action in weights:
                found[f"c{node}.{action}"] = None
                others = {m[1 - m.index(action)] for m in done if len(m) == 2 and action in m}
                for other in others:
                    for each in self._beside(other):
                        found[f"c{node}.{action}*w{each}"] = None
                    found[f"w{action}*w{other}/{node}"] = None
        return list(found)

    def _beside(self, action: int) -> range:
        tree = self.algebra.tree
        infoset = int(tree.action_infoset[action])
        return range(int(tree.action_start[infoset]), int(tree.action_start[infoset + 1]))

    def _entries(self, polynomial: Polynomial) -> dict[int, float]:
        return {self._column[m]: float(value) for m, value in polynomial.items()}

    # -- cases ------------------------------------------------------------------------------

    def turn_to(self, case: Case) -> None:
        """Set the bounds of rows by the statuses and splits of a case with the same blow-ups."""
        before, self.case = self.case, case
        self.rows.case = case
        changed = {f"w{a}" for a in before.out ^ case.out}
        for action in before.within ^ case.within:
            changed.add(f"g{action}")
            changed.update(f"w{a}" for a in self._beside(action))
        for name in {name for key in changed for name in self._items.get(key, ())}:
            self._show(name)
        if before.splits != case.splits:
            self.rows = Rows(self.algebra, case)
            self._show_splits()

    def _show(self, name: str) -> None:
        sign = self.rows.sign(name)
        upper = 0.0 if sign == "0" else np.inf
        if name in self._strict:
            self.program.bound_row(self._strict[name], 0.0 if sign == "+" else -np.inf, np.inf)
        if name in self._place:
            self.program.bound_row(self._place[name], 0.0, upper)
        elif name in self._where:
            self.program.bound_column(self._where[name], 0.0, upper)

    def _show_splits(self) -> None:
        for rows in self._splits.values():
            for row in rows.values():
                self.program.bound_row(row, -np.inf, np.inf)
        for node, (_, sign) in self.case.splits.items():
            for times, row in self._split_rows(node).items():
                if times != ">" or sign in ("+", "-"):
                    self.program.bound_row(row, 0.0, 0.0 if sign == "0" else np.inf)

    def _split_rows(self, node: int) -> dict[str, int]:
        """Rows of a split by the weight that multiplies them; by ``>`` the one with the margin."""
        form, sign = self.case.splits[node]
        key = (*sorted(form.items()), ("-", int(sign in ("-", "-0"))))
        if key not in self._splits:
            self._splits[key] = rows = {}
            for times in ("", *(f"*w{a}" for a in range(self.algebra.tree.n_actions))):
                polynomial = self.rows.polynomial(f"s{node}{times}")
                if polynomial and polynomial.keys() <= self._column.keys():
                    rows[times] = self.program.add_row(self._entries(polynomial))
                    if not times:
                        strict = self._entries(polynomial) | {self.margin: -1.0}
                        rows[">"] = self.program.add_row(strict)
        return self._splits[key]

    # -- questions ----------------------------------------------------------------------------

    def close(self) -> tuple[Certificate | None, Point | None]:
        """Return a contradiction, or a point of the relaxation; neither where floats fail."""
        self._margin_program()
        optimum = self.program.solve()
        if optimum is None:
            return None, None
        if -optimum.value > _CLOSED:
            scale = optimum.point[self._column[()]]
            if scale <= 0:
                return None, None
            values = (optimum.point[: self.margin] / scale).tolist()
            return None, Point(dict(zip(self.monomials, values, strict=True)))
        return self._certificate(optimum, {}), None

    def show(self, polynomial: Polynomial) -> tuple[Certificate | None, float]:
        """Return a certificate that a polynomial is at least 0, and its minimum in floats."""
        if not polynomial:
            return {}, 0.0
        if not polynomial.keys() <= self._column.keys():
            return None, -math.inf
        costs = np.zeros(self.margin + 1)
        for monomial, value in polynomial.items():
            costs[self._column[monomial]] = value
        self.program.bound_column(self._column[()], 1.0, 1.0)
        self.program.bound_column(self.margin, 0.0, 0.0)
        self.program.cost(costs)
        optimum = self.program.solve()
        if optimum is None or optimum.value < -_CLOSED:
            return None, optimum.value if optimum else -math.inf
        return self._certificate(optimum, polynomial), optimum.value

    def _margin_program(self) -> None:
        costs = np.zeros(self.margin + 1)
        costs[self.margin] = -1.0
        self.program.bound_column(self._column[()], 0.0, np.inf)
        self.program.bound_column(self.margin, -np.inf, 1.0)
        self.program.cost(costs)

    def _certificate(self, optimum: Optimum, target: Polynomial) -> Certificate | None:
        near: dict[str, float] = {}

        def add(name: str, value: float) -> None:
            near[name] = near.get(name, 0.0) + value

        for name, value in zip(self._names, optimum.multipliers, strict=False):
            add(name, float(value))
        for name, row in self._strict.items():
            add(name, float(optimum.multipliers[row]))
        for column, name in self._bounds.items():
            add(name, float(optimum.reduced[column]))
        add("1", float(optimum.reduced[self._column[()]]))
        for node in self.case.splits:
            for times, row in self._split_rows(node).items():
                add(f"s{node}{times.strip('>')}", float(optimum.multipliers[row]))
        return self.exact(near, target)

    def exact(self, near: dict[str, float], target: Polynomial) -> Certificate | None:
        """Return the certificate with integers near these multipliers, or None."""
        names = [name for name, value in near.items() if value]
        polynomials = [self.rows.polynomial(name) for name in names]
        values = np.array([near[name] for name in names])
        found = exact_multipliers(polynomials, target, values)
        if found is None:
            return None
        common = math.lcm(*(value.denominator for value in found))
        whole = [int(value * common) for value in found]
        divisor = math.gcd(*whole, common) if target else math.gcd(*whole)
        certificate = {
            name: value // divisor for name, value in zip(names, whole, strict=True) if value
        }
        right = (
            shows(self.rows, certificate, target) if target else contradicts(self.rows, certificate)
        )
        return certificate if right else None


def _sparse(rows: list[dict[int, float]], width: int) -> csr_array:
    starts = np.cumsum([0, *map(len, rows)])
    columns = np.array([column for row in rows for column in row], dtype=np.int32)
    values = np.array([value for row in rows for value in row.values()])
    return csr_array((values, columns, starts), shape=(len(rows), width))
