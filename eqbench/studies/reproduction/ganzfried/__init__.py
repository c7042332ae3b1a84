"""Ganzfried 2025: equilibria of three-player Kuhn poker by a quadratic program."""

from eqbench.studies.reproduction.claims import Source
from eqbench.studies.reproduction.ganzfried.formulas import FORMULAS
from eqbench.studies.reproduction.ganzfried.gambit import METHODS
from eqbench.studies.reproduction.ganzfried.game import GAME, SIZES
from eqbench.studies.reproduction.ganzfried.jobs import JOBS
from eqbench.studies.reproduction.ganzfried.logit import LOGIT_PATH
from eqbench.studies.reproduction.ganzfried.related import RELATED
from eqbench.studies.reproduction.ganzfried.sizes import MODEL_SIZES
from eqbench.studies.reproduction.ganzfried.solution import SOLUTION
from eqbench.studies.reproduction.ganzfried.solving import SOLVING
from eqbench.studies.reproduction.ganzfried.table_1 import TABLE_1, TABLE_1_TEXT

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
