"""`eqbench reproduce` on the shortest of its sources."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from helpers.command import PATIENCE_S, Ended, eqbench, eqbench_here, started, wait_for

from eqbench.studies.frame import held

SOURCE = "encyclopedia"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The article, in the folder ``page``."""
    return eqbench("reproduce", SOURCE, "--out", "page", cwd=tmp_path_factory.mktemp("place"))


def claims(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (source,) = document["sources"]
    return {claim["row"]: claim for part in source["parts"] for claim in part["claims"]}


def test_each_row_names_jobs_whose_command_and_run_are_there(first: Ended) -> None:
    page = first.folder / "page"
    (source,) = json.loads((page / "summary.json").read_text())["sources"]
    jobs = {job["name"]: job for job in source["jobs"]}
    for claim in claims({"sources": [source]}).values():
        assert claim["jobs"] or claim["verdict"] == "not_attempted"
        for name in claim["jobs"]:
            assert (page / jobs[name]["run"]).exists()
            assert jobs[name]["command"].startswith("eqbench ")
    errors = first.out.partition("error in the source (3)")[2]
    assert "range of β" in errors.partition("not attempted")[0]


def test_the_pages_have_what_is_read_and_load_nothing(first: Ended) -> None:
    page = first.folder / "page"
    text = (page / "encyclopedia.html").read_text()
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text
    assert "data:image/svg+xml;base64," in text
    assert 'href="encyclopedia.html"' in (page / "index.html").read_text()
    assert (page / "claims.csv").read_text().count("\n") == 39
    assert re.search(r"\| value for player 1 +\| -1/18 ", (page / "report.md").read_text())
    linked = re.findall(r'id="(encyclopedia-\d+)"', text)
    assert sorted(linked) == sorted(f"{SOURCE}-{k}" for k in range(1, 39))


def test_resuming_reads_verdicts_anew_and_runs_only_what_is_missing(first: Ended) -> None:
    jobs = first.folder / "page" / "jobs" / SOURCE
    family = jobs / "two_player_family" / "summary.json"
    changed = json.loads(family.read_text())
    changed["members"][1]["max_regret"] = "1/100"
    whole = family.read_text()
    family.write_text(json.dumps(changed))
    again = eqbench_here(
        *("reproduce", "--resume", "page", "--json", "--again", "two_player_tree"), cwd=first.folder
    )
    family.write_text(whole)
    assert again.code == 0, again.err
    assert claims(again.json)["α, bet with J"]["verdict"] == "differs"
    ran = [line.split()[1] for line in again.err.splitlines() if line.endswith(" s")]
    assert ran == ["encyclopedia/two_player_tree"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("szafon",), "did you mean szafron"),
        ((SOURCE, "--job", "two_player_tre"), "did you mean two_player_tree"),
        ((SOURCE, "--out", "page"), "page is not empty"),
        (("--resume", "nowhere"), "nowhere holds no study"),
        (("--resume", "page", "--full"), "this study was begun with --full"),
        (("--resume", "page", "--out", "other"), "either --resume or --out"),
        (("szafron", "--resume", "page"), "begin a new study"),
    ],
)
def test_mistakes_are_refused_with_what_is_allowed(
    first: Ended, arguments: tuple[str, ...], message: str
) -> None:
    ended = eqbench_here("reproduce", *arguments, cwd=first.folder)
    assert ended.code == 2
    assert message in ended.err


def test_a_folder_in_use_is_refused(first: Ended) -> None:
    with held(first.folder / "page", "reproduce"):
        ended = eqbench_here("reproduce", "--resume", "page", cwd=first.folder)
    assert ended.code == 2
    assert "another" in ended.err


def test_ended_by_a_signal_it_leaves_no_job_behind_and_can_go_on(tmp_path: Path) -> None:
    job = tmp_path / "page" / "jobs" / SOURCE / "two_player_equilibria"
    with started("reproduce", SOURCE, "--out", "page", cwd=tmp_path) as process:
        assert wait_for(job.exists)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "--resume" in said
    left = [p for p in psutil.process_iter(["cmdline"]) if str(job) in (p.info["cmdline"] or [])]
    assert not left


def test_jobs_are_listed_without_running_anything(tmp_path: Path) -> None:
    ended = eqbench_here("reproduce", SOURCE, "--list", cwd=tmp_path)
    assert ended.code == 0
    assert "kuhn2" in ended.out
    assert not list(tmp_path.iterdir())


def test_what_rests_on_a_job_that_is_run_again_is_run_again(tmp_path: Path) -> None:
    """Also on one that runs alone, hence after all others."""
    paper = tmp_path / "toy"
    paper.mkdir()
    jobs = (("first", "alone = true"), ("second", "needs = ['first']"))
    tables = [f"[[job]]\nname = '{n}'\ncompute = 'compute:nothing'\n{more}\n" for n, more in jobs]
    (paper / "paper.toml").write_text("citation = 'Toy'\n[[part]]\ntitle = 'A'\n" + "".join(tables))
    (paper / "claims.csv").write_text("part,row,column,printed,fact,check,evidence,note\n")
    (paper / "facts.py").write_text("")
    (paper / "compute.py").write_text("def nothing(folder, jobs, *, full):\n    return {}\n")
    assert eqbench("reproduce", "--paper", "toy", "--out", "page", cwd=tmp_path).code == 0
    again = eqbench("reproduce", "--resume", "page", "--again", "first", cwd=tmp_path)
    assert again.code == 0, again.err
    assert "toy/second" in again.err
