"""Contract suites for authors of games and solvers; the built-in ones pass the same.

`eqbench check NAME` runs them from the command line. In a test::

    from eqbench.testing import check_solver

    def test_my_solver_keeps_the_contract():
        for result in check_solver("my_solver", plugins=["my_solver.py"]):
            assert result.passed is not False, result
"""

from eqbench.testing.bench import Result
from eqbench.testing.game_suite import check_game
from eqbench.testing.solver_suite import check_solver

__all__ = ["Result", "check_game", "check_solver"]
