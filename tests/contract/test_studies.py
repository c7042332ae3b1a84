"""The contract of studies: what each keeps, resumes, draws and refuses, whatever it looks for."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.branches import WINDING
from helpers.branches import study as trace_study
from helpers.command import Ended, accepted, eqbench_here

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import parse_profile, profile_from_json, profile_text
from eqbench.studies.frame import StudyFolder, held
from eqbench.verification import verify

STUDIES = {
    "qre": "--game kuhn2 --to 100 --at 10 --branches 1",
    "stability": "--game skp --at 3 --at 61/20 --samples 2 --rest-points 20",
    "simulate": "--game skp --at 2.5 --at 3.35 --duration 30 --starts 1 --start uniform",
    "trace": f"--game skp --from 3 --to 8 --plugin {WINDING} --solver winding --at 6.1 --starts 2",
    "crossplay": "--game kuhn2 --known",
    "ranges": "--game kuhn2 --of P1",
    "prove": "--game kuhn2(cards=4)",
}
# Options of figures, and what is drawn then.
FIGURES = {
    "qre": ("", "frequencies"),
    "stability": ("", "verdicts"),
    "simulate": (
        "--pair b3,d2",
        "phase-pot-2.5 phase-pot-3.35 series-pot-2.5 series-pot-3.35 "
        "profits-pot-2.5 profits-pot-3.35 regimes",
    ),
    "trace": (
        "--close-up 3.1,3.6 --animate 2",
        "payoffs frequencies frequencies-1 counts bars-at1-1 bars-at1-2 bars-at1-3",
    ),
}
RESUMED = sorted(STUDIES.keys() - {"crossplay", "prove"})  # which have one part
INTERRUPTED = sorted(FIGURES)  # cells of ranges run in processes of their own


class Done(NamedTuple):
    """A study in the folder ``whole``, and how often it polled for an interrupt."""

    name: str
    ended: Ended
    polls: int

    @property
    def place(self) -> Path:
        return self.ended.folder

    def again(self, folder: str, *options: str) -> Ended:
        return accepted(self.name, "--resume", folder, *options, cwd=self.place)

    def points(self, folder: str) -> bytes:
        """What is not in the summary."""
        file = self.place / folder / "points.csv"
        return file.read_bytes() if file.exists() else b""


@contextmanager
def pressing(pressed: Callable[[], bool]) -> Iterator[None]:
    """Let Ctrl-C be pressed when `pressed` says so."""

    @contextmanager
    def interrupts(farewell: str) -> Iterator[Callable[[], bool]]:
        yield pressed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eqbench.cli.commands.two_interrupts", interrupts)
        yield


def finished(name: str, place: Path) -> Done:
    count = itertools.count()
    with pressing(lambda: next(count) < 0):
        ended = accepted(name, *STUDIES[name].split(), "--out", "whole", "--json", cwd=place)
    return Done(name, ended, next(count))


@pytest.fixture(scope="module")
def finish(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Done]:
    """Studies by their names, each carried out once."""
    return cache(lambda name: finished(name, tmp_path_factory.mktemp(name)))


@pytest.fixture
def done(request: pytest.FixtureRequest, finish: Callable[[str], Done]) -> Done:
    return finish(request.param)


every_study = pytest.mark.parametrize("done", STUDIES, indirect=True)
every_resumed_study = pytest.mark.parametrize("done", RESUMED, indirect=True)


def lasting(value: Any) -> Any:
    """The same document without clocks, the environment and names of files."""
    if isinstance(value, dict):
        own = {key: lasting(own) for key, own in value.items() if not key.endswith("_s")}
        return {key: own[key] for key in own.keys() - {"run", "profile", "environment"}}
    return [lasting(own) for own in value] if isinstance(value, list) else value


def dictionaries(value: Any) -> Iterator[dict[str, Any]]:
    """All dictionaries within a document."""
    if isinstance(value, dict):
        yield value
    within = value.values() if isinstance(value, dict) else value
    for own in within if isinstance(value, dict | list) else ():
        yield from dictionaries(own)


@every_study
def test_summary_that_is_kept_is_the_one_that_is_printed(done: Done) -> None:
    document = json.loads(done.ended.out, parse_constant=pytest.fail)
    assert json.loads((done.place / "whole/summary.json").read_text()) == document
    assert document["schema"].startswith("eqbench.")
    assert document.get("finished", True)
    assert "in whole" in done.ended.err


@every_study
def test_profiles_that_are_kept_have_the_payoffs_and_regrets_of_the_summary(done: Done) -> None:
    kept = [own for own in dictionaries(done.ended.json) if isinstance(own.get("profile"), str)]
    for own in kept:
        data = parse_profile((done.place / "whole" / own["profile"]).read_text())
        tree = eqbench.load_game(data["game"]).tree
        measured = verify(tree, profile_from_json(tree, data))
        payoffs = own.get("payoffs", measured.payoffs)
        assert measured.payoffs == pytest.approx(payoffs, abs=1e-15)
        assert measured.max_regret == pytest.approx(own["max_regret"], abs=1e-15)
    assert (len(kept) > 1) == (done.name not in ("crossplay", "prove", "stability"))


@every_resumed_study
def test_finished_study_is_shown_again_and_left_alone(done: Done) -> None:
    folder = done.place / "whole"
    before = {file: file.read_bytes() for file in folder.rglob("*.*")}
    assert done.again("whole", "--json").json == done.ended.json
    assert {file: file.read_bytes() for file in folder.rglob("*.*")} == before


@pytest.mark.parametrize("done", FIGURES, indirect=True)
def test_figures_are_drawn_of_a_finished_study_in_both_forms(done: Done) -> None:
    shutil.copytree(done.place / "whole", done.place / "drawn")
    options, names = FIGURES[done.name]
    drawn = done.again("drawn", "--figures", *options.split())
    expected = {f"{name}.{form}" for name in names.split() for form in ("svg", "png")}
    expected |= {"animation.gif"} if "--animate" in options else set()
    files = {file.name: file for file in (done.place / "drawn/figures").iterdir()}
    assert files.keys() == expected
    assert all(f"wrote drawn/figures/{name}" in drawn.err for name in expected)
    assert all(file.stat().st_size > 3000 for file in files.values())


@pytest.mark.parametrize("done", INTERRUPTED, indirect=True)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_interrupted_study_resumes_to_what_one_without_a_break_finds(
    done: Done, share: float
) -> None:
    count, last = itertools.count(), int(share * done.polls)
    out = f"broken{share}"
    options = (*STUDIES[done.name].split(), "--json", "--out", out)
    with pressing(lambda: next(count) >= last):
        broken = eqbench_here(done.name, *options, cwd=done.place)
    assert broken.code == 130
    words = f"interrupted; go on with:\n  eqbench {done.name} --resume {out}\n"
    assert broken.err.endswith(words)
    assert broken.json == json.loads((done.place / out / "summary.json").read_text())
    assert not broken.json["finished"]
    assert lasting(done.again(out, "--json").json) == lasting(done.ended.json)
    assert done.points(out) == done.points("whole")


@every_resumed_study
@pytest.mark.parametrize("place", [0, -1])
def test_only_the_part_is_done_again_whose_record_is_damaged(done: Done, place: int) -> None:
    folder, killed = f"killed{place}", done.place / f"killed{place}"
    shutil.copytree(done.place / "whole", killed)
    records = killed / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    lines[place] = lines[place][:-20] + ("\n" if place == 0 else "")
    records.write_text("".join(lines))
    (killed / "summary.json").unlink()
    again = done.again(folder, "--json")
    assert lasting(again.json) == lasting(done.ended.json)
    assert "1 line of" in again.err or place == -1
    points, expected = (sorted(done.points(one).splitlines()) for one in (folder, "whole"))
    assert points == expected


@every_resumed_study
def test_folder_in_use_is_refused_and_left_alone(done: Done) -> None:
    folder = done.place / "whole"
    before = {file: file.read_bytes() for file in folder.rglob("*.*")}
    with held(folder, done.name):
        refused = eqbench_here(done.name, "--resume", "whole", cwd=done.place)
    assert (refused.code, refused.out) == (2, "")
    assert "in whole" in refused.err
    assert {file: file.read_bytes() for file in folder.rglob("*.*")} == before


@pytest.mark.parametrize("count", [0, 1, 3, 8])
def test_interrupted_crossplay_leaves_nothing(tmp_path: Path, count: int) -> None:
    """It polls before the part, before each combination and before each worst case."""
    polls = iter(range(count))
    options = ("--game", "kuhn3", "--known", "--most", "4", "--out", "c")
    with pressing(lambda: next(polls, None) is None):
        ended = eqbench_here("crossplay", *options, cwd=tmp_path)
    assert ended.code == 130, ended.err
    assert ended.err.endswith("interrupted\n")
    assert not (tmp_path / "c").exists()


# -- what is refused ---------------------------------------------------------------------------

SKP = "trace --game skp --from 2 --to 6"
REFUSED = {
    "trace --from 2": "Missing argument 'GAME'",
    "trace --game skp --from 2": "Missing option '--to'",
    f"{SKP} --epsilon 0": "positive",
    f"{SKP} --epsilon -1": "positive",
    f"{SKP} --at 7": "--at 7 lies outside the range from 2 to 6",
    f"{SKP} --at many": "'many' is not a number",
    f"{SKP} --to 1/0": "'1/0' is not a number",
    f"{SKP} --starts 3": "--starts looks off the branch at the values of --at",
    f"{SKP} --close-up 3,4": "--close-up is about figures",
    f"{SKP} --figures --close-up 4,3": "'4,3' is not an interval",
    f"{SKP} --figures --close-up 7,8": "lies outside 2 to 6",
    f"{SKP} --parameter ante": "its parameter is 'pot'",
    f"{SKP} --epsilon 1e-6 --solver arclength(epsilon=1e-7)": "give it once",
    "trace --game leduc --from 2 --to 3": "has no payoff parameter",
    "trace --game skp --from 3 --to 3": "the range from 3 to 3 is empty",
    "trace --game skp --from 1 --to 3": "pot=1 is below 2",
    f"trace --game skp --from 3 --to 1{'0' * 40}": "too large",
    f"{SKP} --solver cfr": "cfr offers no `continuation`",
    "trace --game kuhn2 --from 2 --to 3 --animate 9": "three-player Kuhn",
    "trace --resume .": "holds no study",
    "trace --resume begun --out other": "either --resume or --out",
    "trace --resume begun --at 3": "begun with --at 10/3, now it is 3",
    "trace --resume begun --at 10/3 --at most": "now it is 10/3 most",
    "trace --resume begun --regularization arctan": "begun with --regularization none",
    "qre --resume begun": "holds a study of `eqbench trace`",
    f"{SKP} --out begun": "begun is not empty",
    "crossplay": "which equilibria? give a RUN, or --game SPEC with --known or --profile FILE",
    "crossplay --game kuhn2": "nothing to compare; give a RUN, --known or --profile FILE",
    "crossplay --game kuhn2 --profile nothing.json": "cannot read the profile",
    "crossplay --game shapley --profile moves.json": "no information set",
    "crossplay --profile moves.json": "moves.json is not an equilibrium: a player gains",
    "crossplay --resume begun": "No such option",
    "simulate --game kuhn2 --remember 5": "--model hands",
    "simulate --game kuhn2 --pair a,b": "--figures",
    "simulate --game kuhn2 --pair a": "is not a pair",
    "simulate --game skp --figures --pair b3,d9": "'d9' is not a frequency",
    "simulate --game kuhn2 --start missing.json": "cannot read",
    "simulate --game kuhn2 --start pure.json": "the start pure.json: the frequency",
    "simulate --game kuhn2 --start words.txt": "words.txt: not valid JSON",
    "simulate --game kuhn2 --start -": "standard input: not valid JSON",
    "simulate --game kuhn2 --out .": "is not empty",
    "simulate --game kuhn2 --duration 0": "positive",
    "ranges": "Missing argument 'GAME'",
    "ranges --game kuhn7": "did you mean",
    "ranges --game kuhn2,kuhn3": "give one game",
    "ranges --game kuhn2 --of P3": "no such player or action",
    "ranges --game kuhn2 --of P1|1:|raise": "did you mean",
    "ranges --game kuhn3_reduced --of P1|1:KKB|fold": "its frequency is 1",
    "ranges --game kuhn2 --solver cfr_plus": "no option of and sense",
    "ranges --game kuhn2 --solver ncp,mip": "give one solver",
    "ranges --game kuhn2 --solver all": "give one solver",
    "ranges --game kuhn2 --solver npc": "did you mean ncp",
    "ranges --game kuhn2 --solver ncp(sense=min,of=P1)": "leave sense and of out",
    "ranges --resume nowhere": "nowhere holds no study",
    "ranges --resume begun --out there": "either --resume or --out",
    "qre --game kuhn3 --solver cfr": "cfr offers no `branch`",
    "qre --game kuhn3 --at 1e7": "beyond the end of the branch at 1e+06",
    "qre --game kuhn3 --solver logit(prior=random)": "--branches",
    "qre --game liars_dice": "log-odds",
    "qre --game kuhn3 --out .": "is not empty",
    "qre --game kuhn3 --to 0": "positive",
    "stability --game leduc": "--rest-points",
    "prove --game random(players=2,actions=2)": "rationals",
    "prove --game kuhn4": "--most-terms",
    "prove --game leduc3 --max-nodes 100": "--max-nodes",
    "stability --game skp --at high": "is not a number",
    "stability --game skp --out .": "is not empty",
    "stability --game kuhn2 --profile missing.json": "cannot read the profile",
    "stability --game kuhn2 --profile moves.json": "is not a rest point",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a trace that was begun, and files that are no starts."""
    cwd = tmp_path_factory.mktemp("place")
    StudyFolder.create(trace_study("arclength", 2, 6, at=(Fraction(10, 3),)), cwd / "begun")
    tree = eqbench.load_game("kuhn2").tree
    pure = BehaviorProfile.of(tree, [1.0, 0.0] + [0.5] * 22)
    for name, profile in (("pure", pure), ("moves", BehaviorProfile.uniform(tree))):
        (cwd / f"{name}.json").write_text(profile_text(tree, profile, "kuhn2"))
    (cwd / "words.txt").write_text("uniform")
    return cwd


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_done_is_refused_in_one_line_and_leaves_nothing(
    place: Path, line: str
) -> None:
    before = sorted(place.rglob("*"))
    done = eqbench_here(*line.split(), cwd=place, stdin="")
    assert (done.code, done.out) == (2, "")
    assert REFUSED[line] in done.err
    assert done.err.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in done.err
    assert sorted(place.rglob("*")) == before
