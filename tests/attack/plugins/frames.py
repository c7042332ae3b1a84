"""A solver that writes into the pipe to the run itself."""

import os
from dataclasses import dataclass

import numpy as np
from attack.hostile import CLOCKS, ENDING, Hostile, done, ends, frame, handed, prefixed, write

import eqbench
from eqbench.solver import Termination


@eqbench.register_solver("frames")
@dataclass(frozen=True)
class Frames(Hostile):
    """Attacks by raw messages."""


def last(*messages):
    """Write messages and end at once, so that they are the last word."""
    for message in messages:
        write(message)
    os._exit(0)


@ends("limit", quick=True)
def honest_by_hand(game, monitor):
    """No attack: it shows that messages by hand arrive."""
    last(handed(game), done())


@ends("crashed")
def bytes_at_random(game, monitor):
    write(np.random.default_rng(0).bytes(5000))


@ends("crashed")
def header_that_is_no_json(game, monitor):
    last(prefixed(b"{"))


@ends("crashed")
def header_that_is_no_object(game, monitor):
    last(prefixed(b"[1, 2]"))


@ends("crashed", quick=True)
def header_deep(game, monitor):
    last(prefixed(b"[" * 200_000 + b"]" * 200_000))


@ends("crashed")
def header_fields_deep(game, monitor):
    deep = b"[" * 100_000 + b"]" * 100_000
    last(prefixed(b'{"kind": "done", "arrays": [], "fields": {"statistics": ' + deep + b"}}"))


@ends("crashed")
def header_not_utf8(game, monitor):
    last(prefixed(b'{"kind": "\xff\xfe", "fields": {}, "arrays": []}'))


@ends("crashed")
def header_announced_too_long(game, monitor):
    last(b"EQB1" + b"\xff" * 12)


@ends("crashed")
def body_that_never_comes(game, monitor):
    last(b"EQB1" + (2).to_bytes(4, "little") + (2**30).to_bytes(8, "little") + b"{}")


@ends("crashed")
def half_a_frame(game, monitor):
    last(handed(game)[:50])


@ends("crashed")
def kind_unknown(game, monitor):
    last(frame("surprise", {}))


@ends("crashed")
def kind_integer(game, monitor):
    last(frame(1, {}))


@ends("crashed")
def fields_list(game, monitor):
    last(frame("done", [1]))


@ends("crashed")
def done_without_fields(game, monitor):
    last(handed(game), frame("done", {}))


@ends("crashed")
def done_with_reason_ok(game, monitor):
    last(handed(game), done(reason="ok"))


@ends("crashed")
def done_with_reason_list(game, monitor):
    last(handed(game), done(reason=["limit"]))


@ends("crashed")
def done_with_detail_list(game, monitor):
    last(handed(game), done(detail=["x"]))


@ends("crashed", quick=True)
def done_with_statistics_text(game, monitor):
    last(handed(game), done(statistics="text"))


@ends("crashed")
def done_with_elapsed_text(game, monitor):
    last(handed(game), done(elapsed_s="long"))


@ends("crashed")
def done_with_elapsed_negative(game, monitor):
    last(handed(game), done(elapsed_s=-1.0))


@ends("crashed")
def done_with_work_huge(game, monitor):
    last(handed(game), done(work=10**30))


@ends("crashed")
def done_with_memory_huge(game, monitor):
    last(handed(game), done(memory_bytes=10**30))


@ends("crashed")
def done_with_memory_text(game, monitor):
    last(handed(game), done(memory_bytes="1 GiB"))


@ends("crashed")
def done_with_numbers_beyond_floats(game, monitor):
    last(handed(game), done(cpu_s=10**400))


@ends("crashed")
def done_with_number_infinite(game, monitor):
    text = done().replace(b'"cpu_s": 0.1', b'"cpu_s": 1e9')  # keeps its length
    last(handed(game), text.replace(b'"elapsed_s": 0.1', b'"elapsed_s": NaN'))


@ends("crashed")
def error_without_fields(game, monitor):
    last(frame("error", CLOCKS))


@ends("crashed")
def error_with_lists(game, monitor):
    last(frame("error", {name: ["x"] for name in ("type", "message", "traceback", "memory")}))


@ends("crashed")
def refused_with_status_unknown(game, monitor):
    last(frame("refused", {"status": "splendid", "reason": "x"}))


@ends("crashed")
def refused_without_fields(game, monitor):
    last(frame("refused", {}))


@ends("crashed", "unsupported")
def refused_with_reason_list(game, monitor):
    last(frame("refused", {"status": "unsupported", "reason": [1]}))


@ends("crashed")
def described_while_solving(game, monitor):
    last(frame("described", {"spec": "cfr_plus", "deterministic": True}))


@ends("crashed")
def built_while_solving(game, monitor):
    last(frame("built", {"spec": "kuhn2", "expected_nodes": None}))


@ends("limit", "crashed")
def ready_again(game, monitor):
    for _ in range(100):
        write(frame("ready", {}))


@ends("limit", "crashed")
def done_twice(game, monitor):
    last(handed(game), done(), done(reason="converged"))


@ends("limit", "crashed")
def candidate_after_the_end(game, monitor):
    last(handed(game), done(), handed(game, claim="equilibrium", claimed_regret=0.0))


@ends("crashed")
def candidate_without_array(game, monitor):
    last(frame("candidate", {"claim": "iterate", "exact": None, **CLOCKS}), done())


@ends("crashed")
def candidate_without_fields(game, monitor):
    last(frame("candidate", {}, {"profile": np.ones(3)}), done())


@ends("crashed")
def candidate_larger_than_its_body(game, monitor):
    layout = [["profile", "<f8", [2**40, 2**40]]]
    last(frame("candidate", {"claim": "iterate", "exact": None, **CLOCKS}, layout=layout), done())


@ends("crashed")
def candidate_with_shape_negative(game, monitor):
    last(frame("candidate", CLOCKS, layout=[["profile", "<f8", [-1]]]), done())


@ends("crashed")
def candidate_with_shape_text(game, monitor):
    last(frame("candidate", CLOCKS, layout=[["profile", "<f8", "many"]]), done())


@ends("crashed")
def candidate_with_dtype_unknown(game, monitor):
    last(frame("candidate", CLOCKS, layout=[["profile", "nonsense", [1]]]), done())


@ends("crashed")
def candidate_of_objects(game, monitor):
    last(frame("candidate", CLOCKS, {"profile": np.ones(6)}, [["profile", "|O", [6]]]), done())


@ends("crashed")
def candidate_of_nothing_without_end(game, monitor):
    layout = [["profile", "<f8", [0, 2**62]]]
    last(frame("candidate", CLOCKS, layout=layout), done())


@ends("crashed")
def candidate_with_claimed_regret_text(game, monitor):
    last(handed(game, claimed_regret="none at all"), done())


@ends("crashed", "limit")
def candidate_with_many_arrays(game, monitor):
    arrays = {f"array_{k}": np.zeros(1) for k in range(10_000)}
    last(frame("candidate", {"claim": "iterate", "exact": None, **CLOCKS}, arrays), done())


@ends("limit", "timeout", "memory", "crashed")
def snapshots_in_a_flood(game, monitor):
    message = handed(game, "snapshot")
    for _ in range(20_000):
        write(message)


@ends("limit", "memory", "crashed")
def snapshot_of_a_hundred_megabytes(game, monitor):
    last(handed(game, "snapshot", np.zeros(100 * 2**17)), handed(game), done())


@ends("limit", "crashed")
def pipe_made_small_and_closed(game, monitor):
    from attack.hostile import pipe

    os.close(pipe())
    return Termination("limit", "nobody hears this")


@ends("limit", "crashed")
def ending_unknown_fields(game, monitor):
    last(handed(game), frame("done", ENDING | {"surprise": {"a": [1, 2]}, "status": "ok"}))
