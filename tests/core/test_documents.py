"""What comes from outside is read against a declared type, from regular files of bounded size."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from eqbench.documents import check_plain, checked, convert, decode, read_file, size_text
from eqbench.errors import DocumentError, UsageError
from eqbench.text import cell_text, printable, printable_lines, seconds, shortened, small


@dataclass(frozen=True)
class Parcel:
    weight: float
    contents: list[str]


def test_document_of_its_type_is_read() -> None:
    assert decode('{"weight": 1, "contents": ["a"]}', Parcel) == Parcel(1.0, ["a"])
    assert convert({"weight": 1.5, "contents": []}, Parcel) == Parcel(1.5, [])


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", '{"weight": 1}', '{"weight": "1", "contents": []}'),
        *('{"weight": NaN, "contents": []}', '{"weight": 1e999, "contents": []}'),
        *('{"weight": true, "contents": []}', '{"weight": 1, "contents": ["\\ud800"]}'),
    ],
)
def test_document_of_another_type_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(DocumentError, match="damaged"):
        decode(text, Parcel, "the parcel")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(DocumentError, match="nested"):
        decode("[" * 10**5, list)


def test_decoders_are_made_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """msgspec crashes the process where two threads find out about a dataclass at once."""
    making, most = 0, 0
    make, both = msgspec.json.Decoder, threading.Barrier(2, timeout=60)

    def slowly(kind: Any) -> Any:
        nonlocal making, most
        making += 1
        most = max(most, making)
        threading.Event().wait(0.1)
        making -= 1
        return make(kind)

    def read(kind: Any) -> Any:
        both.wait()
        return decode("[]", kind)

    monkeypatch.setattr(msgspec.json, "Decoder", slowly)
    with ThreadPoolExecutor(2) as pool:
        kinds: list[Any] = [list[tuple[int, int, int]], list[tuple[str, str, str]]]
        assert list(pool.map(read, kinds)) == [[], []]
    assert most == 1


def nested(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"x": value}
    return value


def test_plain_values_have_64_bits_and_are_nested_up_to_32_deep() -> None:
    for value in ({"x": [2**63 - 1]}, [1 - 2**63], nested(31)):
        check_plain(value)
    for value, message in (
        ({"x": [2**63]}, "64 bits"),
        ([-(2**63)], "64 bits"),
        (nested(32), "32 deep"),
    ):
        with pytest.raises(ValueError, match=message):
            check_plain(value)


@pytest.mark.parametrize("beyond", [0, 1])
def test_file_may_be_as_large_as_allowed_and_no_larger(tmp_path: Path, beyond: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * (1024 + beyond))
    if beyond:
        with pytest.raises(OSError, match="KiB"):
            read_file(file, 1024)
    else:
        assert read_file(file, 1024) == b"x" * 1024


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "nothing"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    elif kind == "folder":
        file.mkdir()
    error = {"folder": IsADirectoryError, "nothing": FileNotFoundError}.get(kind, OSError)
    with pytest.raises(error) as caught:
        read_file(file)
    assert caught.value.strerror


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 bytes"),
        (1023, "1,023 bytes"),
        (1025, "1,025 bytes"),
        (1024, "1 KiB"),
        (2048, "2 KiB"),
        (2**20 + 2**10, "1025 KiB"),
        (3 * 2**20, "3 MiB"),
        (2**30, "1 GiB"),
    ],
)
def test_sizes_have_the_largest_whole_unit(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (2e-5, "20 µs"),
        (0.25, "250.0 ms"),
        (1.0, "1.0 s"),
        (100.0, "100 s"),
        (9.996e-4, "1.0 ms"),
        (9.994e-4, "999 µs"),
        (0.99996, "1.0 s"),
        (99.97, "100 s"),
    ],
)
def test_durations_have_a_unit_of_their_size(value: float | None, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-1e-12, "0"), (-1e-3, "-1.0e-03"), (2e-11, "2.0e-11")]
)
def test_regret_that_rounds_to_less_than_nothing_is_0(value: float, text: str) -> None:
    assert small(value) == text


def test_refused_argument_names_all_that_is_allowed() -> None:
    @checked
    def weigh(weight: float | None = None) -> float | None:
        return weight

    assert [weigh(), weigh(1)] == [None, 1]
    with pytest.raises(UsageError, match="a number or None"):
        weigh("heavy")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Jack ♠ é\u00a0x", "Jack ♠ é\u00a0x"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\x9bb\x00", "a\\x9bb\\x00"),
        ("\u202eabc", "\\u202eabc"),
        ("a\nb\tc\u2028d", "a b c d"),
        ("\ud800", "\\ud800"),
    ],
)
def test_only_what_can_be_read_is_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_text_is_cut_and_says_so() -> None:
    assert shortened("x" * 300) == "x" * 300
    cut = shortened("x" * 301)
    assert len(cut) == 300
    assert cut.endswith("… (301 characters)")


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+cmd", "@SUM(1)", "=", " =1", "\t-1"])
def test_what_a_spreadsheet_would_compute_gets_an_apostrophe(text: str) -> None:
    assert cell_text(text) == f"'{printable(text)}"


@pytest.mark.parametrize("text", ["", "1-1", "a=b", "'=1", "kuhn2"])
def test_other_text_is_left_as_it_is_for_spreadsheets(text: str) -> None:
    assert cell_text(text) == text


def test_lines_are_made_printable_one_by_one() -> None:
    assert printable_lines("a\x1b\nb\r\nc\rd\u202e") == "a\\x1b\nb\r\nc d\\u202e"
