"""Files of the user that a command might remove, replace or carry out of their folder."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .answers import marked, neighbors
from .sandbox import Job, Sandbox

KIND = "files of the user"


EXPERIMENT = """schema = "eqbench.experiment/1"
game = ["kuhn2", "matching_pennies"]
seeds = 2
target = 0
[[part]]
solver = ["mccfr", "cfr", "cfr_plus"]
iterations = 10
repeats = 2
[[part]]
solver = ["mccfr"]
iterations = 20
"""


@neighbors(KIND)
def records_under_exchanged_keys_are_run_again() -> Iterator[tuple[str, str]]:
    with Sandbox() as sandbox:
        (sandbox.root / "some.toml").write_text(EXPERIMENT)
        sandbox.command("run", "some.toml", "--out", "run")
        file = sandbox.run / "runs.jsonl"
        records = [json.loads(line) for line in file.read_text().splitlines()]
        facts = ("game", "solver", "seed", "repeat", "iterations")
        known = {own["key"]: [own.get(name) for name in facts] for own in records}
        for name, copied in ((name, copied) for name in facts for copied in (False, True)):
            one, other = next(
                (own, each)
                for own in records
                for each in records
                if [fact for fact in facts if own.get(fact) != each.get(fact)] == [name]
            )
            swap = {one["key"]: other} | ({} if copied else {other["key"]: one})
            lines = [swap.get(own["key"], own) | {"key": own["key"]} for own in records]
            file.write_text("".join(json.dumps(own) + "\n" for own in lines))
            ended = sandbox.command("run", "--resume", "run")
            found = {own["key"]: own for own in map(json.loads, file.read_text().splitlines())}
            wrong = [key for key in known if [found[key].get(f) for f in facts] != known[key]]
            named = f"{other['game']}/{other['solver']}" in "".join(ended.err.split())
            trial = f"{name} {'copied' if copied else 'exchanged'}"
            yield trial, f"{len(wrong)} wrong" * bool(wrong) or "not named" * (not named)


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each way to lose something."""
    return marked(KIND, quick=quick)
