"""Whatever is in a line of a run's folder, every reader reads on and the neighbors are there."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.pages import (
    DAMAGED,
    FIRST,
    LAST,
    damaged,
    fits,
    full_record,
    places,
    read_everything,
    run_with_line,
)
from helpers.runs import cell, write_run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemas import schema_text

import eqbench
from eqbench.errors import DocumentError, UsageError
from eqbench.store.json_lines import MOST_LINE_BYTES, LineReader
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord

SCHEMA = json.loads(schema_text("record"))


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


OTHERS = (
    st.sampled_from(
        [
            *(
                None,
                True,
                False,
                0,
                1,
                -1,
                3,
                0.5,
                -1e308,
                1e308,
                math.nan,
                math.inf,
                2**63,
                10**30,
            ),
            *(
                "",
                "x",
                "ok",
                "01",
                "\ud800",
                "\x1b[31m[/red]\u202e",
                "1/0",
                "9" * 5000,
                "é" * 70_000,
            ),
            *("../../x", "/dev/zero", "traces/../../x", "a\x00b", "kuhn(", "cluster:1", "skp:x9y"),
            *([], [None], [0.1, 0.2], [0.1, 0.2, 0.3], ["a"], {}, {"a": 1}, {"name": "x"}),
            *(nested(3), nested(40), nested(500)),
        ]
    )
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
)


def replaced(other: Any) -> Callable[[Any, Any], None]:
    return lambda container, key: container.__setitem__(key, other)


def added(other: Any) -> Callable[[Any, Any], None]:
    def add(container: Any, key: Any) -> None:
        if isinstance(container, dict):
            container["unknown"] = other
        else:
            container.append(other)

    return add


def deleted(container: Any, key: Any) -> None:
    del container[key]


DAMAGES = OTHERS.map(replaced) | OTHERS.map(added) | st.just(deleted)


def is_valid(line: bytes) -> bool:
    try:
        CellRecord.of_line(line)
    except DocumentError:
        return False
    return True


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damaged_record_is_left_out_with_a_note_or_is_valid(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        plain = full_record(path).to_json()
        way = data.draw(st.sampled_from(list(places(plain))))
        value = damaged(plain, way, data.draw(DAMAGES))
        line = json.dumps(value).encode()
        run = read_everything(run_with_line(path, line))
        keys = [each.key for each in run.cells]
        assert {FIRST, LAST} <= set(keys)
        if is_valid(line):
            assert fits(value, SCHEMA)
            assert not run.notes
        else:
            assert DAMAGED not in keys
            assert "left out: 2" in run.notes[0]


def test_full_record_is_read_back_and_fits_its_schema(tmp_path: Path) -> None:
    record = full_record(tmp_path)
    assert fits(record.to_json(), SCHEMA)
    assert CellRecord.of_line(record.to_line()) == record
    assert read_everything(run_with_line(tmp_path, record.to_line())).missing == 0


def field(name: str, other: Any) -> Callable[[Path], bytes]:
    return lambda path: json.dumps(full_record(path).to_json() | {name: other}).encode()


@pytest.mark.parametrize(
    "line",
    [
        lambda path: b"[" * 100_000,
        lambda path: b'{"key": "' + b"x" * (MOST_LINE_BYTES + 5) + b'"}',
        lambda path: full_record(path).to_line()[:-20],
        lambda path: b"\xff\xfe",
        lambda path: b"",
        lambda path: b"null",
        *(field("status", other) for other in ("excellent", 5, ["ok"])),
        *(field("max_regret", other) for other in ("tiny", math.nan, math.inf)),
        *(field("elapsed_s", other) for other in ("long", -1.0)),
        *(field("iterations", other) for other in ("many", 10**30, 1.5)),
        *(field("seed", other) for other in ("zero", [0])),
        *(field("payoffs", other) for other in ("x", [1.0], [0.5, None], [])),
        *(field("key", other) for other in (["02"], "", "x" * 101, None)),
        *(field(name, other) for name in ("game", "solver", "game_spec") for other in (None, 5)),
        *(field("statistics", other) for other in ([], "x", {"n": 10**30}, {"a": nested(40)})),
        *(field("peak_memory_bytes", other) for other in ("x", -1)),
        *(field("trace", other) for other in (5, "/etc/passwd", "traces/../../x", "")),
        *(field("equilibria", other) for other in (None, [None], [{}], {})),
        *(field("target", other) for other in ("x", [1])),
        field("mood", "good"),
    ],
)
def test_line_that_no_reader_takes_is_left_out_with_a_note(
    tmp_path: Path, line: Callable[[Path], bytes]
) -> None:
    run = read_everything(run_with_line(tmp_path, line(tmp_path)))
    assert [each.key for each in run.cells] == [FIRST, LAST]
    assert run.missing == 1
    assert len(run.notes) == 1
    assert run.notes[0].isprintable()
    assert len(run.notes[0]) < 1000


@pytest.mark.parametrize(
    "changes",
    [
        {"elapsed_s": math.nan},
        {"reason": "x" * MOST_LINE_BYTES},
    ],
)
def test_nothing_that_a_reader_would_leave_out_is_written(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    folder = RunFolder.open(write_run(tmp_path / "run", cell(FIRST)))
    before = (folder.path / "runs.jsonl").read_bytes()
    with pytest.raises((DocumentError, ValueError)):
        folder.append(cell(LAST, **changes))
    assert (folder.path / "runs.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "name", ["interrupted.jsonl", "resumed.jsonl", "clusters.json", "completeness.json"]
)
@pytest.mark.parametrize("content", [b"[]\n", b"\xff\n", b"[" * 100_000 + b"\n", None])
def test_damaged_file_beside_the_records_costs_only_itself(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    path = write_run(tmp_path / "run", cell(FIRST), cell(LAST, solver="cfr"))
    if content is None:
        os.mkfifo(path / name)
    else:
        (path / name).write_bytes(content)
    run = read_everything(path)
    assert [each.key for each in run.cells] == [FIRST, LAST]
    assert len(run.notes) == 1
    assert name in run.notes[0]


def make_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def link_to_zeros(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "damage",
    [
        make_fifo,
        link_to_zeros,
        Path.unlink,
        lambda file: file.write_bytes(b"PK"),
        lambda file: file.write_bytes(b""),
        lambda file: os.truncate(file, 2**30),
    ],
)
def test_trace_that_cannot_be_read_costs_only_its_curve(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    record = full_record(tmp_path)
    run_with_line(tmp_path, record.to_line())
    damage(tmp_path / f"{record.trace}")
    assert read_everything(tmp_path).missing == 0
    with pytest.warns(UserWarning, match="curve"):
        assert set(eqbench.load_run(tmp_path).frame("traces")["key"]) == {FIRST}


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "eqbench.run/1", "cells": [""], "request": {"timeout_s": 1}}',
        '{"schema": "eqbench.run/1", "cells": [], "request": {"timeout_s": "1"}}',
        '{"schema": "eqbench.run/1", "cells": [], "request": {"timeout_s": 1, "target": []}}',
        '{"schema": "eqbench.run/1", "cells": [], "request": {"timeout_s": 1}, "environment": 3}',
        '{"schema": ' + "[" * 100_000,
        "[]",
    ],
)
def test_damaged_manifest_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match="restore") as caught:
        read_everything(tmp_path)
    assert len(str(caught.value)) < 1000


def test_damaged_lines_do_not_hide_what_is_appended_behind_them(tmp_path: Path) -> None:
    path = run_with_line(tmp_path, b"x" * (2 * MOST_LINE_BYTES))
    folder = RunFolder.open(path)
    reader = LineReader(folder.path / "runs.jsonl", CellRecord.of_line)
    assert [each.key for each in reader.new()] == [FIRST, LAST]
    folder.append(cell(DAMAGED))
    assert [each.key for each in reader.new()] == [DAMAGED]
    assert [damage.line for damage in reader.damaged] == [2]
