"""`eqbench schema`: the form of what eqbench writes and reads, for other programs."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from eqbench.cli.output import put


class _Document(NamedTuple):
    """A declared type as ``module:name``, and what it is of."""

    target: str
    summary: str
    closed: bool = False


DOCUMENTS = {
    "manifest": _Document(
        "eqbench.store.schema:Manifest", "manifest.json and each line of resumed.jsonl"
    ),
    "record": _Document(
        "eqbench.store.schema:CellRecord",
        "each line of runs.jsonl and interrupted.jsonl",
        closed=True,
    ),
    "clusters": _Document("eqbench.store.schema:Clusters", "clusters.json", closed=True),
    "profile": _Document(
        "eqbench.model.profile_json:ProfileDocument", "profiles, also those given by --profile"
    ),
    "tree": _Document("eqbench.model.tree_files:TreeHeader", "labels.json beside a game's arrays"),
    "experiment": _Document(
        "eqbench.harness.experiment:experiment_schema", "files that eqbench run takes"
    ),
    "frame": _Document("eqbench.harness.frames:Message", "messages of a solver's process to a run"),
}


@click.command()
@click.argument("name", required=False, type=click.Choice(list(DOCUMENTS)), metavar="[NAME]")
def schema(name: str | None) -> None:
    """Print the JSON Schema of a document, or list the documents.

    It is generated from the types that readers check against.
    """
    if name is None:
        width = max(map(len, DOCUMENTS))
        for each, document in DOCUMENTS.items():
            put(f"{each:{width}}  {document.summary}")
    else:
        put(schema_text(name), end="")


def schema_text(name: str) -> str:
    """JSON Schema of a document as text."""
    import json

    from eqbench.documents import schema_of

    document = DOCUMENTS[name]
    target = _load(document.target)
    # an experiment is read field by field, so that mistakes are named by their lines
    if name == "experiment":
        return json.dumps(target(), indent=2, ensure_ascii=False) + "\n"
    kind = schema_of(target, closed=document.closed)
    return json.dumps(kind | {"title": f"eqbench {name}"}, indent=2, ensure_ascii=False) + "\n"


def _load(target: str) -> Any:
    import importlib

    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
