"""A game that lies about what it built, or leaves something else in its folder."""

import json
import os
import pickle
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from attack.hostile import ends, frame, job, strike, write

import eqbench
from eqbench.model.tree_files import save_tree

ANSWER = {"spec": "games", "expected_nodes": None, "frozen": True, "undocumented": []}


def honest():
    builder = eqbench.TreeBuilder(["P1", "P2"])
    first = builder.decision(None, 0, "first", ["left", "right"])
    for move in range(2):
        second = builder.decision((first, move), 1, "second", ["left", "right"])
        for answer in range(2):
            payoff = (3 if move else 1) if move == answer else -1
            builder.terminal((second, answer), [payoff, -payoff])
    return builder.tree()


@eqbench.register_game("pennies")
@dataclass(frozen=True)
class Pennies:
    """The innocent neighbor, from a plugin as well."""

    def build(self):
        return honest()


@eqbench.register_game("games")
@dataclass(frozen=True)
class Games:
    """Attacks while it is built."""

    attack: str = ""

    def build(self):
        strike(self.attack)
        return globals()[self.attack]() or honest()


@eqbench.register_game("announced")
@dataclass(frozen=True)
class Announced:
    """Lies about its size before it is built."""

    attack: str = ""

    def expected_nodes(self):
        strike(self.attack)
        return {"text": "many", "negative": -1, "huge": 10**400, "nan": float("nan")}[self.attack]

    def build(self):
        return honest()


def place():
    """Folder into which this child is to write its tree."""
    return Path(job()["folder"])


def answers(message=None, **fields):
    """End at once with an answer; honest but for what is given."""
    write(frame("built", ANSWER | fields) if message is None else message)
    os._exit(0)


def written(name=None, data=None):
    """Write the honest tree, then one file of it anew, and answer as if nothing had happened."""
    save_tree(honest(), place())
    if name is not None:
        (place() / name).write_bytes(data)
    answers()


def npy(text, body=b""):
    header = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


def labels(**fields):
    save_tree(honest(), place())
    file = place() / "labels.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))
    answers()


class Evil:
    def __reduce__(self):
        return os.system, ("touch pickle-was-run",)


# fmt: off
@ends("limit", quick=True)
def honest_by_hand(): written()  # no attack: it shows that answers by hand arrive
@ends()
def answers_nothing(): save_tree(honest(), place()); answers(frame("built", {}))
@ends()
def answers_without_files(): answers()
@ends()
def answers_spec_integer(): save_tree(honest(), place()); answers(spec=5)
@ends()
def answers_spec_long(): save_tree(honest(), place()); answers(spec="s" * 2_000_000)
@ends()
def answers_spec_with_controls(): save_tree(honest(), place()); answers(spec="\x1b[2J\x9b\u202e")
@ends()
def answers_described(): answers(frame("described", {"spec": "x", "deterministic": True}))
@ends()
def answers_done(): answers(frame("done", {}))
@ends()
def answers_error_empty(): answers(frame("error", {}))
@ends()
def answers_error_of_lists(): answers(frame("error", {"usage": ["x"], "message": [1]}))
@ends()
def answers_garbage(): answers(b"garbage" * 1000)
@ends()
def exits(): os._exit(0)
@ends()
def raises_two_megabytes(): raise ValueError("x" * 2_000_000)
@ends()
def raises_controls(): raise ValueError("\x1b[2J\x9b31m\u202e")
@ends()
def raises_markup(): raise ValueError("[/nothing]")
@ends()
def raises_exit(): raise SystemExit(5)
@ends()
def hangs(): time.sleep(300)
@ends()
def array_garbage(): written("base.npy", b"garbage")
@ends()
def array_empty_file(): written("parent.npy", b"")
@ends(quick=True)
def array_pickled():
    save_tree(honest(), place())
    np.save(place() / "base.npy", np.array([Evil()], dtype=object), allow_pickle=True)
    answers()
@ends()
def array_that_is_a_pickle(): written("base.npy", pickle.dumps(Evil()))
@ends()
def array_header_code():
    written("base.npy", npy("__import__('os').system('touch pickle-was-run')"))
@ends()
def array_header_beyond_its_file():
    written("base.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1099511627776,)}"))
@ends()
def array_header_deep(): written("base.npy", npy("(" * 100))
@ends()
def array_fortran():
    written("base.npy", npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 4)}", bytes(64)))
@ends()
def array_beyond_nodes():
    save_tree(honest(), place())
    with open(place() / "parent.npy", "wb") as file:  # sparse: it takes no space
        file.write(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (400000000,)}"))
        file.truncate(128 + 1_600_000_000)
    answers()
@ends(quick=True)
def array_pipe():
    save_tree(honest(), place())
    (place() / "base.npy").unlink(); os.mkfifo(place() / "base.npy")
    answers()
@ends()
def array_device():
    save_tree(honest(), place())
    (place() / "base.npy").unlink(); (place() / "base.npy").symlink_to("/dev/zero")
    answers()
@ends()
def array_folder():
    save_tree(honest(), place())
    (place() / "base.npy").unlink(); (place() / "base.npy").mkdir()
    answers()
@ends()
def array_missing():
    save_tree(honest(), place())
    (place() / "infoset.npy").unlink()
    answers()
@ends()
def labels_garbage(): written("labels.json", b"\xff\xfe{")
@ends()
def labels_empty(): written("labels.json", b"{}")
@ends()
def labels_deep(): written("labels.json", b"[" * 200_000 + b"]" * 200_000)
@ends()
def labels_of_gigabytes():
    save_tree(honest(), place())
    os.truncate(place() / "labels.json", 1_900_000_000)  # sparse: it takes no space
    answers()
@ends()
def labels_pipe():
    save_tree(honest(), place())
    (place() / "labels.json").unlink(); os.mkfifo(place() / "labels.json")
    answers()
@ends()
def labels_denominator_zero(): labels(payoff_denominator=0)
@ends()
def labels_denominator_list(): labels(payoff_denominator=[1])
@ends()
def labels_value_without_end(): labels(parameter="pot", value="1e999999999")
@ends()
def labels_players_integers(): labels(players=[1, 2])
@ends()
def labels_players_object(): labels(players={"P1": 1, "P2": 2})
@ends()
def folder_removed():
    save_tree(honest(), place())
    for file in place().iterdir():
        file.unlink()
    place().rmdir()
    answers()
# fmt: on
