"""Billingham 2017: simplified three-player Kuhn poker, its equilibria, and its dynamics."""

from __future__ import annotations

from eqbench.papers.billingham_2017.abstract import ABSTRACT
from eqbench.papers.billingham_2017.cases import (
    CASE_1,
    CASE_2,
    CASE_3,
    CASE_4,
    CASE_5,
    CASE_6,
    FIGURE_7,
    ONE_TYPE,
)
from eqbench.papers.billingham_2017.curves import FIGURE_2, FIGURE_3, FIGURE_4
from eqbench.papers.billingham_2017.curves_5_6 import FIGURE_5, FIGURE_6
from eqbench.papers.billingham_2017.earnings import EARNINGS, FIGURE_15
from eqbench.papers.billingham_2017.expected_profits import CONDITIONS_PART, PROFITS
from eqbench.papers.billingham_2017.jobs import JOBS
from eqbench.papers.billingham_2017.model import INTEGRATION, MODEL
from eqbench.papers.billingham_2017.ruled_out import RULED_OUT
from eqbench.papers.billingham_2017.section_2 import FIGURE_1, RULES
from eqbench.papers.billingham_2017.solutions import SOLUTIONS_PART
from eqbench.papers.billingham_2017.stability import STABILITY
from eqbench.papers.billingham_2017.table_1 import CASES_PART, TABLE_1
from eqbench.papers.billingham_2017.transfers import BORDERS_PART, TRANSFERS
from eqbench.papers.claims import Source

SOURCE = Source(
    name="billingham_2017",
    citation=(
        "J. Billingham, Full street simplified three player Kuhn poker, 2017, arXiv:1707.01392"
    ),
    jobs=JOBS,
    parts=(
        *(ABSTRACT, RULES, FIGURE_1, PROFITS, CONDITIONS_PART, RULED_OUT, TABLE_1, CASES_PART),
        *(SOLUTIONS_PART, BORDERS_PART),
        *(FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, TRANSFERS),
        *(MODEL, STABILITY, ONE_TYPE, INTEGRATION, FIGURE_7),
        *(CASE_1, CASE_2, CASE_3, CASE_4, CASE_5, CASE_6, EARNINGS, FIGURE_15),
    ),
)
