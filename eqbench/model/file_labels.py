"""Labels as Gambit's game files hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def quoted(label: str) -> str:
    """Label in quotation marks; only quotation marks are escaped in these files."""
    return '"' + label.replace('"', '\\"') + '"'


def file_label(label: str) -> str:
    """Label that Gambit 17 accepts: most stay as they are.

    It wants no control characters and single spaces between words only. A backslash at the end
    would escape the closing quotation mark, so an underscore follows it.
    """
    text = label.encode("utf-8", "replace").decode()
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f"{text}_" if text.endswith("\\") else text


def file_labels(labels: Sequence[str]) -> list[str]:
    """Distinct labels that Gambit accepts, for labels that are distinct."""
    return numbered([file_label(label) for label in labels])


def numbered(labels: Sequence[str]) -> list[str]:
    """Distinct labels: what is repeated gets its position, as in ``left_1, left_2``."""
    return distinct(labels, [f"{label}_{k}" for k, label in enumerate(labels, start=1)])


def distinct(labels: Sequence[str | None], substitutes: Sequence[str]) -> list[str]:
    """Distinct labels: those that occur once stay, others become their substitutes.

    A substitute that is a label already gets underscores. None is no label.
    """
    count = Counter(labels)
    taken = {label for label in labels if count[label] == 1}
    result = []
    for label, substitute in zip(labels, substitutes, strict=True):
        if label is None or count[label] > 1:
            while substitute in taken:
                substitute += "_"
            taken.add(substitute)
            label = substitute
        result.append(label)
    return result
