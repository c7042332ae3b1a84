"""Reports as texts that notebooks show as they are meant."""

from __future__ import annotations

from markupsafe import escape


class ReportText(str):
    """The text of a report; a notebook shows it unquoted, and a page as a page.

    Attributes
    ----------
    form : `terminal`, `md`, `csv`, `tex` or `html`
    """

    form: str

    def __new__(cls, text: str, form: str = "terminal") -> ReportText:
        made = super().__new__(cls, text)
        made.form = form
        return made

    def _repr_html_(self) -> str:
        if self.form == "html":
            return f'<iframe srcdoc="{escape(self)}" width="100%" height="800"></iframe>'
        return f"<pre>{escape(self)}</pre>"
