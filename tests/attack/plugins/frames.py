"""A solver that writes into the pipe to the run itself."""

import os
from dataclasses import dataclass

import numpy as np
from attack.hostile import CLOCKS, Hostile, done, ends, frame, handed, prefixed, write

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
def document_that_is_no_json(game, monitor):
    last(prefixed(b"{"))


@ends("crashed")
def document_that_is_no_object(game, monitor):
    last(prefixed(b"[1, 2]"))


@ends("crashed", quick=True)
def document_deep(game, monitor):
    last(prefixed(b"[" * 200_000 + b"]" * 200_000))


@ends("crashed")
def statistics_nested_without_end(game, monitor):
    deep = b'{"a": ' * 100_000 + b"1" + b"}" * 100_000
    last(handed(game), prefixed(done(statistics="@")[8:].replace(b'"@"', deep)))


@ends("crashed")
def document_not_utf8(game, monitor):
    last(prefixed(b'{"kind": "\xff\xfe"}'))


@ends("crashed")
def document_empty(game, monitor):
    last(prefixed(b""))


@ends("crashed")
def document_announced_too_long(game, monitor):
    last(b"EQB2" + b"\xff" * 4)


@ends("crashed")
def document_that_never_comes(game, monitor):
    last(b"EQB2" + (2**20).to_bytes(4, "little") + b"{}")


@ends("crashed")
def magic_of_another_version(game, monitor):
    last(b"EQB1" + handed(game)[4:])


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
    last(handed(game), done().replace(b'"elapsed_s": 0.1', b'"elapsed_s": NaN'))


@ends("crashed")
def done_without_clocks_of_numbers(game, monitor):
    last(handed(game), done(clocks=[1, 2, 3, 4]))


@ends("crashed")
def error_without_fields(game, monitor):
    last(frame("error", {"clocks": CLOCKS}))


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
def candidate_without_profile(game, monitor):
    last(frame("candidate", {"claim": "iterate", "exact": None, "clocks": CLOCKS}), done())


@ends("crashed")
def candidate_without_fields(game, monitor):
    last(frame("candidate", {}), done())


@ends("crashed", quick=True)
def candidate_of_half_a_number(game, monitor):
    last(handed(game, profile=b"1234567"), done())


@ends("crashed")
def candidate_of_no_frequencies(game, monitor):
    last(handed(game, profile=b""), done())


@ends("crashed")
def candidate_of_too_many_frequencies(game, monitor):
    last(handed(game, profile=bytes(8 * 10_000)), done())


@ends("crashed")
def candidate_not_a_number(game, monitor):
    last(handed(game, profile=np.full(game.tree.n_actions, np.nan).tobytes()), done())


@ends("crashed")
def candidate_beyond_one(game, monitor):
    last(handed(game, profile=np.full(game.tree.n_actions, 1e300).tobytes()), done())


@ends("crashed")
def candidate_profile_no_base64(game, monitor):
    last(handed(game).replace(b'"profile": "', b'"profile": "\\u001b'), done())


@ends("crashed")
def candidate_profile_list(game, monitor):
    last(frame("candidate", {"claim": "iterate", "exact": None, "profile": [0.5]}), done())


@ends("crashed")
def candidate_exact_of_integers(game, monitor):
    last(handed(game, exact=[1] * game.tree.n_actions), done())


@ends("crashed")
def candidate_exact_of_objects(game, monitor):
    last(handed(game, exact={"a": "1/2"}), done())


@ends("crashed")
def candidate_with_claimed_regret_text(game, monitor):
    last(handed(game, claimed_regret="none at all"), done())


@ends("crashed")
def candidate_with_many_fields(game, monitor):
    last(handed(game, **{f"field_{k}": k for k in range(10_000)}), done())


@ends("limit", "timeout", "memory", "crashed")
def snapshots_in_a_flood(game, monitor):
    message = handed(game, "snapshot")
    for _ in range(20_000):
        write(message)


@ends("limit", "memory", "crashed")
def snapshot_of_thirty_megabytes(game, monitor):
    last(handed(game, "snapshot", bytes(30 * 2**20)), handed(game), done())


@ends("limit", "crashed")
def pipe_made_small_and_closed(game, monitor):
    from attack.hostile import pipe

    os.close(pipe())
    return Termination("limit", "nobody hears this")


@ends("limit", "crashed")
def ending_with_unknown_fields(game, monitor):
    last(handed(game), done(surprise={"a": [1, 2]}, status="ok"))
