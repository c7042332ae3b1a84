"""Generate the JSON Schemas of what is stored, read or sent from its types: ``make schemas``."""

from __future__ import annotations

import inspect
import json
import math
import pkgutil
from pathlib import Path
from typing import Any

import msgspec

from eqbench.harness.experiment import FORMATS, SCHEMA, Request
from eqbench.requests import Choice, Flag, Integer, MemorySize, Number, RequestField, fields_of

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
    "experiment": "eqbench.harness.experiment:Experiment",
    "frame": "eqbench.isolation.messages:Message",
    "qre": "eqbench.studies.qre:QuantalDocument",
    "trace": "eqbench.studies.trace.study:TraceDocument",
    "ranges": "eqbench.studies.ranges:RangesDocument",
    "crossplay": "eqbench.studies.crossplay.study:CrossplayDocument",
    "prove": "eqbench.studies.prove:ProofDocument",
    "challenge": "eqbench.studies.challenge.study:Board",
    "submission": "eqbench.studies.challenge.submissions:Manifest",
    "answer": "eqbench.studies.challenge.submissions:Answer",
}
CLOSED = ("record", "clusters", "completeness")  # have no further keys


def schema_of(kind: Any, *, closed: bool = False) -> dict[str, Any]:
    """JSON Schema of a declared type; `closed` if no other keys are allowed."""
    document = msgspec.json.schema(kind)
    for part in document.get("$defs", {}).values():
        if "description" in part:
            part["description"] = inspect.cleandoc(part["description"])
        if closed:
            part["additionalProperties"] = False
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | document


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
        own = spec if field.name in ("game", "solver") else _of_field(field)
        kind = {"type": "array", "items": own} if field.several else own
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


def _of_field(field: RequestField) -> dict[str, Any]:
    """JSON Schema of the values of a field, by their kind."""
    match field.option.kind:
        case Flag():
            return {"type": "boolean"}
        case Choice(words=words):
            return {"enum": list(words)}
        case Integer(least=least, most=most):
            return {"type": "integer", "minimum": least, "maximum": most}
        case Number(positive=positive, most=most):
            bounds = {"exclusiveMinimum" if positive else "minimum": 0}
            return {"type": "number", **bounds, **({} if math.isinf(most) else {"maximum": most})}
        case MemorySize():
            return {"type": ["integer", "string"], "examples": ["2GiB", "500MB"]}
    return {"type": "string"}


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
