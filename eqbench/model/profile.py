"""Behavior profiles: frequencies per information set, by position or by labels."""

from __future__ import annotations

import math
import pkgutil
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import pairwise
from numbers import Rational
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, overload

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError, UsageError, known_labels
from eqbench.extras import needed_for
from eqbench.model.rational import parse_rational, rational
from eqbench.model.tree import FloatArray, GameTree
from eqbench.text import Displayed

if TYPE_CHECKING:
    import pandas as pd

ROW_SUM_TOLERANCE = 1e-9
_ESCAPED = re.compile(r"\|".join([r"((?:[^\\|]|\\.)*)"] * 3), re.DOTALL)
_PLAIN = re.compile(r"(?:0(?:\.\d+)?|1(?:\.0+)?)", re.ASCII)  # in [0, 1] without an exponent
FORM = 'a profile is {"behavior": {PLAYER: {INFOSET: {ACTION: number or "p/q"}}}}'


class HasTree(Protocol):
    """What has a game tree: a :class:`eqbench.model.game.Game`."""

    @property
    def tree(self) -> GameTree: ...


@dataclass(frozen=True, eq=False)
class BehaviorProfile(Displayed):
    """A behavior profile of a game: one distribution per information set.

    ``profile["P1", "3:", "bet"]`` is a frequency, ``profile["P1", "3:"]`` those of an information
    set and ``profile["P1"]`` those of a player, as dictionaries.

    Attributes
    ----------
    probabilities : float64 (A,), read-only
        Frequencies of all actions, by information set in the order of the tree.
    exact : tuple of A Fractions, or None
        The same frequencies as rationals, where they are known.
    tree : GameTree or None
        Whose labels it has; :meth:`on` gives it one.
    spec : str
        Canonical spec of the game, if it was made for one.
    is_decimal : bool
        Whether `exact` are decimals as they were given or stored: not fractions that a solver or
        an author claims, but what floats print as.

    Examples
    --------
    >>> import eqbench
    >>> profile = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn2"))
    >>> profile["P1", "3:", "bet"]
    0.5
    >>> profile["P2", "3:B"]
    {'fold': 0.5, 'call': 0.5}
    >>> bluffs = profile.to_json()
    >>> bluffs["behavior"]["P1"]["1:"] = {"check": "2/3", "bet": "1/3"}
    >>> eqbench.BehaviorProfile.from_json(eqbench.load_game("kuhn2"), bluffs).exact[:2]
    (Fraction(2, 3), Fraction(1, 3))
    """

    probabilities: FloatArray
    exact: tuple[Fraction, ...] | None = field(default_factory=lambda: None)
    tree: GameTree | None = field(default=None, repr=False)
    spec: str = field(default="", repr=False)
    is_decimal: bool = False

    def _lazily(self, exact: Callable[[], tuple[Fraction, ...]], *, is_decimal: bool) -> Self:
        """The same with exact frequencies that are made when they are first read."""
        made = self._with(_exact=exact, is_decimal=is_decimal)
        del made.__dict__["exact"]
        return made

    def _with(self, **fields: Any) -> Self:
        """Copy with other fields, which does not read the exact frequencies."""
        made = copy(self)
        made.__dict__.update(fields)
        return made

    def __getattr__(self, name: str) -> Any:
        if name != "exact" or "_exact" not in self.__dict__:
            raise AttributeError(name)
        return self.__dict__.setdefault("exact", self.__dict__["_exact"]())

    def __repr__(self) -> str:
        of = f" of {self.spec}" if self.spec else ""
        exactly = ", stored decimals" if self.is_decimal else ", known exactly"
        known = exactly if self.exact is not None else ""
        return f"<BehaviorProfile{of}: {len(self.probabilities)} frequencies{known}>"

    @overload
    def __getitem__(self, key: tuple[str, str, str]) -> float: ...
    @overload
    def __getitem__(self, key: tuple[str, str]) -> dict[str, float]: ...
    @overload
    def __getitem__(self, key: str) -> dict[str, dict[str, float]]: ...
    def __getitem__(self, key: str | tuple[str, ...]) -> Any:
        tree, labels = self.known_tree, (key,) if isinstance(key, str) else tuple(key)
        if not 1 <= len(labels) <= 3:
            raise ProfileError('give a player, an information set and an action: ["P1", "3:", ...]')
        player = _player(tree, labels[0])
        if len(labels) == 1:
            return {tree.infoset_labels[i]: self._row(tree, i) for i in tree.infosets_of(player)}
        infoset = _infoset(tree, player, labels[1])
        row = self._row(tree, infoset)
        if len(labels) == 3 and labels[2] not in row:
            raise _unknown_action(tree, infoset, labels[2])
        return row if len(labels) == 2 else row[labels[2]]

    def _row(self, tree: GameTree, infoset: int) -> dict[str, float]:
        start, actions = int(tree.action_start[infoset]), tree.infoset_actions[infoset]
        values = self.probabilities[start : start + len(actions)].tolist()
        return dict(zip(actions, values, strict=True))

    @property
    def known_tree(self) -> GameTree:
        """The tree; ProfileError if there is none."""
        if self.tree is None:
            raise ProfileError(
                "this profile does not know the labels of its game; profile.on(game) does"
            )
        return self.tree

    def on(self, game: GameTree | HasTree) -> BehaviorProfile:
        """The same behavior in a game that has these information sets and actions, by labels.

        So a profile of a reduced game is one of the full game too. A profile that knows no labels
        must have one frequency for each action of the game.

        Raises
        ------
        ProfileError
            If labels of the profile are unknown in the game, or an information set is missing.
        """
        tree, spec = _tree_of(game)
        mine = self.tree or tree
        if mine is tree or _labels(mine) == _labels(tree):
            if len(self.probabilities) != tree.n_actions:
                _refuse_shape(tree, self.probabilities)
            spec = spec or (self.spec if mine is tree else "")
            return self._with(tree=tree, spec=spec)
        return self.from_json(game, self.to_json())

    def to_json(self, game: str = "") -> dict[str, Any]:
        """The interchange form in plain JSON values: player, information set, action, frequency.

        Frequencies that are known exactly are texts ``p/q``. Of floats that do not sum to 1 as the
        decimals that they print as, the largest is a text: what the others leave of 1.

        Parameters
        ----------
        game : spec to be noted in it; that of the profile unless given

        Examples
        --------
        >>> import eqbench
        >>> game = eqbench.load_game("kuhn2")
        >>> eqbench.BehaviorProfile.uniform(game).to_json()["behavior"]["P1"]["3:KB"]
        {'fold': '1/2', 'call': '1/2'}
        """
        tree, spec = self.known_tree, game or self.spec
        values: Sequence[Any] = self.probabilities.tolist()
        if self.exact is not None:
            values = list(map(_decimal if self.is_decimal else str, self.exact))
        behavior: dict[str, dict[str, dict[str, Any]]] = {label: {} for label in tree.players}
        starts = tree.action_start.tolist()
        for i, player in enumerate(tree.infoset_player.tolist()):
            row = dict(zip(tree.infoset_actions[i], values[starts[i] : starts[i + 1]], strict=True))
            if self.exact is None:
                _complete(row)
            behavior[tree.players[player]][tree.infoset_labels[i]] = row
        return ({"game": spec} if spec else {}) | {"behavior": behavior}

    @classmethod
    def from_json(cls, game: GameTree | HasTree, data: Any) -> BehaviorProfile:
        """Profile of a game from its interchange form, a dictionary.

        A missing action is 0; a missing information set is an error unless it has one action.
        Floats mean the decimals that they print as, as in the JSON text.

        Raises
        ------
        ProfileError
            If a label is unknown, a set is missing, or a row is not a distribution.
        """
        tree, _ = _tree_of(game)
        behavior = data.get("behavior") if isinstance(data, dict) else None
        if not isinstance(behavior, dict):
            raise ProfileError(f"{FORM}; the key 'behavior' is missing")
        given: list[Any] = [None] * tree.n_actions
        starts = tree.action_start.tolist()
        for player_label, sets in behavior.items():
            player = _player(tree, player_label)
            for label, row in _items(sets, f"player {player_label}"):
                i = _infoset(tree, player, label)
                actions = tree.infoset_actions[i]
                if not isinstance(row, dict) or not row.keys() <= set(actions):
                    unknown = (each for each, _ in _items(row, place_of(tree, i)))
                    raise _unknown_action(tree, i, next(a for a in unknown if a not in actions))
                given[starts[i] : starts[i + 1]] = [row.get(action, 0) for action in actions]
        for i, (start, stop) in enumerate(pairwise(starts)):
            if given[start] is None and stop - start > 1:
                raise ProfileError(
                    f"the profile does not say what to do at {place_of(tree, i)}; "
                    f"give frequencies for {', '.join(tree.infoset_actions[i])}"
                )
            if given[start] is None:
                given[start] = 1
        values = np.array([_float(value) for value in given])
        for action in np.flatnonzero(np.isnan(values)).tolist():
            exact = frequency_of(given[action], _action_name(tree, action))
            if not 0 <= exact <= 1:  # as a float, -1e-400 would pass
                _refuse_entry(tree, action, exact)
            values[action] = float(exact)
        made = cls._checked(game, values, lambda row: _exactly(given[row]))
        return made._lazily(partial(_exactly, given), is_decimal=any(map(_is_decimal, given)))

    def figure(self, other: Any = None) -> Any:
        """Picture of what is played: a grid of situations and cards, else of information sets.

        It is an `eqbench.api.shown.Picture`, which a notebook shows, and which is saved as .svg,
        .png or .pdf. Of two profiles both are drawn, and framed where they differ.

        Parameters
        ----------
        other : a profile of the same game, as :func:`eqbench.load_profile` reads it

        Raises
        ------
        ProfileError
            If this profile does not know its game, or the other one is of another game.

        Examples
        --------
        >>> import eqbench
        >>> game = eqbench.load_game("kuhn2")
        >>> eqbench.BehaviorProfile.uniform(game).figure(eqbench.solve(game, "lcp"))
        <Picture 'kuhn(players=2,cards=3,pot=2,reduce=none,raises=0)'>
        """
        return pkgutil.resolve_name("eqbench.api.profiles:profile_figure")(self, other)

    def explore(self, at: str = "", depth: int | None = None) -> Any:
        """Page of the game tree, opened node by node, with reach, beliefs and gains by deviating.

        A notebook shows it; as a text it is HTML that needs no network.

        Parameters
        ----------
        at : moves with slashes between them, labels or numbers from 1; only what follows is shown
        depth : most moves in turn that are shown; all unless given

        Raises
        ------
        ProfileError
            If this profile does not know its game.
        UsageError
            If there is no such move, or there are more than 20,000 nodes.

        Examples
        --------
        >>> import eqbench
        >>> game = eqbench.load_game("kuhn2")
        >>> eqbench.BehaviorProfile.uniform(game).explore(at="1 2/check").form
        'html'
        """
        return pkgutil.resolve_name("eqbench.api.profiles:explored")(self, at, depth)

    def to_frame(self) -> pd.DataFrame:
        """One row per action: player, infoset, action, frequency, and exact if it is in fractions.

        Examples
        --------
        >>> import eqbench
        >>> frame = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn2")).to_frame()
        >>> frame.values.tolist()[0]
        ['P1', '1:', 'check', 0.5, '1/2']
        """
        with needed_for("to_frame()"):
            import pandas as pd

        tree = self.known_tree
        sizes = np.diff(tree.action_start)
        columns: dict[str, Any] = {
            "player": np.repeat(np.array(tree.players)[tree.infoset_player], sizes),
            "infoset": np.repeat(np.array(tree.infoset_labels), sizes),
            "action": [action for row in tree.infoset_actions for action in row],
            "frequency": self.probabilities,
        }
        if self.exact is not None and not self.is_decimal:
            columns["exact"] = list(map(str, self.exact))
        return pd.DataFrame(columns)

    @classmethod
    def of(
        cls, game: GameTree | HasTree, probabilities: NDArray | Sequence[float]
    ) -> BehaviorProfile:
        """Checked copy of float64 (A,) frequencies, in which every row sums to 1.

        Where a row misses 1 by more than rounding, its largest entry, the first of them, becomes
        what the others leave of 1; all other frequencies stay as they are.

        Raises
        ------
        ProfileError
            If the shape is wrong, an entry is outside [0, 1] or not finite, or a row does not
            sum to 1 within 1e-9.
        """
        try:
            values = np.array(probabilities, dtype=np.float64)
        except (TypeError, ValueError):
            raise ProfileError(f"{probabilities!r:.60} are no frequencies of actions") from None
        return cls._checked(game, values, lambda row: list(map(rational, values[row].tolist())))

    @classmethod
    def _checked(cls, game: Any, values: FloatArray, exactly: Callable[[slice], Any]) -> Self:
        """Profile of frequencies (A,), whose loose rows are completed as they are exactly."""
        tree, spec = _tree_of(game)
        for row in _loose_rows(tree, values):
            values[row] = list(map(float, completed(exactly(row))))
        values.setflags(write=False)
        return cls(values, None, tree, spec)

    @classmethod
    def of_exact(
        cls, game: GameTree | HasTree, frequencies: Sequence[Fraction | int]
    ) -> BehaviorProfile:
        """Checked profile of A rationals; rows must sum to exactly 1 for exact verification.

        Its `probabilities` are those of the completed rows, as :meth:`of` declares.
        """
        tree, _ = _tree_of(game)
        exact = tuple(rational(value) for value in frequencies)
        for action, value in zip(range(tree.n_actions), exact, strict=False):
            if not 0 <= value <= 1:  # as a float, -1e-400 would pass
                _refuse_entry(tree, action, value)
        values = np.array([float(value) for value in exact])
        return replace(cls._checked(game, values, exact.__getitem__), exact=exact)

    @classmethod
    def uniform(cls, game: GameTree | HasTree) -> BehaviorProfile:
        """The profile that gives every action at an information set the same frequency."""
        sizes = np.diff(_tree_of(game)[0].action_start)
        exact = [share for n in sizes.tolist() for share in [f"1/{n}"] * n]
        made = cls.of(game, np.repeat(1 / sizes, sizes))
        return made._lazily(partial(_exactly, exact), is_decimal=False)


def _tree_of(game: GameTree | HasTree) -> tuple[GameTree, str]:
    """Tree and canonical spec of a game, or a tree with an empty spec."""
    if isinstance(game, GameTree):
        return game, ""
    if not isinstance(tree := getattr(game, "tree", None), GameTree):
        raise ProfileError(f"{game!r:.60} is neither a Game nor a GameTree")
    return tree, getattr(game, "spec", "")


def _labels(tree: GameTree) -> tuple[Any, ...]:
    owners = tree.infoset_player.tolist()
    return tree.players, owners, tree.infoset_labels, tree.infoset_actions


def _player(tree: GameTree, label: str) -> int:
    if label not in tree.players:
        raise ProfileError(f"unknown player {label!r}: {known_labels(label, tree.players)}")
    return tree.players.index(label)


def _infoset(tree: GameTree, player: int, label: str) -> int:
    try:
        return tree.infoset_of(player, label)
    except KeyError:
        known = [tree.infoset_labels[i] for i in tree.infosets_of(player)]
        raise ProfileError(
            f"player {tree.players[player]} has no information set {label!r}: "
            f"{known_labels(label, known)}"
        ) from None


def _unknown_action(tree: GameTree, infoset: int, action: str) -> ProfileError:
    known = known_labels(action, tree.infoset_actions[infoset])
    return ProfileError(f"unknown action {action!r} at {place_of(tree, infoset)}: {known}")


def _items(data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise ProfileError(f"{where}: expected an object in braces, got {data!r}")
    return data.items()


def frequency_of(value: Any, where: str) -> Fraction:
    """Exact frequency of the interchange form; ProfileError if it is none of reasonable size."""
    exact = None
    if isinstance(value, str):
        exact = parse_rational(value)
    elif isinstance(value, Rational | float) and not isinstance(value, bool):
        with suppress(ValueError):
            exact = rational(value)
    if exact is not None:
        return exact
    raise ProfileError(f'the frequency of {where} is {value!r}; write a number or "p/q"')


def _float(value: Any) -> float:
    """A frequency that is plainly one as a float, as it is read exactly; else NaN."""
    if isinstance(value, str):
        return float(value) if _PLAIN.fullmatch(value) else math.nan
    is_plain = isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= 1
    return float(value) if is_plain else math.nan


def _exactly(given: Sequence[Any]) -> tuple[Fraction, ...]:
    """Checked frequencies of the interchange form as rationals."""
    return tuple(frequency_of(value, "an action") for value in given)


def _is_decimal(value: Any) -> bool:
    """Whether a frequency of the interchange form is a decimal, not an integer or a fraction."""
    if isinstance(value, str):
        return "/" not in value and not value.isdecimal()
    return isinstance(value, float)


def _decimal(value: Fraction) -> float | str:
    """A frequency as the float that prints as it, else as a decimal with all its digits."""
    if rational(rounded := float(value)) == value:
        return rounded
    digits = value.denominator.bit_length()  # at least as many as its decimal has
    with localcontext() as context:
        context.prec = digits
        text = f"{Decimal(value.numerator) / value.denominator:f}"
    return text if Fraction(text) == value else str(value)


def _complete(row: dict[str, Any]) -> None:
    """Make the decimals of a row sum to 1: the largest becomes a text, what the others leave."""
    digits = {action: Decimal(repr(value)) for action, value in row.items()}
    largest = max(digits, key=digits.__getitem__)
    with localcontext() as context:
        context.prec = 2000  # floats have up to 1,100 digits
        rest = 1 - sum(value for action, value in digits.items() if action != largest)
        if rest != digits[largest]:
            row[largest] = f"{rest:f}"


def completed_rows(tree: GameTree, profile: BehaviorProfile) -> tuple[Fraction, ...]:
    """Frequencies (A,) of a checked profile as rationals whose rows sum to exactly 1.

    Floats count as the decimals that they print as. So a profile is the same as its stored text.
    """
    exact = profile.exact or tuple(map(rational, profile.probabilities.tolist()))
    rows = zip(tree.action_start[:-1].tolist(), tree.action_start[1:].tolist(), strict=True)
    return tuple(value for start, stop in rows for value in completed(exact[start:stop]))


def completed(row: Sequence[Fraction]) -> list[Fraction]:
    """A distribution whose largest entry, the first of them, is what the others leave of 1."""
    largest = max(range(len(row)), key=row.__getitem__)
    others = [*row[:largest], *row[largest + 1 :]]
    return [*row[:largest], 1 - sum(others, Fraction(0)), *row[largest + 1 :]]


def random_profile(tree: GameTree, rng: np.random.Generator) -> FloatArray:
    """Frequencies float64 (A,) drawn uniformly from the simplex at every information set."""
    draws = rng.standard_exponential(tree.n_actions)
    return draws / np.add.reduceat(draws, tree.action_start[:-1])[tree.action_infoset]


def _loose_rows(tree: GameTree, values: FloatArray) -> list[slice]:
    """Rows that miss 1 by more than rounding; ProfileError unless all are distributions."""
    if values.shape != (tree.n_actions,):
        _refuse_shape(tree, values)
    outside = ~((values >= 0) & (values <= 1))
    if outside.any():
        action = int(np.flatnonzero(outside)[0])
        _refuse_entry(tree, action, float(values[action]))
    if tree.n_infosets == 0:
        return []
    bounds = tree.action_start
    total = np.add.reduceat(values, bounds[:-1])
    missing = np.abs(total - 1)
    off = missing > ROW_SUM_TOLERANCE
    if off.any():
        i = int(np.flatnonzero(off)[0])
        raise ProfileError(
            f"the frequencies at {place_of(tree, i)} sum to {float(total[i])!r}; they must sum "
            "to 1 within 1e-9 (a missing action counts as 0)"
        )
    # what is left is a part of the error of a measured regret
    loose = np.flatnonzero(missing > (bounds[1:] - bounds[:-1]) * np.finfo(float).eps)
    return [slice(bounds[i], bounds[i + 1]) for i in loose.tolist()]


def _refuse_shape(tree: GameTree, values: FloatArray) -> NoReturn:
    raise ProfileError(
        f"a profile of this game has {tree.n_actions} frequencies; got shape {values.shape}"
    )


def _refuse_entry(tree: GameTree, action: int, value: float | Fraction) -> NoReturn:
    shown = str(value)
    if len(shown) > 60:
        shown = "negative" if value < 0 else "above 1"
    raise ProfileError(
        f"the frequency of {_action_name(tree, action)} is {shown}; frequencies lie in [0, 1]"
    )


def _action_name(tree: GameTree, action: int) -> str:
    i = int(np.searchsorted(tree.action_start, action, side="right")) - 1
    label = tree.infoset_actions[i][action - tree.action_start[i]]
    return f"{label!r} at {place_of(tree, i)}"


def place_of(tree: GameTree, infoset: int) -> str:
    """How messages name an information set: by its label and player."""
    player = tree.players[tree.infoset_player[infoset]]
    return f"information set {tree.infoset_labels[infoset]!r} of {player}"


def action_labels(tree: GameTree) -> list[str]:
    r"""Names of all actions, ``player|information set|action``, no two of them equal.

    Where a part holds ``|`` itself, so that it would not be clear where parts end, all three stand
    with ``\|`` for it and ``\\`` for a backslash.
    """
    return [
        joined_label(tree.players[player], infoset, action)
        for player, infoset, actions in zip(
            tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True
        )
        for action in actions
    ]


def joined_label(*parts: str) -> str:
    """One of the :func:`action_labels` of its player, information set and action."""
    if any("|" in part for part in parts):
        parts = tuple(part.replace("\\", "\\\\").replace("|", "\\|") for part in parts)
    return "|".join(parts)


def label_parts(label: str) -> list[str]:
    """Player, information set and action of one of the :func:`action_labels`."""
    escaped = _ESCAPED.fullmatch(label) if label.count("|") > 2 else None
    if escaped is None:
        return label.split("|")
    return [re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL) for part in escaped.groups()]


def exact_frequencies(tree: GameTree, profile: BehaviorProfile) -> tuple[Fraction, ...]:
    """Checked frequencies (A,) of a profile in exact mode, whose rows sum to exactly 1.

    Floats count as the decimals that they print as, the largest of an information set as what the
    others leave of 1.

    Raises
    ------
    ProfileError
        If an entry is outside [0, 1], or a row of exact frequencies does not sum to exactly 1.
    UsageError
        If the game itself is not known exactly.
    """
    if not tree.exact:
        raise UsageError(
            "this game has floating-point payoffs or chances, so nothing about it is exact; "
            "verify without exact mode"
        )
    exact = profile.exact
    if exact is None:
        exact = completed_rows(tree, BehaviorProfile.of(tree, profile.probabilities))
    BehaviorProfile.of_exact(tree, exact)
    for i in range(tree.n_infosets):
        total = sum(exact[tree.action_start[i] : tree.action_start[i + 1]], Fraction(0))
        if total != 1:
            raise ProfileError(
                f"the frequencies at {place_of(tree, i)} sum to {total}, not exactly 1; exact "
                'mode reads numbers as exact decimals, so write them as "p/q" strings'
            )
    return exact
