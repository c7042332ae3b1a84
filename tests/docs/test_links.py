"""Every link of the documentation leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from helpers.documentation import PAGES

_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_EXTERNAL = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def link_faults(page: Path) -> list[str]:
    """Messages on relative links of a page whose file or heading does not exist.

    Addresses outside are not looked up. A link to a heading needs one with that anchor, as
    GitHub makes them.
    """
    faults = []
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    for target in _LINK.findall(re.sub(r"`[^`\n]*`", "`code`", text)):
        if _EXTERNAL.match(target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        if not file.exists():
            faults.append(f"{page.name}: {target}: there is no {path}")
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            faults.append(f"{page.name}: {target}: no heading of {file.name} has this anchor")
    return faults


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page; of equal ones the second ends in ``-1`` and so on."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        base = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        anchor, count = base, 0
        while anchor in found:
            count += 1
            anchor = f"{base}-{count}"
        found.add(anchor)
    return found


def test_links_of_all_pages_lead_somewhere() -> None:
    assert [fault for page in PAGES for fault in link_faults(page)] == []


def test_links_that_lead_nowhere_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(
        "# Here\n\n## Same words\n\n## Same words\n\n```\n# no\n```\n"
    )
    page = tmp_path / "page.md"
    page.write_text(
        "# A page: `code`, really\n\n"
        "[good](other.md) [good](other.md#same-words-1) [good](#a-page-code-really)\n"
        "[outside](https://example.org/nowhere) `[code](is-no-link.md)`\n\n"
        "```\n[in a block](is-no-link.md)\n```\n\n"
        "[bad](missing.md), ![bad](missing.svg) and [bad [1]](other.md#there)\n"
        "[bad](other.md#no) [bad](#nowhere)\n"
    )
    bad = [fault.split(": ")[1] for fault in link_faults(page)]
    assert bad == ["missing.md", "missing.svg", "other.md#there", "other.md#no", "#nowhere"]
