"""The process in which a computation of a reproduction runs."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path


def main(target: str, folder: str, jobs: str, extent: str = "") -> None:
    """Call ``module:function`` and keep what it returns."""
    module, name = target.split(":")
    function = getattr(importlib.import_module(module), name)
    document = function(Path(folder), Path(jobs), full=extent == "full")
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    (Path(folder) / "summary.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
