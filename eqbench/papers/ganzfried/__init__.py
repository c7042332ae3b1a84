"""Ganzfried 2025: equilibria of three-player Kuhn poker by a quadratic program."""

from __future__ import annotations

from eqbench.papers.claims import Source
from eqbench.papers.ganzfried.formulas import FORMULAS
from eqbench.papers.ganzfried.gambit import METHODS
from eqbench.papers.ganzfried.game import GAME, SIZES
from eqbench.papers.ganzfried.jobs import JOBS
from eqbench.papers.ganzfried.logit import LOGIT_PATH
from eqbench.papers.ganzfried.related import RELATED
from eqbench.papers.ganzfried.sizes import MODEL_SIZES
from eqbench.papers.ganzfried.solution import SOLUTION
from eqbench.papers.ganzfried.solving import SOLVING
from eqbench.papers.ganzfried.table_1 import TABLE_1, TABLE_1_TEXT

SOURCE = Source(
    name="ganzfried",
    citation=(
        "S. Ganzfried, Quadratic Programming Approach for Nash Equilibrium Computation in "
        "Multiplayer Imperfect-Information Games, 2025"
    ),
    jobs=JOBS,
    parts=(
        FORMULAS,
        GAME,
        TABLE_1,
        TABLE_1_TEXT,
        SIZES,
        MODEL_SIZES,
        SOLVING,
        SOLUTION,
        METHODS,
        LOGIT_PATH,
        RELATED,
    ),
)
