"""Generate the JSON Schemas of what is stored, read or sent from its types: ``make schemas``."""

from __future__ import annotations

import json
import pkgutil
from pathlib import Path
from typing import Any

from eqbench.documents import schema_of
from eqbench.harness.experiment import FORMATS, SCHEMA, SPECS, Request
from eqbench.requests import fields_of

FOLDER = Path(__file__).parents[1] / "docs" / "reference" / "schemas"
# Documents as ``module:type``.
DOCUMENTS = {
    "manifest": "eqbench.store.schema:Manifest",
    "record": "eqbench.store.schema:CellRecord",
    "host": "eqbench.store.schema:HostRecord",
    "clusters": "eqbench.store.schema:Clusters",
    "completeness": "eqbench.store.schema:CompletenessRecords",
    "profile": "eqbench.model.profile_json:ProfileDocument",
    "tree": "eqbench.model.tree_files:TreeHeader",
    "experiment": "",
    "frame": "eqbench.isolation.messages:Message",
}
CLOSED = ("record", "clusters", "completeness")  # have no further keys


def experiment_schema() -> dict[str, Any]:
    """JSON Schema of experiment files."""
    spec = {
        "oneOf": [
            {"type": "string"},
            {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}},
                "description": "a name with options; a list as an option stands for each value",
            },
        ]
    }
    options = {}
    for field in fields_of(Request):
        kind = spec if field.name in SPECS else field.option.kind.schema()
        kind = {"type": "array", "items": kind} if field.several else kind
        options[field.name] = kind | {"description": field.help}
    part = {"type": "object", "properties": options, "additionalProperties": False}
    own = {
        "schema": {"const": SCHEMA},
        "name": {"type": "string"},
        "takes": {"type": "string", "description": "how long it took when somebody measured"},
        "report": {"type": "array", "items": {"enum": list(FORMATS)}},
        "part": {"type": "array", "items": part},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An experiment of eqbench",
        "type": "object",
        "properties": own | options,
        "additionalProperties": False,
    }


def schema_text(name: str) -> str:
    """JSON Schema of a document as text."""
    # an experiment is read field by field, so that mistakes are named by their lines
    if name == "experiment":
        kind = experiment_schema()
    else:
        target = pkgutil.resolve_name(DOCUMENTS[name])
        kind = schema_of(target, closed=name in CLOSED) | {"title": f"eqbench {name}"}
    return json.dumps(kind, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in DOCUMENTS:
        (FOLDER / f"{name}.json").write_text(schema_text(name), encoding="utf-8")
