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

from eqbench.documents import LARGEST, check_plain, convert, decode, read_file, size_text
from eqbench.errors import DocumentError
from eqbench.text import printable, shortened


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
    with pytest.raises(DocumentError, match="the parcel is damaged"):
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


@pytest.mark.parametrize(("largest", "refused"), [(LARGEST, False), (LARGEST + 1, True)])
def test_integers_in_plain_values_have_64_bits(largest: int, *, refused: bool) -> None:
    for value in ({"x": [largest]}, [-largest]):
        if refused:
            with pytest.raises(ValueError, match="64 bits"):
                check_plain(value)
        else:
            check_plain(value)


@pytest.mark.parametrize(("depth", "refused"), [(31, False), (32, True)])
def test_plain_values_are_nested_up_to_32_deep(depth: int, *, refused: bool) -> None:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"x": value}
    if refused:
        with pytest.raises(ValueError, match="32 deep"):
            check_plain(value)
    else:
        check_plain(value)


@pytest.mark.parametrize("beyond", [0, 1])
def test_file_may_be_as_large_as_allowed_and_no_larger(tmp_path: Path, beyond: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * (1024 + beyond))
    if beyond:
        with pytest.raises(OSError, match="more than 1 KiB"):
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
    with pytest.raises(OSError) as caught:  # noqa: PT011
        read_file(file)
    assert caught.value.strerror


@pytest.mark.parametrize(
    ("size", "text"), [(1, "1 bytes"), (2048, "2 KiB"), (3 * 2**20, "3 MiB"), (2**30, "1 GiB")]
)
def test_sizes_have_the_largest_whole_unit(size: int, text: str) -> None:
    assert size_text(size) == text


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
