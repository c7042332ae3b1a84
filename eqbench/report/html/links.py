"""Links on a page: what they may lead to, and how that is written as an address."""

from __future__ import annotations

from urllib.parse import quote


def address_of(link: str) -> str:
    """A link with everything quoted that would have a meaning in an address.

    Parameters
    ----------
    link : ``#anchor``, or a path relative to the page as it is on disk, which an anchor may follow
        if it ends in ``.html``

    Raises
    ------
    ValueError
        If it is anything else, such as an address with a scheme.
    """
    page, sign, anchor = link.rpartition("#")
    if not sign or (page and not page.endswith(".html")):
        page, sign, anchor = link, "", ""  # a # in the name of a file
    if page.startswith("/") or ":" in page.partition("/")[0]:
        raise ValueError(
            f"{link!r} is no link for a page: give #anchor, or a path relative to the page, which "
            "begins with no / and has no : before its first /"
        )
    return quote(page) + sign + quote(anchor)
