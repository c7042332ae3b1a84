"""The challenge: honest answers with values known beforehand, and lies, each of which is caught."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from eqbench.cli.commands import app
from eqbench.harness.experiment import read_experiment, shipped
from eqbench.store.stored_run import read_run
from eqbench.studies.challenge import study as challenge_study
from eqbench.studies.challenge.measure import game_of
from eqbench.studies.challenge.study import Board, ChallengeStudy, Scored
from eqbench.studies.challenge.submissions import Submission, challenge, read_submission
from eqbench.studies.frame import answer
from eqbench.studies.requests import ChallengeRequest

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "results" / "reference"
PROOF = (RUNS / "kuhn3_reduced.proof.jsonl").read_text(encoding="utf-8")


def _sexes(first: list[str], second: list[str]) -> dict[str, Any]:
    actions = ("opera", "football")
    rows = (dict(zip(actions, own, strict=True)) for own in (first, second))
    return {"behavior": {f"P{k}": {"": row} for k, row in enumerate(rows, 1)}}


def _kuhn(alpha: int, parts: int) -> dict[str, Any]:
    """The equilibrium of Kuhn (1950) in which player 1 bets with the lowest card alpha / parts."""

    def row(bet: int, of: int, no: str = "check", yes: str = "bet") -> dict[str, str]:
        return {no: f"{of - bet}/{of}", yes: f"{bet}/{of}"}

    def call(bet: int, of: int) -> dict[str, str]:
        return row(bet, of, "fold", "call")

    first = {"1:": row(alpha, parts), "2:": row(0, 1), "3:": row(3 * alpha, parts)}
    first |= {"1:KB": call(0, 1), "2:KB": call(3 * alpha + parts, 3 * parts), "3:KB": call(1, 1)}
    second = {"1:K": row(1, 3), "2:K": row(0, 1), "3:K": row(1, 1)}
    second |= {"1:B": call(0, 1), "2:B": call(1, 3), "3:B": call(1, 1)}
    return {"game": "kuhn2", "behavior": {"P1": first, "P2": second}}


def _changed(player: str, infoset: str, row: Any) -> str:
    profile = _kuhn(0, 1)
    profile["behavior"][player][infoset] = row
    return json.dumps(profile)


FILES = {
    "opera": _sexes(["1", "0"], ["1", "0"]),
    "football": _sexes(["0", "1"], ["0", "1"]),
    "mixed": _sexes(["2/3", "1/3"], ["1/3", "2/3"]),
    "none": _sexes(["1", "0"], ["0", "1"]),
    "kuhn": _kuhn(0, 1),
    "line": _kuhn(1, 6),
    "other": {"game": "kuhn3", "behavior": {}},
}
DATA = tomllib.loads((ROOT / "tests" / "data" / "challenge_lies.toml").read_text(encoding="utf-8"))
HONEST, SEXES = (
    DATA["honest"],
    {"game": "battle_of_sexes", "question": "welfare", "profiles": ["opera"]},
)


def _write(
    folder: Path, answers: list[Any], name: str = "honest", more: dict[str, Any] | None = None
) -> str:
    folder.mkdir()
    for file, content in FILES.items():
        (folder / file).write_text(json.dumps(content))
    document = {"schema": "eqbench.submission/1", "name": name, "answers": answers} | (more or {})
    (folder / "submission.json").write_text(json.dumps(document))
    return str(folder)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Board]:
    """Measures submissions alone, without the best known answers."""
    monkeypatch.setattr(challenge_study, "KNOWN", tmp_path / "none")

    def measure(*folders: str) -> Board:
        return answer(ChallengeStudy(ChallengeRequest(folders=folders)))

    return measure


def test_honest_answers_have_the_values_known_beforehand(
    tmp_path: Path, measured: Callable[..., Board]
) -> None:
    board = measured(_write(tmp_path / "mine", HONEST))
    found = {(e.game, e.question): e.measured for e in board.answers if e.place == 1}
    assert found == {
        ("battle_of_sexes", "complete"): "all: 3 extreme equilibria in 3 components",
        ("battle_of_sexes", "welfare"): "3",
        ("kuhn2", "exact"): "12 digits",
        ("kuhn2", "credible"): "all 12",
        ("kuhn2", "regret"): "0 exactly",
    }
    assert not any(each.note for each in board.answers)


def test_answers_of_a_given_folder_have_a_table_even_where_others_are_as_good(
    tmp_path: Path,
) -> None:
    folder = _write(tmp_path / "mine", [SEXES], "A pencil")
    board = answer(ChallengeStudy(ChallengeRequest(folders=(folder,))))
    (own,) = (each for each in board.answers if each.submission == "A pencil")
    assert own.place == 1
    assert (own.shared or 0) > 1
    assert [row.values["submission"] for row in board.tables().tables[0].rows] == ["A pencil"]


def test_run_is_refused_nothing_that_it_does_not_claim(
    measured: Callable[..., Board],
) -> None:
    board = measured(str(RUNS / "kuhn3"))
    assert {each.question for each in board.answers} >= {"regret", "credible"}
    assert not any(each.note for each in board.answers)


def test_the_better_answer_has_the_first_place_and_equal_ones_share_it(
    tmp_path: Path, measured: Callable[..., Board]
) -> None:
    own = {"game": "battle_of_sexes", "question": "welfare"}
    folders = [
        _write(tmp_path / name, [own | {"profiles": [name]}], name)
        for name in ("mixed", "opera", "football")
    ]
    places = {each.submission: each.place for each in measured(*folders).answers}
    assert places == {"opera": 1, "football": 1, "mixed": 3}


def _text(
    change: Any = (), repeat: Any = (), proof: int | None = None, rename: Any = ("x", "x")
) -> str:
    """The file that a lie comes with."""
    if proof is not None:
        return (PROOF[:proof] or PROOF.splitlines(keepends=True)[0]).replace(*rename)
    return repeat[0] * repeat[1] if repeat else _changed(*change)


@pytest.mark.parametrize("lie", DATA["lie"], ids=lambda lie: lie["name"])
def test_a_lie_has_no_place_and_the_reason_is_given(
    lie: dict[str, Any], tmp_path: Path, measured: Callable[..., Board]
) -> None:
    given = DATA["default"][lie["default"]] | lie.get("answer", {})
    folder = _write(tmp_path / "liar", [given, HONEST[2]], "liar")
    if "file" in lie:
        (tmp_path / "liar" / "lie").write_text(_text(**lie["file"]))
    placed, refused = measured(folder).answers
    assert (placed.question, placed.place, placed.note) == ("exact", 1, "")
    assert (refused.place, refused.measured) == (None, None)
    assert lie["reason"] in refused.note


@pytest.mark.parametrize("question", DATA["overstated"])
def test_a_claim_of_more_than_is_there_is_shown_next_to_what_was_measured(
    question: str, tmp_path: Path, measured: Callable[..., Board]
) -> None:
    case = DATA["overstated"][question]
    folder = _write(tmp_path / "liar", [DATA["default"][case["default"]] | case["answer"]], "liar")
    (tmp_path / "liar" / "lie").write_text(_changed("P1", "3:KB", {"fold": "1/2", "call": "1/2"}))
    (found,) = measured(folder).answers
    assert (found.measured, found.note) == (case["measured"], f"claims {case['answer']['claim']}")


def test_links_pipes_and_folders_are_not_followed(
    tmp_path: Path, measured: Callable[..., Board]
) -> None:
    own = [HONEST[2] | {"profiles": [name]} for name in ("link", "pipe", "folder", "within/kuhn")]
    folder = _write(tmp_path / "liar", own, "liar")
    _write(tmp_path / "mine", HONEST)
    (tmp_path / "liar" / "link").symlink_to(tmp_path / "mine" / "kuhn")
    (tmp_path / "liar" / "within").symlink_to(tmp_path / "mine")
    (tmp_path / "liar" / "folder").mkdir()
    os.mkfifo(tmp_path / "liar" / "pipe")
    found = measured(folder).answers
    assert [each.place for each in found] == [None] * 4
    assert all("cannot read" in each.note for each in found)


def test_a_folder_with_neither_a_submission_nor_a_run_is_a_mistake(tmp_path: Path) -> None:
    made = CliRunner().invoke(app, ["challenge", str(tmp_path)])
    assert made.exit_code != 0
    assert "neither submission.json nor a run" in str(made.exception)


@pytest.mark.usefixtures("measured")
def test_the_exit_code_says_whether_all_is_as_claimed(tmp_path: Path) -> None:
    honest = _write(tmp_path / "mine", HONEST)
    liar = _write(tmp_path / "liar", [SEXES | {"claim": 4}], "liar")
    codes = [
        CliRunner().invoke(app, ["challenge", *own], standalone_mode=False).return_value
        for own in ([honest], [honest, liar])
    ]
    assert codes == [0, 1]


@pytest.mark.parametrize("what", DATA["whole"])
def test_a_damaged_manifest_is_refused_and_the_others_are_measured(
    what: str, tmp_path: Path, measured: Callable[..., Board]
) -> None:
    more = dict(DATA["whole"][what])
    reason = more.pop("reason")
    liar = _write(tmp_path / "liar", HONEST, "liar", more)
    placed, refused = measured(liar, _write(tmp_path / "mine", [SEXES])).answers
    assert (placed.place, refused.place, refused.submission) == (1, None, "liar")
    assert reason in refused.note


def test_what_a_damaged_answer_may_hold_is_in_words(
    tmp_path: Path, measured: Callable[..., Board]
) -> None:
    wrong = [SEXES | {"profiles": ["../x.json"]}, SEXES | {"claim": "1.5e"}]
    path, claim = (own.note for own in measured(_write(tmp_path / "mine", wrong)).answers)
    assert "regex" not in path + claim
    assert "$.profiles[0]" in path
    assert "-1/3" in claim


def test_a_submission_counts_once_under_any_name_and_a_name_belongs_to_one(
    tmp_path: Path, measured: Callable[..., Board]
) -> None:
    folders = [
        _write(tmp_path / "mine", HONEST),
        _write(tmp_path / "copy", HONEST, "copy"),
        _write(tmp_path / "namesake", [SEXES], "HONEST"),
    ]
    notes = {each.submission: each.note for each in measured(*folders).answers}
    assert notes["honest"] == ""
    assert "same answers and files as honest" in notes["copy"]
    assert "has this name" in notes["HONEST"]


def test_submissions_without_an_answer_that_can_be_read_are_no_copies(
    tmp_path: Path, measured: Callable[..., Board]
) -> None:
    folders = [_write(tmp_path / name, [{"worth": 1}], name) for name in ("one", "two")]
    assert all("worth" in each.note for each in measured(*folders).answers)


def test_a_file_that_is_named_often_is_hashed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [SEXES | {"profiles": ["opera"] * 50}] * 50
    submission, reads = read_submission(_write(tmp_path / "mine", answers)), list[str]()
    monkeypatch.setattr(Submission, "file", lambda _, name, __: reads.append(name) or b"")
    assert submission.fingerprint()
    assert reads == ["opera"]


@pytest.mark.usefixtures("measured")
def test_the_page_shows_names_as_text_and_the_index_links_to_it(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    folder = _write(
        tmp_path / "mine", [SEXES | {"method": "<b>"}, HONEST[2] | {"claim": "<i>"}], name
    )
    made = CliRunner().invoke(app, ["publish", str(tmp_path / "site"), "--challenge", folder])
    assert made.exit_code == 0, made.output
    page = (tmp_path / "site" / "challenge.html").read_text()
    assert "&lt;img src=x" in page
    assert not any(text in page for text in ("<img src=x", "<b>", "<i>"))
    assert 'href="challenge.html"' in (tmp_path / "site" / "index.html").read_text()


def test_a_run_is_a_submission_of_what_its_solvers_found(measured: Callable[..., Board]) -> None:
    run = read_run(RUNS / "kuhn3")
    board = measured(str(run.path))
    stored = {cell.solver: cell for cell in run.cells if cell.max_regret is not None}
    found = [each for each in board.answers if each.question == "regret"]
    assert len(found) == len(stored) > 3
    for each in found:
        cell = stored[each.method]
        assert each.value == pytest.approx(cell.max_regret, abs=1e-14)
        assert each.elapsed_s == cell.elapsed_s
    assert {each.question for each in board.answers} == {"regret", "credible"}  # claims no more


def test_games_are_what_they_were_when_the_challenge_was_set() -> None:
    games = challenge().game
    assert len(games) == 25
    for posed in games:
        assert game_of(posed).spec == posed.spec
    assert tuple(each.name for each in games) == tuple(
        read_experiment(shipped()["challenge_games"]).parts[0].games
    )


def test_the_best_known_answers_are_as_claimed() -> None:
    board = answer(ChallengeStudy(ChallengeRequest()))
    doubtful: list[Scored] = [each for each in board.answers if each.note]
    assert not doubtful
    answered = {(each.game, each.question) for each in board.answers}
    assert all((each.name, "regret") in answered for each in challenge().game)
