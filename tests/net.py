"""What a redesign must not change, as data: ``python tests/net.py compare tests/data/net [CASE…]``.

Each command is run in a folder of its own with few iterations. Kept are its exit code, its JSON
without clocks, memory, paths and versions, what it refused, and the hashes of the profiles that it
wrote. No test runs it, since it takes minutes; it goes when the redesign is done.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TRANSIENT = re.compile(
    r"(_s|_bytes|_overhead)$|^(elapsed|cpu|memory|time_points|run|path|folder|key|version|versions"
    r"|environment|created|started|finished_at|command|curve|log|host|profile|file|files|sources|trace|solver_version)$"
)
RUN = "--iterations 300 --timeout 60 --setup-timeout 300 --json"
COMMANDS = {
    "list-games": "list games --json",
    "list-solvers": "list solvers --json",
    "info-kuhn3": "info kuhn3 --json",
    "info-skp": "info skp --json",
    "run-kuhn3": f"run --game kuhn3 --solver all --out out {RUN}",
    "run-kuhn2": f"run --game kuhn2 --solver all --seeds 2 --out out {RUN}",
    "run-skp": f"run --game skp(pot=3.35) --solver cfr_plus,arclength,logit,ncp --out out {RUN}",
    "run-shapley": f"run --game shapley --solver all --out out {RUN}",
    "report-csv": "report ../run-kuhn2/out --format csv",
    "report-md": "report ../run-kuhn2/out --format md",
    "report-tex": "report ../run-kuhn2/out --format tex",
    "compare": "compare ../run-kuhn2/out ../run-kuhn2/out --json",
    "show": "show ../run-kuhn3/out cfr_plus --json",
    "verify": "verify --game kuhn2 --profile profile.json --exact --json",
    "trace": "trace --game skp --from 2 --to 6 --most-points 300 --at 3.35 --out out --json -q",
    "trace-kuhn": "trace --game kuhn(players=3,cards=4) --from 2 --to 3 --most-points 200 "
    "--out out --json -q",
    "qre": "qre --game kuhn2 --to 100 --at 10 --branches 1 --out out --json -q",
    "stability": "stability --game skp(pot=3.35) --samples 4 --rest-points 5 --out out --json -q",
    "simulate": "simulate --game skp --at 3.35 --starts 2 --time 200 --out out --json -q",
    "crossplay": "crossplay --game kuhn3 --known --most 4 --exact --json",
    "crossplay-runs": "crossplay ../run-kuhn2/out --json",
    "ranges": "ranges --game kuhn2 --payoffs --out out --json -q",
    "export": "export --game kuhn2 --to game.efg --json",
    "draw": "draw kuhn2",
    "wrong-game": "run --game kuhn3x --solver all",
    "wrong-option": "run --game kuhn2 --solver cfr(x=1)",
    "wrong-resume": "run --resume nothing",
}


PASSIVE = {f"{card}:": {"check": 1, "bet": 0} for card in "123"}
SECOND = {f"{card}:K": {"check": "1/3", "bet": "2/3"} for card in "123"}
SECOND |= {f"{card}:B": {"fold": "1/2", "call": "1/2"} for card in "123"}
FIRST = PASSIVE | {f"{card}:KB": {"fold": 1, "call": 0} for card in "123"}


def settled(document: object) -> object:
    """Return a document without what differs from one run to the next."""
    if isinstance(document, dict):
        return {k: settled(v) for k, v in document.items() if not TRANSIENT.search(k)}
    if isinstance(document, list):
        return [settled(item) for item in document]
    return document


def outcome(command: str, folder: Path) -> dict[str, object]:
    """Run a command in `folder` and return what is kept of it."""
    folder.mkdir(parents=True)
    (folder / "profile.json").write_text(json.dumps({"behavior": {"P1": FIRST, "P2": SECOND}}))
    eqbench = Path(sys.executable).with_name("eqbench")
    ended = subprocess.run(
        [eqbench, *command.split()], cwd=folder, capture_output=True, text=True, check=False
    )
    text = ended.stdout
    try:
        printed = settled(json.loads(text))
    except ValueError:
        clocks = re.sub(r"\d+(\.\d+)? (ms|s|KiB|MiB|GiB)\b", "", text)
        printed = "" if "csv" in command else clocks
    kept = {"exit": ended.returncode, "printed": printed}
    if ended.returncode == 2:
        kept["said"] = ended.stderr
    out = folder / "out"
    if out.exists():
        kept["profiles"] = sorted(
            hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            for file in out.rglob("*.json")
            if "profiles" in file.parts
        )
        kept["files"] = sorted(
            {
                re.sub(r"-[0-9a-f]{4}\b|[0-9a-f]{8,}", "*", str(file.relative_to(out)))
                for file in out.rglob("*")
            }
        )
        for file in sorted(out.glob("points.csv")):  # others have clocks
            kept[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return kept


def main() -> int:
    """Write the net into a folder, or compare the present outputs with one."""
    action, kept = sys.argv[1], Path(sys.argv[2])
    chosen = sys.argv[3:] or list(COMMANDS)
    kept.mkdir(parents=True, exist_ok=True)
    different = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in [n for n in COMMANDS if n in chosen]:
            found = json.dumps(outcome(COMMANDS[name], Path(scratch) / name), indent=1)
            file = kept / f"{name}.json"
            if action == "write":
                file.write_text(found)
            elif file.read_text() != found:
                different += 1
                Path(f"{name}.new.json").write_text(found)
                print(f"{name}: differs; see {name}.new.json")
    print(f"{different} differ" if action == "compare" else f"{len(COMMANDS)} written")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
