"""Write the best known answers to the challenge from runs and submissions.

``python tools/challenge.py NAME FOLDER...`` writes ``eqbench/studies/challenge/known/NAME``: for
each question of each game the best answers of the folders, one per method, with what was measured
as their claims.
"""

from __future__ import annotations

import hashlib
import json
import sys
from fractions import Fraction
from pathlib import Path

from msgspec import structs, to_builtins

from eqbench.errors import EqbenchError
from eqbench.studies.challenge.measure import measure
from eqbench.studies.challenge.study import KNOWN
from eqbench.studies.challenge.submissions import (
    MANIFEST,
    PROOF_BYTES,
    Answer,
    Submission,
    challenge,
    read_submission,
)

MOST_METHODS, LARGE_BYTES = 3, 20_000  # of large profiles only the best is kept


def single(answer: Answer) -> list[Answer]:
    """An answer with one profile each, of which the best counts anyway."""
    if answer.question == "complete":
        return [answer]
    return [structs.replace(answer, profiles=[name]) for name in answer.profiles]


def claimed(number: float | Fraction) -> str | float:
    text = str(number)
    return text if isinstance(number, Fraction) and len(text) < 40 else float(number)


def best(folders: list[str]) -> list[tuple[Submission, Answer]]:
    """The best answers to each question, with the submissions that hold their files."""
    found: dict[tuple[str, str], list[tuple[tuple[float, ...], Submission, Answer]]] = {}
    for source in map(read_submission, folders):
        for given in source.answers:
            for own in single(given) if isinstance(given, Answer) else ():
                try:
                    value = measure(source, own)
                except EqbenchError as error:
                    print(f"{own.game} {own.question} {own.method}: {error}")
                    continue
                claim = None if own.question == "complete" else claimed(value.number)
                sign = challenge().question[own.question].sign
                worth = (float(sign * value.number), value.tie, own.elapsed_s or 0.0)
                kept = structs.replace(own, claim=claim, game=challenge().posed(own.game).name)
                found.setdefault((kept.game, own.question), []).append((worth, source, kept))
    chosen = []
    for answers in found.values():
        methods: set[str] = set()
        for _, source, own in sorted(answers, key=lambda each: each[0]):
            size = sum(len(source.file(name)) for name in own.profiles)
            most = 1 if size > LARGE_BYTES else MOST_METHODS
            if own.method not in methods and len(methods) < most:
                methods.add(own.method)
                chosen.append((source, own))
    return chosen


def write(folder: Path, name: str, answers: list[tuple[Submission, Answer]]) -> None:
    """Write answers with their files as a submission, in place of the one that is there."""
    for file in folder.glob("files/*"):
        file.unlink()
    (folder / "files").mkdir(parents=True, exist_ok=True)

    def copied(source: Submission, file: str) -> str:
        data = source.file(file, PROOF_BYTES)
        kept = f"files/{hashlib.sha256(data).hexdigest()[:16]}{Path(file).suffix}"
        (folder / kept).write_bytes(data)
        return kept

    order = [each.name for each in challenge().game]
    documents = []
    for source, own in sorted(answers, key=lambda each: order.index(each[1].game)):
        files = {"profiles": [copied(source, file) for file in own.profiles]}
        files |= {"proof": copied(source, own.proof)} if own.proof else {}
        document = {
            key: value for key, value in to_builtins(own).items() if value not in (None, "")
        }
        documents.append({key: value for key, value in (document | files).items() if value != []})
    machines = {source.machine: None for source, _ in answers if source.machine}
    head = {"schema": "eqbench.submission/1", "name": name, "machine": ", ".join(machines)}
    text = json.dumps(head | {"answers": documents}, indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(KNOWN / sys.argv[1], sys.argv[1], best(sys.argv[2:]))
