"""A game as solvers see it: its spec, its tree and what is compiled from the tree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from eqbench.errors import UsageError
from eqbench.model.dealt_form import DealtForm, UnbuiltTree
from eqbench.model.rational import rational
from eqbench.model.sequence_form import SequenceForm, SequenceStructure, compile_sequence_form
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import load_form
from eqbench.model.words import Wording
from eqbench.spec import Spec, parse_spec
from eqbench.text import Displayed

if TYPE_CHECKING:
    from eqbench.model.interleaved import Interleaved
    from eqbench.model.payoff_model import PayoffModel
    from eqbench.model.product_kernels import ProductArrays
    from eqbench.model.products import ProductForm
    from eqbench.model.rank_sums import RankSums


@dataclass(frozen=True, eq=False)
class Game(Displayed):
    """A game tree with its canonical spec; compiled forms are made on first use.

    Attributes
    ----------
    spec : str
        Canonical spec, for example ``kuhn(players=3,cards=4,pot=3,reduce=none,raises=0)``.
    tree : GameTree
    folder : Path or None
        Where the arrays of the game are kept, if they are; their form need not be compiled.
    wording : Wording or None
        What the labels of its information sets mean, if the game declares it.
    title : str
        What a game file calls it, or a plugin by an attribute; strangers wrote it. May be empty.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.load_game("matching_pennies")
    <Game matrix(name=matching_pennies): 2 players, 7 nodes, 2 information sets>
    >>> game = eqbench.load_game("kuhn3").at(pot=3.2)
    >>> game.spec, game.sequence_form.n_sequences
    ('kuhn(players=3,cards=4,pot=16/5,reduce=none,raises=0)', 99)
    """

    spec: str
    tree: GameTree
    folder: Path | None = None
    wording: Wording | None = None
    title: str = ""

    def __repr__(self) -> str:
        tree = self.tree
        sizes = f"{tree.n_players} players, {tree.n_nodes:,} nodes"
        return f"<Game {self.spec}: {sizes}, {tree.n_infosets:,} information sets>"

    @cached_property
    def sequence_form(self) -> SequenceForm:
        """The sequence form; shared by all who hold this game."""
        if isinstance(self.tree, UnbuiltTree) and self.tree.game is not None:
            form, value = self.tree.game.sequence_form, self.tree.payoffs.value
            return form if value is None else form.at(float(value))
        stored = load_form(self.folder, self.tree) if self.folder else None
        return stored or compile_sequence_form(self.tree)

    @property
    def product(self) -> DealtForm | None:
        """A large dealt game as a public tree times hands, whose tree is built on demand only."""
        return self.tree.form if isinstance(self.tree, UnbuiltTree) else None

    @cached_property
    def product_form(self) -> ProductForm | None:
        """What values by products are computed from, if the game is a product."""
        if self.product is None:
            return None
        from eqbench.model.products import ProductForm

        return ProductForm.of(self.product)

    @property
    def plan_form(self) -> SequenceStructure:
        """What plans are made of; its `arrays` are those of products where there are such."""
        return self.product_form or self.sequence_form

    @cached_property
    def interleaved(self) -> Interleaved | ProductArrays:
        """The entries of the sequence form as CFR reads them, or what is in place of them."""
        from eqbench.model.interleaved import interleave  # loads Numba, see below

        if self.product_form is not None:
            return self.product_form.arrays
        return interleave(self.sequence_form)

    def payoff_model(self) -> PayoffModel:
        """Values, best responses and derivatives on compiled kernels.

        Three-player Kuhn poker has a model of its own, which needs no sequence form, and so have
        games whose tree is not built.
        """
        # Loading Numba takes longer than building most games, and listing needs neither.
        from eqbench.model.payoff_model import SequenceFormModel

        def by_tree() -> PayoffModel:
            return self._rank_sums or SequenceFormModel(self.sequence_form)

        if self.product_form is None:
            return by_tree()
        from eqbench.model.products import ProductModel

        return ProductModel(self.product_form, by_tree)

    @cached_property
    def _rank_sums(self) -> RankSums | None:
        from eqbench.model.rank_sums import RankSums

        tree = self.tree
        if isinstance(tree, UnbuiltTree) and tree.n_nodes > tree.most:
            return None
        return RankSums.of(tree)

    def at(self, **parameter: int | float | Fraction) -> Game:
        """Same game at another value of its payoff parameter, for example ``at(pot=3.2)``.

        The structure is shared. A float means the decimal that it prints as, so that
        ``at(pot=3.2)`` is the game of the spec ``pot=3.2``.

        Raises
        ------
        UsageError
            If the game has no parameter of that name, or the value is not finite.
        """
        known = self.tree.payoffs.parameter
        if known is None or list(parameter) != [known]:
            raise UsageError(
                f"{self.spec} has {f'the parameter {known!r}' if known else 'no parameter'}; "
                f"got {', '.join(parameter) or 'nothing'}"
            )
        (given,) = parameter.values()
        try:
            value = rational(given)
        except (TypeError, ValueError):
            raise UsageError(f"a payoff parameter is a number; got {known}={given}") from None
        spec = _with_parameter(parse_spec(self.spec), known, value)
        game = Game(str(spec), self.tree.at(value), wording=self.wording, title=self.title)
        if "sequence_form" in self.__dict__:
            game.__dict__["sequence_form"] = self.sequence_form.at(float(value))
        if "_rank_sums" in self.__dict__:
            game.__dict__["_rank_sums"] = self._rank_sums and self._rank_sums.at(float(value))
        return game


def _with_parameter(spec: Spec, name: str, value: Fraction) -> Spec:
    """The spec at a value of its parameter, which may be that of the game that it changes."""
    options = dict(spec.options)
    if name not in options and "game" in options:
        inner = _with_parameter(parse_spec(str(options["game"])), name, value)
        return spec.replace(game=str(inner))
    return spec.replace(**{name: value})
