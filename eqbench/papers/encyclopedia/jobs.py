"""What is run for the article."""

from __future__ import annotations

from eqbench.papers.jobs import Job

_COMPUTE = "eqbench.papers.encyclopedia.compute"

JOBS = (
    Job("two_player_rules", compute=f"{_COMPUTE}:rules_of_kuhn2"),
    Job(
        "two_player_equilibria",
        ("run", "--game", "kuhn2", "--solver", "case_enumeration,sequence_lp"),
    ),
    Job("two_player_family", compute=f"{_COMPUTE}:family_of_kuhn2"),
    Job(
        "two_player_tree",
        ("draw", "kuhn2", "--profile", "{two_player_family}/alpha_1_6.json"),
        out=False,
    ),
    Job("three_player_family", compute=f"{_COMPUTE}:family_of_kuhn3"),
)
