"""A folder with a page that runs eqbench in the browser.

Usage: python tools/playground/build.py OUT [--pyodide FOLDER] [--wheel FILE ...]

OUT gets the page, the wheel of this checkout, and what names them. Serve it by any server of static
files, for example `python -m http.server --directory OUT`; a browser does not run it from disk.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MARK = "playground.json"  # in every folder that this wrote
PAGE = ("index.html", "page.css", "page.js", "worker.js", "answers.py")
VERSION = "314.0.7"
CDN = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
# What eqbench imports when it solves in process, by their names in Pyodide's distribution.
PACKAGES = ("numpy", "scipy", "msgspec", "jinja2", "click", "rich", "tomli-w")


def main(words: Sequence[str] | None = None) -> int:
    """Write the folder that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="folder to be written")
    parser.add_argument(
        "--pyodide",
        type=Path,
        metavar="FOLDER",
        help=f"copy of Pyodide's distribution to be copied into OUT, instead of {CDN}",
    )
    parser.add_argument(
        "--wheel",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a further wheel, pure or for Pyodide; one of eqbench replaces that of this checkout",
    )
    options = parser.parse_args(words)
    try:
        write(options.out, options.pyodide, options.wheel)
    except (OSError, ValueError) as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    print(f"Serve it: python -m http.server --directory {options.out}")
    return 0


def write(out: Path, pyodide: Path | None, wheels: Sequence[Path]) -> None:
    """Write the folder; ValueError if it holds what this has not written, or a file is missing."""
    if out.exists() and not (out / MARK).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise ValueError(f"{out} is not a folder that this has written; choose a new or empty one")
    if pyodide is not None and not (pyodide / "pyodide.mjs").is_file():
        raise ValueError(f"{pyodide} has no pyodide.mjs; give a copy of Pyodide's distribution")
    for wheel in wheels:
        if wheel.suffix != ".whl" or not wheel.is_file():
            raise ValueError(f"{wheel} is no wheel; give files that end in .whl")
    with tempfile.TemporaryDirectory() as scratch:
        if not any(wheel.name.startswith("eqbench-") for wheel in wheels):
            wheels = [*wheels, built(Path(scratch))]
        if out.exists():
            shutil.rmtree(out)
        out.mkdir(parents=True)
        for file in [*(HERE / name for name in PAGE), *wheels]:
            shutil.copy(file, out)
    if pyodide is not None:
        shutil.copytree(pyodide, out / "pyodide")
    settings = {
        "pyodide": CDN if pyodide is None else "pyodide/",
        "packages": PACKAGES,
        "wheels": [wheel.name for wheel in wheels],
    }
    (out / MARK).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def built(folder: Path) -> Path:
    """The wheel of this checkout, built into a folder."""
    others = ("build", "dist", "docs", "results", "tests", "benchmarks", ".*", "*.egg-info")
    source = folder / "source"  # a copy, since old files in build/ would get into the wheel
    shutil.copytree(ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(*others))
    words = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source)
    subprocess.run([sys.executable, "-m", "pip", *map(str, words)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


if __name__ == "__main__":
    sys.exit(main())
