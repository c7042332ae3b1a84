"""`eqbench schema`: the form of what eqbench writes and reads, for other programs."""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from eqbench.cli.options import command
from eqbench.cli.output import put, put_names
from eqbench.requests import Choice, Option


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


@dataclass(frozen=True)
class SchemaRequest:
    """Print the JSON Schema of a document, or list the documents.

    It is generated from the types that readers check against.
    """

    name: Annotated[
        str | None, Option("Document.", Choice("NAME", tuple(DOCUMENTS)), argument=True)
    ] = None


@command(SchemaRequest)
def schema(request: SchemaRequest) -> None:
    if request.name is None:
        put_names({name: document.summary for name, document in DOCUMENTS.items()})
    else:
        put(schema_text(request.name), end="")


def schema_text(name: str) -> str:
    """JSON Schema of a document as text."""
    from eqbench.documents import schema_of

    document = DOCUMENTS[name]
    target = pkgutil.resolve_name(document.target)
    # an experiment is read field by field, so that mistakes are named by their lines
    if name == "experiment":
        kind = target()
    else:
        kind = schema_of(target, closed=document.closed) | {"title": f"eqbench {name}"}
    return json.dumps(kind, indent=2, ensure_ascii=False) + "\n"
