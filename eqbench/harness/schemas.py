"""JSON Schemas of what is stored, read or sent, made of the types that say what these are."""

from __future__ import annotations

import json
import pkgutil

from eqbench.documents import schema_of

# Documents as ``module:type``, and what they are.
DOCUMENTS = {
    "manifest": ("eqbench.store.schema:Manifest", "manifest.json and each line of resumed.jsonl"),
    "record": ("eqbench.store.schema:CellRecord", "each line of runs.jsonl and interrupted.jsonl"),
    "host": ("eqbench.store.schema:HostRecord", "each line of hosts.jsonl"),
    "clusters": ("eqbench.store.schema:Clusters", "clusters.json"),
    "completeness": ("eqbench.store.schema:CompletenessRecords", "completeness.json"),
    "profile": (
        "eqbench.model.profile_json:ProfileDocument",
        "profiles, also those given by --profile",
    ),
    "tree": ("eqbench.model.tree_files:TreeHeader", "labels.json beside a game's arrays"),
    "experiment": ("eqbench.harness.experiment:experiment_schema", "files that eqbench run takes"),
    "frame": ("eqbench.isolation.messages:Message", "messages of a solver's process to a run"),
}
CLOSED = ("record", "clusters", "completeness")  # have no further keys


def schema_text(name: str) -> str:
    """JSON Schema of a document as text."""
    target = pkgutil.resolve_name(DOCUMENTS[name][0])
    # an experiment is read field by field, so that mistakes are named by their lines
    if name == "experiment":
        kind = target()
    else:
        kind = schema_of(target, closed=name in CLOSED) | {"title": f"eqbench {name}"}
    return json.dumps(kind, indent=2, ensure_ascii=False) + "\n"
