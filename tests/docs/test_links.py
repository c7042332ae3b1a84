"""Every link of the documentation leads somewhere."""

from __future__ import annotations

from pathlib import Path

from documentation import PAGES
from documentation_links import link_faults


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
