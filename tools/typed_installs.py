"""What type checkers and jedi see of eqbench, installed in fresh environments; needs the network.

``python tools/typed_installs.py FOLDER`` makes environments in a folder with eqbench as an editable
install, from its wheel and from its source distribution, and holds the types that mypy and pyright
(basedpyright, which brings what it runs on) find in a program against those that stand in it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSUMER = ROOT / "tests" / "data" / "consumer.py"
CHECKERS = {
    # silent is what mypy is about installed packages; it leaves out bodies of their functions
    "mypy": ["mypy", "--config-file=", "--follow-imports=silent", "--python-executable"],
    "pyright": ["basedpyright", "--pythonpath"],
}
_FOUND = re.compile(r':(\d+):.*(?:Revealed type is "(.*)"|information: Type of ".*" is "(.*)")')
_COMPLETIONS = """
import jedi, json
def names(code):
    return [each.name for each in jedi.Script("import eqbench\\n" + code).complete()]
print(json.dumps([names("eqbench.load_"), names("eqbench.run('kuhn2', 'lcp', ")]))
"""


def wrong_types(python: str, checker: str, program: Path = CONSUMER) -> Iterator[str]:
    """Types that a checker of an environment does not find as the comments of a program say."""
    command = [python, "-m", *CHECKERS[checker], python, str(program)]
    said = subprocess.run(command, cwd=program.parent, capture_output=True, text=True, check=False)
    if said.returncode:
        yield f"{checker}: {said.stdout} {said.stderr}"
    found = {int(line): a or b for line, a, b in _FOUND.findall(said.stdout)}
    for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), start=1):
        _, is_revealed, expected = line.partition("  # ")
        if not line.startswith("reveal_type"):
            continue
        if not is_revealed or not re.search(rf"\b{re.escape(expected)}", _short(found.get(number))):
            yield f"{checker}, line {number}: {found.get(number, 'nothing')}, not {expected}"


def _short(text: str | None) -> str:
    """A type as a checker prints it, without the modules of its parts."""
    return re.sub(r"(?:\w+\.)+(?=\w)", "", text or "")


def completions(python: str) -> tuple[list[str], list[str]]:
    """What jedi offers after ``eqbench.load_``, and inside of a call of ``eqbench.run``."""
    command = [python, "-c", _COMPLETIONS]
    said = subprocess.run(command, cwd=CONSUMER.parent, capture_output=True, text=True, check=True)
    loaders, keywords = json.loads(said.stdout)
    return loaders, keywords


def main(folder: Path) -> int:
    """Build, install, and print what each environment sees; 1 if anything is missing."""
    build = [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(ROOT)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (wheel,), (archive,) = (sorted((folder / "dist").glob(end)) for end in ("*.whl", "*.tar.gz"))
    installs = {"editable": ["-e", str(ROOT)], "wheel": [str(wheel)], "source": [str(archive)]}
    wrong: list[str] = []
    for name, target in installs.items():
        place = folder / name
        venv.create(place, clear=True, with_pip=True)
        python = str(place / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        pip = [python, "-m", "pip", "install", "-q"]
        # checkers read types alone, so what runs need not be there
        subprocess.run([*pip, "--no-deps", *target], check=True)
        tools = ["mypy", "basedpyright", "jedi", "msgspec", "numpy", "pandas-stubs"]
        subprocess.run([*pip, *tools], check=True)
        found = [each for checker in CHECKERS for each in wrong_types(python, checker)]
        loaders, keywords = completions(python)
        found += ["jedi: load_run"] * ("load_run" not in loaders)
        found += ["jedi: timeout_s="] * ("timeout_s=" not in keywords)
        print(f"{name}: {'; '.join(found) or 'all types, names and keywords are seen'}", flush=True)
        wrong += found
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
