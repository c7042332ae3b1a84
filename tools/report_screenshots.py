"""Screenshots of the page of a report, for the documentation.

Usage: python tools/report_screenshots.py RUN [--out DIR]

Writes wide.png (the first screen at 1400 pixels), figures.png (payoffs, and where time went) and
narrow.png (as on a telephone, three pieces side by side). Needs playwright and a Chromium on the
path; Pillow comes with matplotlib.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from eqbench.report.writing import page_of
from eqbench.store.stored_run import read_run

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures" / "report"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDE, NARROW = 1400, 390
LARGEST_BYTES = 300_000
COLORS = 256


def main() -> None:
    """Take the screenshots that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, image in screenshots(page_of([read_run(options.run)], summarize=False)).items():
        file = options.out / f"{name}.png"
        image.quantize(COLORS, Image.Quantize.FASTOCTREE).save(file, optimize=True)
        size = file.stat().st_size
        print(f"{file}: {image.width} x {image.height}, {size:,} bytes")
        if size > LARGEST_BYTES:
            raise SystemExit(f"{file} is larger than {LARGEST_BYTES:,} bytes; lower COLORS")


def screenshots(text: str) -> dict[str, Image.Image]:
    """Pictures of a page by name."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise SystemExit(f"no browser: none of {', '.join(BROWSERS)} is on the path")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        file.write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": WIDE, "height": 1100})
        page.goto(file.as_uri())
        page.wait_for_selector(".tabs > :not(.behind)")
        upper = _shot(page)
        figures = [_part(page, selector) for selector in ("#equilibria .beside", "#times")]
        page.set_viewport_size({"width": NARROW, "height": 1100})
        page.goto("about:blank")  # a reload would scroll later
        page.goto(file.as_uri())  # which columns are shown depends on the width at the start
        pieces = [_at(page, anchor) for anchor in ("what-was-found", "answer", "equilibria")]
        browser.close()
    return {"wide": upper, "figures": _below(figures), "narrow": _side_by_side(pieces)}


def _shot(page: Any) -> Image.Image:
    return _image(page.screenshot())


def _part(page: Any, selector: str) -> Image.Image:
    part = page.locator(selector)
    part.scroll_into_view_if_needed()
    for chart in part.locator(".chart:visible").all():
        chart.scroll_into_view_if_needed()
        chart.locator("svg").wait_for()
    page.evaluate("document.getElementById('solvers').style.position = 'static'")
    return _image(page.locator(selector).screenshot())


def _at(page: Any, anchor: str) -> Image.Image:
    page.evaluate(
        "name => document.getElementById(name).scrollIntoView({behavior: 'instant'})", anchor
    )
    page.wait_for_timeout(2000)  # charts are drawn when they come into view
    return _shot(page)


def _image(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def _below(images: Sequence[Image.Image]) -> Image.Image:
    whole = Image.new("RGB", (max(i.width for i in images), sum(i.height for i in images)), "white")
    y = 0
    for image in images:
        whole.paste(image, (0, y))
        y += image.height
    return whole


def _side_by_side(images: Sequence[Image.Image], gap: int = 24) -> Image.Image:
    width = sum(image.width + gap for image in images) - gap
    whole = Image.new("RGB", (width, max(image.height for image in images)), "white")
    x = 0
    for image in images:
        whole.paste(image, (x, 0))
        x += image.width + gap
    return whole


if __name__ == "__main__":
    main()
