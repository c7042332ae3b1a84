"""Messages between child and parent survive any cutting and refuse garbage."""

from __future__ import annotations

import numpy as np
import pytest

from eqbench.harness.frames import Frame, FrameDecoder, encode

FRAMES = [
    Frame("ready"),
    Frame("snapshot", {"work": 3, "text": "ä"}, {"profile": np.linspace(0, 1, 7)}),
    Frame("done", {"x": None}, {"a": np.arange(6, dtype=np.int32).reshape(2, 3), "b": np.ones(0)}),
]


@pytest.mark.parametrize("size", [1, 3, 17, 10_000])
def test_frames_survive_being_cut_anywhere(size: int) -> None:
    data = b"".join(map(encode, FRAMES))
    decoder = FrameDecoder()
    received = []
    for start in range(0, len(data), size):
        received += decoder.feed(data[start : start + size])
    assert [frame.kind for frame in received] == ["ready", "snapshot", "done"]
    for sent, got in zip(FRAMES, received, strict=True):
        assert got.fields == sent.fields
        for name, array in sent.arrays.items():
            assert np.array_equal(got.arrays[name], array)
            assert got.arrays[name].dtype == array.dtype
            assert got.arrays[name].shape == array.shape


def test_torn_frame_is_not_delivered() -> None:
    data = encode(FRAMES[1])
    assert list(FrameDecoder().feed(data[:-1])) == []


def test_garbage_is_refused() -> None:
    with pytest.raises(ValueError, match="garbled"):
        list(FrameDecoder().feed(b"print('hello') from some solver"))


@pytest.mark.parametrize(
    "fields", [{"work": "many"}, {"overhead_s": float("nan")}, {"memory_bytes": True}, None]
)
def test_message_with_a_clock_that_is_no_number_is_refused(fields) -> None:
    with pytest.raises(ValueError, match="garbled"):
        list(FrameDecoder().feed(encode(Frame("done", fields))))


def test_message_that_announces_an_absurd_size_is_refused_at_once() -> None:
    prefix = b"EQB1" + (10).to_bytes(4, "little") + (2**60).to_bytes(8, "little")
    with pytest.raises(ValueError, match="garbled"):
        list(FrameDecoder().feed(prefix))
