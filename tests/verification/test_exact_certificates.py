"""Equilibria known in rationals are certified in rationals, and shown as what they are."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from helpers.command import eqbench_here as command
from helpers.made_games import wide_game
from helpers.runs import cell, handed_over, run_of
from helpers.study_cases import kuhn2_member
from rich.console import Console

import eqbench
from eqbench.errors import ProfileError
from eqbench.harness.judge import MeasuredProfile, measure, measure_all
from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree, Payoffs
from eqbench.report.cells import report_on
from eqbench.report.terminal import print_report
from eqbench.store.schema import CellRecord
from eqbench.verification import Allowance, Verifier, certify, exact_refutation, verify_exactly
from eqbench.verification.verifier import ExactRules, _digits, length

TREE = eqbench.load_game("kuhn2").tree
TINY = Fraction(1, 10**18)


GOOD = kuhn2_member(Fraction(1, 7))
OFF = kuhn2_member(Fraction(1, 7), called=Fraction(1, 3) + TINY)


def measured(
    profile: BehaviorProfile,
    claim: str = "equilibrium",
    claimed: float | None = None,
    *,
    tree: GameTree = TREE,
    tolerance: float = 1e-6,
) -> MeasuredProfile:
    return measure(handed_over(profile, claim, claimed), Verifier(tree), tolerance)


# -- what is certified --------------------------------------------------------------------------

UNIFORM = BehaviorProfile.uniform(TREE)
FAR = kuhn2_member(Fraction(1, 7), called=Fraction(1, 3) + Fraction(1, 7 * 10**400))


def exact_regret(profile: BehaviorProfile) -> str:
    regret = verify_exactly(TREE, profile).max_regret
    return f"claimed a max regret of exactly 0, computed exactly it is {regret}"


@pytest.mark.parametrize(
    ("profile", "claim", "claimed", "refuted", "certified"),
    [
        (GOOD, "equilibrium", 0.0, "", True),
        (GOOD, "complete list", 0.0, "", True),
        (OFF, "equilibrium", 0.0, exact_regret(OFF), True),  # floats see no error of 1e-18
        (OFF, "equilibrium", None, "", True),
        (OFF, "complete list", 1e-15, "", True),
        (OFF, "iterate", 0.0, exact_regret(OFF), True),
        (OFF, "iterate", None, "", False),
        (BehaviorProfile(OFF.probabilities), "equilibrium", 0.0, "", False),
        (UNIFORM, "equilibrium", None, "claimed an equilibrium, but a player gains", True),
        (UNIFORM, "equilibrium", 0.0, exact_regret(UNIFORM), True),
        (FAR, "equilibrium", 0.0, "e-402", True),  # as a float it would be 0
    ],
)
def test_claims_with_exact_frequencies_are_certified_or_disproved(
    profile: BehaviorProfile, claim: str, claimed: float | None, refuted: str, certified: bool
) -> None:
    finding = measured(profile, claim, claimed)
    assert (finding.exact is not None, bool(finding.refuted)) == (certified, bool(refuted))
    assert refuted in (finding.refuted or "")
    record = finding.record("profile.json", None)
    if certified:
        exact = verify_exactly(TREE, profile)
        assert finding.exact == exact
        assert finding.max_regret == pytest.approx(float(exact.max_regret), abs=5e-324)
        assert record.exact["regrets"] == [str(value) for value in exact.regrets]
        stands = exact.max_regret == 0
        assert (record.is_proved, finding.claims) == (stands, stands)
        assert (finding.claimed(TREE) is not None) == stands
        if not (stands or refuted):
            assert record.claim == "iterate", "proved to be only an approximation"
    if profile is GOOD:
        assert (record.regrets, record.payoffs) == ([0.0, 0.0], [-1 / 18, 1 / 18])
        assert record.exact["payoffs"] == ["-1/18", "1/18"]


def test_rounding_of_the_floats_refutes_no_exact_equilibrium() -> None:
    assert Verifier(TREE).verify(OFF) == Verifier(TREE).verify(GOOD)
    seen = 0
    for k in range(1, 12):
        profile = kuhn2_member(Fraction(k, 37))
        seen += Verifier(TREE).verify(profile).max_regret > 0
        assert measured(profile, claimed=0.0, tolerance=0.0).refuted is None
    assert seen, "no profile of which the floats see a regret"


@pytest.mark.parametrize(
    ("regret", "shown"),
    [
        (Fraction(1, 10**37), f"1/{10**37}"),  # 40 characters
        (Fraction(1, 10**38), "1e-38"),
        (Fraction(2, 3 * 10**400), "6.67e-401"),
    ],
)
def test_fraction_of_up_to_40_characters_is_written_out(regret: Fraction, shown: str) -> None:
    refuted = exact_refutation(regret, claimed_regret=0.0)
    assert refuted == f"claimed a max regret of exactly 0, computed exactly it is {shown}"


def test_length_counts_decimal_digits() -> None:
    assert length([]) == 0
    assert length([Fraction(10**99)]) in (100, 101)
    assert length([Fraction(1, 10**99), Fraction(10**49, 3)]) in range(149, 154)


def test_rows_that_do_not_sum_to_exactly_1_are_no_exact_profile() -> None:
    frequencies = list(GOOD.exact)
    frequencies[0] += TINY
    wrong = BehaviorProfile.of_exact(TREE, frequencies)
    with pytest.raises(ProfileError, match="not exactly 1"):
        measured(wrong)
    assert measured(wrong, "iterate").exact is None


# -- what is not --------------------------------------------------------------------------------


def test_game_in_floats_has_no_certificates() -> None:
    rounded = replace(TREE, payoffs=Payoffs(TREE.payoffs.table))
    finding = measured(OFF, claimed=0.0, tree=rounded)
    assert (finding.exact, finding.refuted) == (None, None)
    assert measured(UNIFORM, tree=rounded).refuted


def with_digits(digits: int) -> BehaviorProfile:
    """An equilibrium whose `alpha` has so many digits."""
    return kuhn2_member(Fraction(10 ** (digits - 1), 7 * 10**digits + 1))


def test_certificates_end_where_their_fractions_could_no_longer_be_printed() -> None:
    certified = [certify(TREE, with_digits(digits)) for digits in (100, 1000, 1900, 2100, 3900)]
    assert [item is None for item in certified] == [False, False, False, True, True]
    off = kuhn2_member(Fraction(1, 7), called=Fraction(1, 3) + Fraction(1, 10**3900 + 1))
    assert all(str(value) for value in certify(TREE, off).regrets)
    assert measured(with_digits(3900), claimed=0.0).refuted is None


@pytest.mark.parametrize("denominator", [1, 3, 2**61 - 1])
@pytest.mark.parametrize("chance", [Fraction(1, 2), Fraction(1, 10**17 + 3)])
def test_estimated_digits_are_never_too_few(denominator: int, chance: Fraction) -> None:
    """Of payoffs with such a denominator, behind a chance move and two moves of one player."""
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [chance, 1 - chance])
    for outcome in range(2):
        first = builder.decision((root, outcome), 0, f"first{outcome}", ["l", "r"])
        builder.terminal((first, 0), [Fraction(7, denominator)])
        last = builder.decision((first, 1), 0, f"last{outcome}", ["l", "r"])
        for move in range(2):
            builder.terminal((last, move), [Fraction(10**9 + move, denominator)])
    tree = builder.tree()
    exact = [Fraction(1, 97), Fraction(96, 97)] * 4
    estimated = _digits(tree, ExactRules.of(tree), exact, 4000)
    measured = verify_exactly(tree, BehaviorProfile.of_exact(tree, exact))
    values = [*measured.payoffs, *measured.regrets]
    longest = max(len(str(part)) for v in values for part in (v.numerator, v.denominator))
    assert estimated is not None
    assert longest <= estimated <= 3 * longest


def test_certificates_end_where_a_large_game_would_take_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Player 1 moves up to twice in 21sts and player 2 once in 3rds: at least 3.1 digits."""
    certified = []
    for digits in range(1, 20):
        most = TREE.n_terminals * (digits + 1) - 1
        monkeypatch.setattr("eqbench.verification.verifier.MOST_TERMINAL_DIGITS", most)
        certified.append(certify(TREE, GOOD) is not None)
    assert certified == sorted(certified)
    assert certified[-1]
    assert not any(certified[:3])


def test_certificates_of_a_cell_share_an_allowance() -> None:
    whole = Allowance()
    spent, before = [], whole.left
    for digits in (1, 100, 1000):
        assert certify(TREE, with_digits(digits), whole) is not None
        spent.append(before - whole.left)
        before = whole.left
    assert 0 < spent[0] < spent[1] < spent[2]
    scarce = Allowance(left=spent[2] - 1)
    assert certify(TREE, with_digits(1000), scarce) is None
    assert certify(TREE, with_digits(100), scarce) is not None, "what costs less comes still"
    left = spent[2] - 1 - length(with_digits(1000).exact) - spent[1]
    assert scarce.left == left
    assert certify(TREE, BehaviorProfile.of(TREE, GOOD.probabilities), scarce) is None
    assert scarce.left == left
    assert certify(TREE, GOOD, Allowance(left=-1)) is None


def test_long_fractions_use_up_the_allowance_even_where_they_are_refused() -> None:
    allowance = Allowance()
    long = with_digits(3900)
    for _ in range(1 + allowance.left // length(long.exact)):
        assert certify(TREE, long, allowance) is None
    assert certify(TREE, GOOD, allowance) is None


def test_nothing_is_read_as_integers_that_is_not_affordable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reads(*of: object) -> None:
        raise AssertionError("it was read")

    wide, ordinary = wide_game(10**12), TREE
    monkeypatch.setattr("eqbench.verification.verifier.ExactRules.of", reads)
    monkeypatch.setattr("eqbench.verification.verifier.completed_rows", reads)
    uniform = BehaviorProfile.uniform(wide)
    assert not Verifier(wide).verify(uniform, Allowance(left=7)).resolved
    assert certify(ordinary, GOOD, Allowance(left=7)) is None


def test_list_beyond_the_allowance_is_neither_proved_nor_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Floats see no error of 1e-18; without a certificate they are what counts."""
    whole = Allowance()
    certify(TREE, GOOD, whole)
    cost = Allowance().left - whole.left
    monkeypatch.setattr("eqbench.verification.verifier.MOST_TERMINAL_DIGITS", 2 * cost)
    handed = [*[kuhn2_member(Fraction(k, 37)) for k in (1, 2)], OFF]
    result = eqbench.solve("kuhn2", HandsOver(*handed))
    assert result.status == "ok"
    assert [item.is_proved for item in result.equilibria] == [True, True, False]
    assert (result.equilibria[2].exact, result.equilibria[2].refuted) == (None, None)
    worse = eqbench.solve("kuhn2", HandsOver(*handed[:2], BehaviorProfile.uniform(TREE)))
    assert worse.status == "refuted", "the ordinary rule counts"
    assert eqbench.solve("kuhn2", HandsOver(OFF, *handed[:2])).status == "refuted"
    sent = measure_all(
        [handed_over(profile, claimed_regret=0.0) for profile in handed], Verifier(TREE), 1e-6
    )
    assert [item.exact is None for item in sent] == [False, False, True]
    assert [item.refuted for item in sent] == [None] * 3


# -- where it is shown --------------------------------------------------------------------------


def test_proof_comes_before_what_only_rounds_to_less() -> None:
    proof = measured(GOOD)
    floats = measured(BehaviorProfile.of(TREE, GOOD.probabilities))
    below = replace(floats, measured=replace(floats.measured, regrets=(-1e-17, -1e-18)))
    assert sorted([below, proof], key=lambda finding: finding.rank) == [proof, below]
    best = proof.record("profile.json", None)
    assert (best.is_proved, best.max_regret) == (True, 0.0)


class HandsOver:
    def __init__(self, *profiles: BehaviorProfile, claimed: float | None = 0.0) -> None:
        self.profiles, self.claimed = profiles, claimed

    def solve(self, game, monitor, rng):
        for profile in self.profiles:
            monitor.candidate(profile, claim="equilibrium", claimed_regret=self.claimed)
        return eqbench.Termination("converged")


@pytest.mark.parametrize(
    ("profile", "claimed", "target", "status", "claim"),
    [
        (GOOD, 0.0, 1e-10, "ok", "equilibrium"),
        (OFF, 0.0, 1e-10, "refuted", "equilibrium"),
        (OFF, None, 1e-10, "ok", "iterate"),
        (OFF, None, 0.0, "stopped", "iterate"),
    ],
)
def test_solve_in_this_process_certifies_too(
    profile: BehaviorProfile, claimed: float | None, target: float, status: str, claim: str
) -> None:
    result = eqbench.solve("kuhn2", HandsOver(profile, claimed=claimed), target=target)
    (item,) = result.equilibria
    assert (result.status, item.claim, item.is_proved) == (status, claim, profile is GOOD)


def test_table_says_exactly_only_of_a_proof() -> None:
    proved = eqbench.solve("kuhn2", HandsOver(GOOD))._record
    tiny = replace(proved.equilibria[0], exact={"payoffs": ["0"] * 2, "regrets": ["1/9", "0"]})
    rounded = replace(proved, solver="rounded", equilibria=[tiny])
    plain = replace(tiny, exact=None)
    text = printed(proved, rounded, replace(proved, solver="plain", equilibria=[plain]))
    assert text.count("0 exactly") == 1
    assert "\nmax regret exactly 0, in rational arithmetic: HandsOver\n" in text
    (row,) = (line for line in text.splitlines() if line.startswith("HandsOver"))
    assert row.split()[2:4] == ["0", "exactly"]


def printed(*records: CellRecord) -> str:
    buffer = io.StringIO()
    print_report(report_on([run_of(*records)]), Console(file=buffer, width=200))
    return buffer.getvalue()


def test_records_of_earlier_versions_have_no_certificate() -> None:
    item = measured(GOOD).record("profile.json", None)
    record = cell("0a", equilibria=[item])
    assert CellRecord.of_line(record.to_line()) == record
    data = record.to_json()
    del data["equilibria"][0]["exact"]
    (item,) = CellRecord.of_line(json.dumps(data).encode()).equilibria
    assert (item.exact, item.is_proved) == (None, False)


# -- a whole run --------------------------------------------------------------------------------

PLUGIN = """
from dataclasses import dataclass
from fractions import Fraction

import eqbench

@eqbench.register_solver("{name}")
@dataclass(frozen=True)
class Solver:
    def solve(self, game, monitor, rng):
        exact = [Fraction(text) for text in {frequencies!r}.split()]
        profile = eqbench.BehaviorProfile.of_exact(game.tree, exact)
        monitor.candidate(profile, claim="equilibrium", claimed_regret=0.0)
        return eqbench.Termination("converged")
"""


def test_run_certifies_refutes_and_refuses(tmp_path: Path) -> None:
    """Solvers hand over a proof, nearly one, and no exact profile."""
    loose = (GOOD.exact[0] + TINY, *GOOD.exact[1:])
    arguments: list[str | Path] = []
    for name, exact in {"proves": GOOD.exact, "nearly": OFF.exact, "loose": loose}.items():
        file = tmp_path / f"{name}.py"
        file.write_text(PLUGIN.format(name=name, frequencies=" ".join(map(str, exact))))
        arguments += ["--plugin", file, "--solver", name]
    options = ("run", "--game", "kuhn2", *arguments, "--json", "--out", "run", "-q")
    run = command(*options, cwd=tmp_path)
    cells = {cell["solver"]: cell for cell in run.json["cells"]}
    statuses = {name: cell["status"] for name, cell in cells.items()}
    assert statuses == {"proves": "ok", "nearly": "refuted", "loose": "crashed"}
    (proof,) = cells["proves"]["equilibria"]
    assert proof["exact"] == {"payoffs": ["-1/18", "1/18"], "regrets": ["0", "0"]}
    assert cells["proves"]["max_regret"] == 0
    assert "computed exactly it is 1/" in cells["nearly"]["reason"]
    assert "not exactly 1" in cells["loose"]["reason"]

    file = tmp_path / "run" / proof["profile"]
    assert '"1/7"' in file.read_text()
    done = command("verify", "--profile", file, "--exact", "--json", cwd=tmp_path)
    assert done.json["exact"]["max_regret"] == "0"
    assert done.json["exact"]["payoffs"] == ["-1/18", "1/18"]

    markdown, table = (
        command("report", "run", "--format", name, cwd=tmp_path).out for name in ("md", "csv")
    )
    assert "- max regret exactly 0, in rational arithmetic: proves" in markdown
    (row,) = (line for line in markdown.splitlines() if line.startswith("| proves"))
    assert "| 0 |" in " ".join(row.split())
    rows = {row["solver"]: row for row in csv.DictReader(io.StringIO(table))}
    assert rows["proves"]["max_regret"] == "0.0"
    assert 0 < float(rows["nearly"]["max_regret"]) < 1e-17

    frame = eqbench.load_run(tmp_path / "run").frame("equilibria").set_index("solver")
    assert frame["exact_max_regret"].dtype == "string"
    regrets = {"proves": "0", "nearly": str(verify_exactly(TREE, OFF).max_regret)}
    assert frame["exact_max_regret"].to_dict() == regrets
