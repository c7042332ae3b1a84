"""Generate the JSON Schemas of what is stored, read or sent from its types: ``make schemas``."""

from __future__ import annotations

import json
import pkgutil
from pathlib import Path

from eqbench.documents import schema_of

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
    "experiment": "eqbench.harness.experiment:experiment_schema",
    "frame": "eqbench.isolation.messages:Message",
    "qre": "eqbench.studies.qre:QuantalDocument",
    "trace": "eqbench.studies.trace.study:TraceDocument",
    "ranges": "eqbench.studies.ranges:RangesDocument",
    "crossplay": "eqbench.studies.crossplay.study:CrossplayDocument",
}
CLOSED = ("record", "clusters", "completeness")  # have no further keys


def schema_text(name: str) -> str:
    """JSON Schema of a document as text."""
    target = pkgutil.resolve_name(DOCUMENTS[name])
    # an experiment is read field by field, so that mistakes are named by their lines
    if name == "experiment":
        kind = target()
    else:
        kind = schema_of(target, closed=name in CLOSED) | {"title": f"eqbench {name}"}
    return json.dumps(kind, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in DOCUMENTS:
        (FOLDER / f"{name}.json").write_text(schema_text(name), encoding="utf-8")
