"""Messages from child to parent: JSON of declared types, never pickles.

A frame is a line with a document of one of the types in `Message`, distinguished by `kind`. What a
plugin has put into it or written into the pipe by mistake is refused where it fits none of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from eqbench.documents import Count, Seconds, check_plain, decode, size_text
from eqbench.errors import DocumentError
from eqbench.model.trembles import LARGEST_ORDER, Trembles
from eqbench.solver import Claim, Ending

MOST_TEXT = 20_000  # characters of a message or a traceback
MOST_BYTES = 256 * 2**20  # of a document

Text = Annotated[str, msgspec.Meta(max_length=MOST_TEXT)]
# A power of ten could take forever to write out.
FractionText = Annotated[str, msgspec.Meta(pattern=r"^-?\d{1,4000}(/\d{1,4000})?$")]

Bound = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]
Order = Annotated[int, msgspec.Meta(ge=1, le=LARGEST_ORDER)]
Weight = (
    Annotated[float, msgspec.Meta(gt=0, le=sys.float_info.max)]
    | Annotated[str, msgspec.Meta(pattern=r"^[1-9]\d{0,399}(/[1-9]\d{0,399})?$")]
)


class Clocks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Clocks of a solver in seconds, and its iterations so far, as the monitor has them."""

    elapsed_s: Seconds
    cpu_s: Seconds
    overhead_s: Seconds
    work: Count


class Frame(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag=lambda name: name.removesuffix("Frame").lower(),
):
    """A message of a child; the subclasses say which there are."""

    @property
    def kind(self) -> str:
        """Name of its type in the document."""
        return str(self.__struct_config__.tag)


class ReadyFrame(Frame, frozen=True):
    """Set-up is over, the clock starts."""


class CompilingFrame(Frame, frozen=True):
    """A kernel is being compiled, which no limit is meant for."""

    kernel: Text


class AgainFrame(Frame, frozen=True):
    """Kernels were compiled; the job is to be done once more, since this ended it."""


class ProfileFrame(Frame, frozen=True):
    """A profile with a claim; `profile` holds its frequencies as little-endian float64."""

    claim: Claim
    claimed_regret: Bound | None
    exact: list[FractionText] | None
    profile: bytes
    clocks: Clocks

    def __post_init__(self) -> None:
        if len(self.profile) % 8:
            raise ValueError("the bytes of a profile are no float64")

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Frequencies as they were sent, float64 of any length; nothing is checked yet."""
        return np.frombuffer(self.profile, dtype="<f8")


class SnapshotFrame(ProfileFrame, frozen=True):
    """Where a method stands."""


class TremblesMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Orders and weights of trembles, for each action one; a text is a fraction."""

    order: list[Order]
    weight: list[Weight]

    @classmethod
    def of(cls, trembles: Trembles) -> TremblesMessage:
        """The message that tells trembles."""
        weights = np.asarray(trembles.weight).tolist()
        texts = [str(value) if isinstance(value, Fraction) else value for value in weights]
        return cls(np.asarray(trembles.order).tolist(), texts)

    def trembles(self) -> Trembles:
        """The trembles; with Fractions if any weight is one."""
        weight: NDArray = np.array(self.weight, dtype=object)
        if any(isinstance(value, str) for value in self.weight):
            weight[:] = list(map(Fraction, self.weight))
        else:
            weight = weight.astype(np.float64)
        return Trembles(np.array(self.order, dtype=np.int64), weight)


class CandidateFrame(ProfileFrame, frozen=True):
    """What a method hands over."""

    trembles: TremblesMessage | None = None


class JointFrame(Frame, frozen=True):
    """Joint play; `profiles` (K, A) and `weights` (K,) are little-endian float64."""

    profiles: bytes
    weights: bytes
    iterations: Count

    def __post_init__(self) -> None:
        if len(self.weights) % 8 or not self.weights or len(self.profiles) % len(self.weights):
            raise ValueError(
                "joint play needs float64 weights, and equally many frequencies for each"
            )


class _Figures(Frame, frozen=True):
    """An end of solving, with the figures of the method and the resident memory then."""

    clocks: Clocks | None = None
    statistics: dict[str, Any] = {}
    memory_bytes: Count = 0

    def __post_init__(self) -> None:
        check_plain(self.statistics)


class DoneFrame(_Figures, frozen=True, kw_only=True):
    """`solve` returned a termination."""

    reason: Ending
    detail: Text


class ErrorFrame(_Figures, frozen=True, kw_only=True):
    """An exception ended the job; before solving it has no clocks."""

    type: Text
    message: Text
    traceback: Text
    usage: bool
    memory: bool
    unavailable: bool


class RefusedFrame(Frame, frozen=True):
    """The solver cannot run here, or not on this game."""

    status: Literal["unsupported", "unavailable"]
    reason: Text


class DescribedFrame(Frame, frozen=True):
    """What a solver is, and how its plugin presents itself."""

    spec: Text
    deterministic: bool
    frozen: bool
    undocumented: list[Text]


class BuiltFrame(Frame, frozen=True):
    """A game is in its folder."""

    spec: Text
    expected_nodes: Count | None
    frozen: bool
    undocumented: list[Text]


# end a job
LastFrame = DoneFrame | ErrorFrame | RefusedFrame | DescribedFrame | BuiltFrame | AgainFrame
Message = ReadyFrame | CompilingFrame | SnapshotFrame | CandidateFrame | JointFrame | LastFrame


def text(value: object) -> str:
    """Text that a frame can hold: bounded, and without lone surrogates."""
    return (
        str(value)[:MOST_TEXT].encode(errors="backslashreplace")[:MOST_TEXT].decode(errors="ignore")
    )


def encode(frame: Frame) -> bytes:
    """Return the bytes of a frame."""
    return msgspec.json.encode(frame) + b"\n"


def write_frame(descriptor: int, frame: Frame) -> None:
    """Write a whole frame to a pipe; block until the other side has taken it."""
    data = memoryview(encode(frame))
    while data:
        data = data[os.write(descriptor, data) :]


class FrameDecoder:
    """Turns bytes, cut anywhere, back into frames of at most `most_bytes`."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete with `data`.

        Raises
        ------
        DocumentError
            If a line fits none of the types, for example because a solver wrote it.
        """
        self._buffer += data
        if len(self._buffer) > self._most:
            raise DocumentError(f"a message has more than {size_text(self._most)}")
        if b"\n" not in data:
            return
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            yield decode(bytes(line), Message, "a message")  # type: ignore[arg-type]
