"""Proofs that a list of equilibria is complete: search, estimate before it, file and summary."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct

from eqbench.documents import read_file
from eqbench.errors import UsageError, counted
from eqbench.model.profile import action_labels
from eqbench.proofs.known import known_sets
from eqbench.proofs.prover import Face, Prover
from eqbench.report.rows import Column, Report, Table, table_of
from eqbench.studies.frame import Document, Session, Study
from eqbench.studies.requests import ProveRequest
from eqbench.text import seconds

FILE, PART = "proof.jsonl", "proof"
MOST_FACES = 100  # that the summary describes
_TELL_S = 0.5


class Estimate(Struct, frozen=True, kw_only=True):
    """Expected size of a search, from random descents through its cases (Knuth 1975).

    `most_nodes` is by the largest descent; `seconds` and `bytes` go with `nodes`, the mean.
    """

    nodes: float
    most_nodes: float = 0.0
    seconds: float
    bytes: float


class ProofFace(Struct, frozen=True, kw_only=True):
    """A case that is not decided: its node, and which actions are played and never played."""

    node: Annotated[int, Column(kind="count", identifies=True)]
    played: Annotated[list[str], Column("played", of=lambda row: ", ".join(row.played))]
    never: list[str]
    splits: int


class Found(Struct, frozen=True, kw_only=True):
    """What the search has found.

    Attributes
    ----------
    nodes : by kind
    known : nodes inside a known set, by its name
    faces : number of cases that are not decided, `open` those that the search did not reach
    decided : number of first lines of nodes that a resumed search keeps
    """

    nodes: dict[str, int]
    known: dict[str, int]
    faces: int
    open: int
    decided: int
    elapsed_s: float
    bytes: int
    described: list[ProofFace]
    estimate: Estimate
    interrupted: bool


class ProofDocument(Document, frozen=True, kw_only=True, tag_field="schema", tag="eqbench.prove/1"):
    """What is proved about all equilibria of a game, and where the proof is."""

    game: str
    verdict: Literal["complete", "complete but for faces", "not begun"]
    known: list[str]
    found: Found | None
    file: str

    def rows(self) -> Sequence[Struct]:
        """Faces, of which the first are described."""
        return self.found.described if self.found else ()

    def tables(self) -> Report:
        """A sentence of what is proved, figures of the search, and the faces."""
        title = f"All equilibria of {self.game}"
        found = self.found
        if found is None:
            return Report((Table(title, lines=("no search yet",)),))
        sets = [f"{name} ({counted(cases, 'case')})" for name, cases in found.known.items()]
        places = [f"in the known set {' or '.join(sets)}"] if sets else []
        places += [f"in one of {counted(found.faces, 'face')}"] if found.faces else []
        lines = [f"proved: every equilibrium is {', or '.join(places)}."]
        if found.open:
            lines.append(f"{counted(found.open, 'face')} are open since the search ended early.")
        total = sum(found.nodes.values())
        lines.append(
            f"{counted(total, 'node')} ({found.nodes['closed']:,} closed by a combination of rows) "
            f"in {seconds(found.elapsed_s)}; certificate {found.bytes:,} bytes in {self.file}"
        )
        notes = [
            "Faces and sets are about weights: where the own plan never leads, anything will do."
        ]
        if self.known:
            notes.append("Of actions that the file replaces, faces hold once they are replaced.")
        if found.faces > len(found.described):
            notes.append(f"The first {len(found.described)} of {found.faces} faces are shown.")
        rows = found.described
        table = (
            table_of(rows, title, notes if rows else (), lines=lines)
            if rows
            else Table(title, lines=tuple(lines))
        )
        return Report((table,))


class ProofStudy(Study[ProveRequest, Found, ProofDocument]):
    """Search for a proof within a time, and continue it when resumed."""

    version = "1"

    def __init__(self, request: ProveRequest, *, figures: bool = False) -> None:
        """Load the game; UsageError if its payoffs are not exact or have too many terms."""
        self.request = request
        self.game = request.registry().load_game(request.game, max_nodes=request.max_nodes)
        self.known, self.splits = known_sets(self.game)
        self._over = False
        self.prover = self._prover()

    def _prover(self) -> Prover:
        def is_over() -> bool:
            return self._over

        most = self.request.most_terms
        return Prover(self.game, self.known, self.splits, is_over, most_terms=most)

    def parts(self) -> Sequence[str]:
        """One part: the search."""
        return (PART,)

    def is_done(self, part: str, found: Found, session: Session) -> bool:
        """Return whether the search reached its end, or may not take longer."""
        return not found.open or found.elapsed_s >= self.request.time

    def do(self, part: str, session: Session) -> Found:
        """Search, or continue where an earlier search ended, and write the file."""
        earlier: Found | None = session.found.get(PART)
        spent = earlier.elapsed_s if earlier else 0.0
        place = session.folder / FILE
        session.tell("estimating the size of the search")
        size = earlier.estimate if earlier else Estimate(**self.prover.estimate())
        session.say(
            f"about {_expected(size)} to come, "
            f"that is {_rounded(size.bytes)} bytes in {seconds(size.seconds)} or more; "
            f"the search ends after {seconds(self.request.time)}"
        )
        if size.nodes > self.request.limit:
            raise UsageError(
                f"{self.game.spec} is expected to need about {_expected(size)}; allowed are "
                f"{self.request.limit:,}. "
                "Choose a smaller game or raise --limit"
            )
        before = _kept(place, earlier.decided) if earlier and place.exists() else []
        end, told = time.monotonic() + self.request.time - spent, 0.0
        self.prover, interrupted = self._prover(), False
        proof, decided, number = self.prover.proof, 0, 0
        temporary = place.with_suffix(".part")
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            for line in self.prover.lines(before):
                file.write(f"{line}\n")
                decided += not proof.unfinished and number > 0
                number += 1
                now = time.monotonic()
                if not self._over and number > len(before):
                    interrupted = session.interrupted()
                    self._over = interrupted or now >= end
                    if now - told > _TELL_S:
                        told = now
                        session.tell(f"{proof.nodes:,} nodes, {len(proof.faces):,} faces")
        os.replace(temporary, place)
        return Found(
            nodes=dict(proof.counts),
            known=dict(Counter(self.known[k].name for k in proof.inside)),
            faces=len(proof.faces),
            open=proof.unfinished,
            decided=decided,
            elapsed_s=spent + proof.elapsed_s,
            bytes=place.stat().st_size,
            described=[*self._described(proof.faces[:MOST_FACES])],
            estimate=size,
            interrupted=interrupted,
        )

    def _described(self, faces: Sequence[Face]) -> Iterator[ProofFace]:
        labels, tree = action_labels(self.game.tree), self.game.tree
        single = {
            a
            for a in range(tree.n_actions)
            if len(tree.infoset_actions[tree.action_infoset[a]]) == 1
        }
        for face in faces:
            played, never = (
                [labels[a] for a in sorted(actions - single)] for actions in (face.within, face.out)
            )
            yield ProofFace(node=face.node, played=played, never=never, splits=len(face.splits))

    def conclude(self, parts: list[Found], session: Session) -> ProofDocument:
        """Return what is proved."""
        found = parts[0] if parts else None
        verdict: Literal["complete", "complete but for faces", "not begun"] = "not begun"
        if found:
            verdict = "complete but for faces" if found.faces else "complete"
        return ProofDocument(
            game=self.game.spec,
            verdict=verdict,
            known=[each.name for each in self.known],
            found=found,
            file=FILE,
        )

    def ending(self, document: ProofDocument) -> tuple[int, str]:
        """Return 1 where the search ended before all cases were decided."""
        found = document.found
        if found is None or found.interrupted or not found.open:
            return 0, ""
        return (
            1,
            f"the search ended after {seconds(found.elapsed_s)}; continue with a larger --time",
        )


def _kept(place: Path, decided: int) -> list[str]:
    """Lines of the nodes that an earlier search has decided."""
    return read_file(place).decode().splitlines()[1 : 1 + decided]


def _expected(size: Estimate) -> str:
    low, high = _rounded(size.nodes), _rounded(size.most_nodes)
    return f"{low} to {high} nodes" if low != high else f"{low} node{'s' * (low != '1')}"


def _rounded(size: float) -> str:
    """Number with its first two digits, as random descents tell no more."""
    return f"{float(f'{size:.1e}'):,.0f}"
