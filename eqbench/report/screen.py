"""The console that all tables are printed to; nothing in a text can steer it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from eqbench.text import printable_lines


class Screen(Console):
    """A console for texts from outside.

    It reads no markup, and of the texts that are printed only line breaks and what is printable
    gets out; codes for colors are its own. A table measures a `rich.text.Text` before that, so
    one from outside is best made printable at once, or handed over as a plain string.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable_lines(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            # a segment with control codes is rich's own, for example one that moves the cursor
            yield (
                segment if segment.control else segment._replace(text=printable_lines(segment.text))
            )
