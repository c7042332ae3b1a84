"""The playground in a real browser; CPython stands in for Pyodide, whose NumPy is not at hand."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from browser.test_report_page import browser  # noqa: F401
from playground import build

import eqbench

STAND_IN = Path(__file__).parents[1] / "helpers" / "pyodide"
HOSTILE = "<img src=x onerror=alert(1)>"
# P1 chooses what both get, 3 or 1; the best is known
PASTED = f"""EFG 2 R "{HOSTILE}" {{ "{HOSTILE}" "P2" }}
p "" 1 1 "s" {{ "{HOSTILE}" "b" }} 0
t "" 1 "" {{ 3, 1/3 }}
t "" 2 "" {{ 1, 1 }}
"""


class Served(SimpleHTTPRequestHandler):
    """Files of the page, and an interpreter that has what the page unpacked."""

    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = b""
        if self.path == "/unpack":  # a page that starts, perhaps since it has ended a call
            if server.is_busy:
                server.end()
            ZipFile(io.BytesIO(body)).extractall(server.folder)
        elif self.path == "/write":
            (server.folder / "answers.py").write_bytes(body)
        else:
            answer = server.called(body)
        with suppress(BrokenPipeError):  # nothing waits for it any longer
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class Server(ThreadingHTTPServer):
    """Server of a page; `folder` is what its interpreter imports from."""

    daemon_threads = True
    is_busy = False
    folder: Path
    python: subprocess.Popen[bytes] | None = None

    def called(self, line: bytes) -> bytes:
        if self.python is None:
            words = [sys.executable, str(STAND_IN / "interpreter.py"), str(self.folder)]
            self.python = subprocess.Popen(words, stdin=-1, stdout=-1)
        process = self.python
        assert process.stdin is not None
        assert process.stdout is not None
        self.is_busy = True
        process.stdin.write(line + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        self.is_busy = False
        return answer

    def end(self) -> None:
        if self.python is not None:
            self.python.kill()
            self.python.communicate()
            self.python = None


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("playground") / "out"
    assert build.main([str(out), "--pyodide", str(STAND_IN)]) == 0
    return out


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[Server]:
    with Server(("127.0.0.1", 0), partial(Served, directory=str(site))) as server:
        server.folder = site.parent / "imported"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.end()
        server.shutdown()


@pytest.fixture
def page(server: Server, browser: Any) -> Iterator[Any]:  # noqa: F811
    page, complaints, asked = browser.new_page(), [], set[str]()
    address = f"http://127.0.0.1:{server.server_port}/"
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.add(request.url))
    page.goto(address)
    yield page
    page.close()
    assert complaints == []
    assert all(url.startswith((address, "data:")) for url in asked)


def shown(page: Any, method: str) -> list[list[str]]:
    """Cells of the table, once all is drawn that belongs to an answer of this method."""
    page.wait_for_function(
        "(method) => document.getElementById('outcome').textContent.startsWith(`${method}: `)"
        " && !document.getElementById('chosen').hidden"
        " && document.getElementById('state').textContent === ''",
        arg=method,
    )
    assert page.evaluate("[...document.images].every((image) => image.hidden || image.complete)")
    rows = page.locator("#found tbody tr").all()
    return [row.locator("td").all_text_contents() for row in rows]


def test_first_game_has_its_known_value_and_follows_the_pot(page: Any) -> None:
    (row,) = shown(page, "sequence_lp")
    assert [float(text) for text in row[1:3]] == pytest.approx([-1 / 18, 1 / 18], abs=1e-6)
    assert float(row[3]) < 1e-12
    assert "sequential: certified" in page.text_content("#words")
    assert page.evaluate("document.getElementById('tree').naturalWidth") > 300
    with page.expect_download() as saved:
        page.click("#save")
    profile = json.loads(Path(saved.value.path()).read_text())
    assert eqbench.verify("kuhn2", profile).max_regret < 1e-12
    page.fill("#slider", "3.5")
    page.dispatch_event("#slider", "change")
    page.wait_for_selector("#title:has-text('pot=7/2')")
    (row,) = shown(page, "sequence_lp")
    expected = eqbench.solve("kuhn2(pot=7/2)", "lcp").payoffs
    assert [float(text) for text in row[1:3]] == pytest.approx(list(expected), abs=1e-6)


def test_pasted_game_is_solved_and_its_texts_stay_texts(page: Any) -> None:
    shown(page, "sequence_lp")
    page.select_option("#game", "")
    page.fill("#text", PASTED)
    page.dispatch_event("#text", "change")
    (row,) = shown(page, "lcp")
    assert row[1:4] == ["3", "0.333333", "0"]
    assert HOSTILE in page.locator("#found th").nth(1).text_content()
    assert page.locator("img").count() == 2
    page.fill("#text", 'EFG 2 R "cut')
    page.dispatch_event("#text", "change")
    page.wait_for_selector("#state.error")
    assert "pasted.efg" in page.text_content("#state")
    assert "Traceback" not in page.text_content("#state")
    page.select_option("#game", "jordan")
    assert shown(page, "logit")[0][1:4] == ["0", "0", "0"]


def test_solve_that_is_stopped_leaves_the_page_usable(page: Any) -> None:
    shown(page, "sequence_lp")
    page.fill("#seconds", "100")
    page.select_option("#method", "mmd")
    page.wait_for_selector("#state:text('mmd is solving')")
    page.click("#stop")
    page.wait_for_selector("#state:text-is('stopped')")
    page.select_option("#method", "lcp")
    assert float(shown(page, "lcp")[0][1]) == pytest.approx(-1 / 18, abs=1e-6)


def test_page_names_packages_that_cannot_be_loaded(page: Any, site: Path) -> None:
    settings = json.loads((site / build.MARK).read_text())
    changed = json.dumps(settings | {"packages": ["numpy", "absent"]})
    page.route("**/" + build.MARK, lambda route: route.fulfill(body=changed))
    page.reload()
    page.wait_for_selector("#state.error")
    assert "not found" in page.text_content("#state")
    assert page.text_content("#state").endswith("/pyodide/: absent")


def test_folders_of_others_and_wrong_files_are_refused(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "mine.txt").write_text("x")
    (tmp_path / "no").mkdir()
    for words in (
        [str(tmp_path)],
        [str(tmp_path / "new"), "--pyodide", str(tmp_path / "no")],
        [str(tmp_path / "new"), "--wheel", str(tmp_path / "mine.txt")],
    ):
        assert build.main(words) == 2
        assert "Traceback" not in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", "no"]
