"""Files of one JSON value per line: whole lines only, whatever the disk and the file are like."""

from __future__ import annotations

import errno
import json
import os
import stat
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from eqbench.errors import DocumentError
from eqbench.store import json_lines
from eqbench.store.json_lines import LineReader, append_line


def parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise DocumentError(f"it is not JSON: {error}") from None


def reader_of(path: Path, *lines: bytes) -> LineReader[Any]:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return LineReader(path, parsed)


def test_line_that_the_disk_takes_in_part_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_line(tmp_path / "lines", b"1")
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[: len(data) // 2]))
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        append_line(tmp_path / "lines", b"123456")
    assert (tmp_path / "lines").read_bytes() == b"1\n"


def test_file_can_be_read_by_others_and_written_by_its_owner(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        append_line(tmp_path / "lines", b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "lines").stat().st_mode) == 0o644


@pytest.mark.parametrize("size", [0, 1, 10, 40, 100])
def test_torn_tail_of_any_length_is_cut_off(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "_BLOCK_BYTES", 8)
    (tmp_path / "lines").write_bytes(b"1\n22\n" + b"3" * size)
    append_line(tmp_path / "lines", b"4")
    assert (tmp_path / "lines").read_bytes() == b"1\n22\n4\n"
    (tmp_path / "torn").write_bytes(b"3" * size)
    append_line(tmp_path / "torn", b"4")
    assert (tmp_path / "torn").read_bytes() == b"4\n"
    (tmp_path / "empty line").write_bytes(b"\n" + b"3" * size)
    append_line(tmp_path / "empty line", b"4")
    assert (tmp_path / "empty line").read_bytes() == b"\n4\n"


def test_line_is_as_long_as_readers_take_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "MOST_LINE_BYTES", 10)
    file = tmp_path / "lines"
    append_line(file, b"123456789")
    with pytest.raises(DocumentError, match="bytes"):
        append_line(file, b"1234567890")
    with file.open("ab") as lines:
        lines.write(b"1234567890\n" + b"2" * 3000 + b"\n7\n")
    reader = LineReader(file, parsed)
    assert list(reader.new()) == [123456789, 7]
    assert [damage.line for damage in reader.damaged] == [2, 3]
    assert "10 bytes" in reader.damaged[0].reason


def test_longest_line_is_that_of_the_documentation() -> None:
    assert json_lines.MOST_LINE_BYTES == 16 * 2**20


def test_new_lines_are_read_when_they_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    reader = LineReader(file, parsed)
    assert list(reader.new()) == []
    append_line(file, b"1")
    assert list(reader.new()) == [1]
    with file.open("ab") as lines:
        lines.write(b"2")
        lines.flush()
        assert list(reader.new()) == []
        lines.write(b"3\n4\n")
    assert list(reader.new()) == [23, 4]
    assert list(reader.new()) == []


def test_note_counts_and_names_the_first_lines_that_are_left_out(tmp_path: Path) -> None:
    reader = reader_of(tmp_path / "lines", b"1", b"x", b"2")
    assert (list(reader.new()), len(reader.damaged)) == ([1, 2], 1)
    note = reader.note()
    assert note is not None
    assert note.startswith(f"1 line of {tmp_path / 'lines'} cannot be read and is left out: 2; ")
    assert "not JSON" in note

    reader = reader_of(tmp_path / "more", b"x", b"1", *[b"x"] * 7)
    assert list(reader.new()) == [1]
    note = reader.note()
    assert note is not None
    assert "8 lines" in note
    assert "and 3 more" in note


def test_reader_gives_up_a_file_of_nothing_but_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "_MOST_DAMAGED", 3)
    reader = reader_of(tmp_path / "lines", b"x", b"1", b"x", b"x", b"2")
    assert list(reader.new()) == [1]
    assert "not read" in str(reader.note())
    reader = reader_of(tmp_path / "fewer", b"x", b"1", b"x", b"2")
    assert list(reader.new()) == [1, 2]
    assert "what follows" not in str(reader.note())


def test_what_is_no_file_is_neither_written_nor_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(OSError, match="regular"):
            append_line(path, b"1")
        with pytest.raises(OSError, match="regular"):
            list(LineReader(path, parsed).new())


@pytest.mark.parametrize(
    ("number", "content"), [(errno.ENOLCK, b"1\n"), (errno.ENOTSUP, b"1\n"), (errno.EIO, b"")]
)
def test_lines_are_written_where_there_are_no_locks_but_not_where_locks_fail(
    number: int, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    with nullcontext() if content else pytest.raises(OSError, match=os.strerror(number)):
        append_line(tmp_path / "lines", b"1")
    assert (tmp_path / "lines").read_bytes() == content
