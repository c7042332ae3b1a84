"""Messages between child and parent survive any cutting and refuse whatever fits no type."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.runs import CLOCKS, candidate
from hypothesis import given
from hypothesis import strategies as st

from eqbench.errors import DocumentError
from eqbench.isolation.messages import (
    MOST_TEXT,
    BuiltFrame,
    CandidateFrame,
    DescribedFrame,
    DoneFrame,
    ErrorFrame,
    Frame,
    FrameDecoder,
    ReadyFrame,
    RefusedFrame,
    TremblesMessage,
    encode,
    text,
)
from eqbench.model.trembles import Trembles

FRAMES: list[Frame] = [
    ReadyFrame(),
    candidate(np.linspace(0, 1, 7), exact=["1/3", "-2", "0"], claimed_regret=0.5),
    DoneFrame(reason="limit", detail="ä", clocks=CLOCKS, statistics={"x": [None, {"y": 1.5}]}),
    ErrorFrame(type="T", message="m", traceback="t", usage=False, memory=False, unavailable=True),
    RefusedFrame("unsupported", "too many players"),
    DescribedFrame("s(x=1)", deterministic=True, frozen=True, undocumented=["x"]),
    BuiltFrame("g", expected_nodes=None, frozen=True, undocumented=[]),
    candidate(np.ones(2), trembles=TremblesMessage([1, 2**20], [0.5, "22/7"])),
]


def trembles(**changes: Any) -> dict[str, Any]:
    return {"trembles": {"order": [1, 1], "weight": [1.0, "1/2"]} | changes}


def documents() -> list[dict[str, Any]]:
    return [json.loads(encode(frame)) for frame in FRAMES]


def received(document: bytes) -> list[Frame]:
    return list(FrameDecoder().feed(document + b"\n"))


@pytest.mark.parametrize("size", [1, 3, 17, 10_000])
def test_frames_survive_being_cut_anywhere(size: int) -> None:
    data = b"".join(map(encode, FRAMES))
    decoder = FrameDecoder()
    arrived: list[Frame] = []
    for start in range(0, len(data), size):
        arrived += decoder.feed(data[start : start + size])
    assert arrived == FRAMES
    assert arrived[1].frequencies.tolist() == np.linspace(0, 1, 7).tolist()


def test_trembles_arrive_as_they_were_handed_over() -> None:
    order = np.array([1, 3])
    for weight in (np.array([0.1, 2e-9]), np.array([Fraction(1, 3), Fraction(2)], dtype=object)):
        sent = candidate(np.ones(2), trembles=TremblesMessage.of(Trembles(order, weight)))
        (arrived,) = FrameDecoder().feed(encode(sent))
        assert isinstance(arrived, CandidateFrame)
        assert arrived.trembles is not None
        made = arrived.trembles.trembles()
        assert made.order.tolist() == order.tolist()
        assert made.weight.tolist() == weight.tolist()
        assert made.weight.dtype == weight.dtype


def test_torn_frame_is_not_delivered() -> None:
    assert list(FrameDecoder().feed(encode(FRAMES[1])[:-1])) == []


@pytest.mark.parametrize("beyond", [0, 1])
def test_document_has_at_most_so_many_bytes(beyond: int) -> None:
    frame = encode(FRAMES[2])
    decoder = FrameDecoder(most_bytes=len(frame) - beyond)
    if beyond:
        with pytest.raises(DocumentError, match="more than"):
            list(decoder.feed(frame))
    else:
        assert list(decoder.feed(frame)) == [FRAMES[2]]


DAMAGES: dict[str, tuple[int, dict[str, Any]]] = {
    "unknown kind": (0, {"kind": "finished"}),
    "unknown field": (0, {"more": 1}),
    "claim of another kind": (1, {"claim": "best"}),
    "exact that is a number": (1, {"exact": 3}),
    "fraction with a power of ten": (1, {"exact": ["1e400000000"]}),
    "fraction that is too long": (1, {"exact": ["1" * 4001]}),
    "claimed regret that is a text": (1, {"claimed_regret": "0"}),
    "profile of broken bytes": (1, {"profile": "AAAA"}),
    "clock that runs backwards": (
        *(2,),
        {"clocks": {"elapsed_s": -1.0, "cpu_s": 0, "overhead_s": 0, "work": 1}},
    ),
    "work beyond 64 bits": (
        *(2,),
        {"clocks": {"elapsed_s": 1.0, "cpu_s": 0, "overhead_s": 0, "work": 2**63}},
    ),
    "statistics that are a list": (2, {"statistics": [1]}),
    "statistics without end": (2, {"statistics": json.loads("[" * 40 + "]" * 40)}),
    "reason that is no ending": (2, {"reason": "ok"}),
    "memory that is true": (2, {"memory_bytes": True}),
    "message without end": (3, {"message": "x" * (MOST_TEXT + 1)}),
    "status that is no refusal": (4, {"status": "ok"}),
    "trembles that are a list": (7, {"trembles": [1, 2]}),
    "trembles of the order 0": (7, trembles(order=[0, 1])),
    "trembles of a huge order": (7, trembles(order=[2**20 + 1, 1])),
    "trembles of no weight": (7, trembles(weight=[0.0, 1])),
    "trembles of weight nan": (7, trembles(weight=[None, 1])),
    "trembles over nothing": (7, trembles(weight=["1/0", 1])),
    "trembles of weights alone": (7, {"trembles": {"weight": [1.0]}}),
    "snapshot with trembles": (7, {"kind": "snapshot"}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_document_that_fits_no_type_is_refused(damage: str) -> None:
    place, change = DAMAGES[damage]
    with pytest.raises(DocumentError):
        received(json.dumps(documents()[place] | change).encode())


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"[]",
        b"progress: 10 %",
        b'{"kind":"ready"',
        b'{"kind":"ready"}x',
        b"\xff",
        b"[" * 10**5,
    ],
)
def test_what_is_no_document_is_refused(document: bytes) -> None:
    with pytest.raises(DocumentError):
        received(document)


def test_document_that_lacks_a_field_is_refused() -> None:
    optional = {"clocks", "statistics", "memory_bytes", "trembles"}
    for document in documents():
        for name in document.keys() - optional:
            rest = {key: value for key, value in document.items() if key != name}
            with pytest.raises(DocumentError):
                received(json.dumps(rest).encode())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=5,
)


@given(st.data())
def test_damaged_field_is_refused_or_as_good_as_before(data: st.DataObject) -> None:
    """What is let through can be sent again and arrives as the same."""
    document = data.draw(st.sampled_from(documents()))
    document[data.draw(st.sampled_from(sorted(document)))] = data.draw(json_values)
    try:
        (frame,) = received(json.dumps(document).encode())
    except DocumentError:
        return
    assert received(encode(frame)[:-1]) == [frame]
    for value in (getattr(frame, name) for name in frame.__struct_fields__):
        json.dumps(value if isinstance(value, dict) else str(value), allow_nan=False)


@pytest.mark.parametrize("value", ["x" * 10**6, "\ud800" * MOST_TEXT, "ä" * MOST_TEXT, 7])
def test_any_value_becomes_a_text_that_a_frame_can_hold(value: object) -> None:
    frame = RefusedFrame("unsupported", text(value))
    assert list(FrameDecoder().feed(encode(frame))) == [frame]
