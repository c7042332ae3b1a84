"""`eqbench qre` as users run it: the branch, what it leads to, its files, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command import accepted

import eqbench as package


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with branches of three-player Kuhn poker in ``kuhn``."""
    cwd = tmp_path_factory.mktemp("place")
    done = accepted(
        *("qre", "--game", "kuhn3", "--at", "10", "--at", "1000", "--branches", "2"),
        *("--figures", "--out", "kuhn", "--json"),
        cwd=cwd,
    )
    assert done.json == json.loads((cwd / "kuhn/summary.json").read_text())
    return cwd


def test_principal_branch_is_verified_where_it_was_asked_for(place: Path) -> None:
    """The regret of a logit response falls in proportion to 1 / lambda (Turocy 2005)."""
    principal = json.loads((place / "kuhn/summary.json").read_text())["branches"][0]
    assert [point["lambda"] for point in principal["at"]] == [10, 1000, 1e6]
    assert principal["check"] == "checked"
    scaled = [point["lambda"] * point["max_regret"] for point in principal["at"]]
    assert scaled == pytest.approx([0.215] * 3, rel=0.05)
    assert principal["max_regret"] <= 5e-7
    end = principal["equilibrium"]
    assert end["is_equilibrium"]
    assert end["max_regret"] <= 1e-12
    assert end["identity"]["name"].startswith("szafron:")
    # Ganzfried 2025, section 4, for the limit that Gambit came near
    assert end["payoffs"] == pytest.approx([-0.0276, -0.0208, 0.0484], abs=5e-5)


def test_random_priors_lead_to_other_equilibria(place: Path) -> None:
    document = json.loads((place / "kuhn/summary.json").read_text())
    assert [entry["seed"] for entry in document["branches"]] == [None, 0, 1]
    random = document["random"]
    assert (random["branches"], random["arrived"], random["polished"]) == (2, 2, 2)
    assert random["distinct_payoffs"] == 2
    assert sum(random["names"].values()) == 2


def test_points_are_dense_enough_to_draw_and_have_all_columns(place: Path) -> None:
    with (place / "kuhn/points.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lambdas = [float(row["parameter"]) for row in rows]
    assert (lambdas[0], lambdas[-1]) == (0, 1e6)
    decade = [value for value in lambdas if 10 <= value <= 100]
    assert len(decade) >= 20
    tree = package.load_game("kuhn3").tree
    assert len(rows[0]) == 2 + tree.n_players + tree.n_infosets
    assert float(rows[0]["P1|4:|bet"]) == 0.5
    for suffix in ("svg", "png"):
        assert (place / f"kuhn/figures/frequencies.{suffix}").stat().st_size > 10_000


def test_table_says_where_the_branch_ends(tmp_path: Path) -> None:
    done = accepted("qre", "--game", "kuhn2", "--to", "100", "--branches", "1", cwd=tmp_path)
    assert "lambda reached 100" in " ".join(done.out.split())  # lines are wrapped
    assert "kuhn2 α=0.2" in done.out
    assert "Branches from priors at random: 1" in done.out
