"""A program that uses eqbench, for checkers of types; see tests/packaging/test_types.py."""

from typing import reveal_type

import eqbench

run = eqbench.run("kuhn3", [eqbench.solvers.CFR(averaging="linear"), "logit"], timeout_s=5.0)
result = eqbench.solve(eqbench.games.Kuhn(players=2), "lcp", iterations=10, memory_bytes="2GiB")
best = result.equilibria[0]
reveal_type(run)  # Run
reveal_type(run[0])  # CellResult
reveal_type(result)  # CellResult
reveal_type(best)  # Equilibrium
reveal_type(best.profile)  # BehaviorProfile
reveal_type(best.identity)  # Identity | None
reveal_type(run.profile("logit"))  # BehaviorProfile
reveal_type(eqbench.verify("kuhn2", best.profile))  # Verification
reveal_type(eqbench.load_run("latest").frame("cells"))  # DataFrame
reveal_type(eqbench.load_game("kuhn2").tree)  # GameTree
reveal_type(eqbench.qre("kuhn2", last=10.0).document)  # dict[str, Any]
reveal_type(eqbench.trace("skp", first=3, last=4).path)  # Path | None
