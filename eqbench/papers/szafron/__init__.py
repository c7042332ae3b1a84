"""Szafron, Gibson and Sturtevant 2013: a family of equilibria of three-player Kuhn poker."""

from __future__ import annotations

from eqbench.papers.claims import Source
from eqbench.papers.szafron import (
    appendix,
    figures,
    game,
    open_question_part,
    section_6,
    sub_families,
    table_3,
    table_4,
)
from eqbench.papers.szafron.jobs import JOBS

SOURCE = Source(
    name="szafron",
    citation=(
        "D. Szafron, R. Gibson and N. Sturtevant, A parameterized family of equilibrium profiles "
        "for three-player Kuhn poker, AAMAS 2013"
    ),
    jobs=JOBS,
    parts=(
        *game.PARTS,
        *appendix.PARTS,
        *table_3.PARTS,
        *sub_families.PARTS,
        *figures.PARTS,
        *table_4.PARTS,
        *section_6.PARTS,
        *open_question_part.PARTS,
        *appendix.PROOFS,
    ),
)
