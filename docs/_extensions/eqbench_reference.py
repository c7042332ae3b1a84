"""Sphinx directives that write reference pages from the code, and links that leave this folder.

``{plugins} games`` and ``{plugins} solvers`` list what the registry has, with all options.
``{described} module.Name`` puts descriptions beside the fields of a dataclass or the values of
a Literal, and the build fails if either has one that the other lacks.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from itertools import groupby
from typing import Any, get_args

from docutils import nodes
from numpydoc.docscrape import NumpyDocString
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from eqbench.builtin import FOREIGN_GAMES
from eqbench.cli.options import examples
from eqbench.plugins import Entry
from eqbench.registry import default_registry
from eqbench.spec import format_value


class Plugins(SphinxDirective):
    """All built-in games or solvers: names, what they are, options and defaults."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Sections, one for each class; presets of one class share a section."""
        registry = default_registry()
        kinds = {"games": registry.games, "solvers": registry.solvers}
        if self.arguments[0] not in kinds:
            raise self.error(f"{self.arguments[0]!r} is neither games nor solvers")
        entries = [entry for entry in kinds[self.arguments[0]]() if entry.builtin]
        by_class = groupby(sorted(entries, key=_first_with(entries)), lambda entry: entry.target)
        text = "\n".join(_section(list(group)) for _, group in by_class)
        if self.arguments[0] == "games":
            foreign = "\n".join(_name_line(entry) for entry in FOREIGN_GAMES.values())
            text += f"\n## Games from elsewhere\n\n{foreign}\n"
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _first_with(entries: list[Entry]) -> Any:
    """Sort key that keeps the order of the table and puts presets beside their class."""
    targets = [entry.target for entry in entries]
    return lambda entry: targets.index(entry.target)


def _section(entries: list[Entry]) -> str:
    """Markdown on one class, whose names are `entries`."""
    module, _, name = entries[0].target.partition(":")
    cls = getattr(importlib.import_module(module), name)
    text = NumpyDocString(inspect.getdoc(cls) or "")
    prose = "\n".join([*text["Summary"], "", *text["Extended Summary"]])
    names = "\n".join(_name_line(entry) for entry in entries)
    needed = ", ".join(entries[0].requires)
    parts = [f"## {entries[0].name}", names, prose]
    parts += [f"Needs {needed}."] if needed else []
    docs = {
        option.strip(): ". ".join(filter(None, [parameter.type, " ".join(parameter.desc)]))
        for parameter in text["Parameters"]
        for option in parameter.name.split(",")
    }
    for option in default_registry().options(entries[0]):
        if option.name not in docs:
            raise ValueError(f"the option {option.name} of {entries[0].name} is not documented")
        default = "required" if option.required else f"default `{format_value(option.default)}`"
        parts.append(f"`{option.name}` ({option.type}; {default})\n: {docs[option.name]}")
    return "\n\n".join(parts) + "\n"


def _name_line(entry: Entry) -> str:
    """Item of a list with the name of an entry, its summary and what it presets."""
    preset = ", ".join(f"{name}={format_value(value)}" for name, value in entry.preset.items())
    more = f" Sets `{preset}`." if preset else ""
    more += "" if entry.default_row else " Not in `all`."
    return f"- `{entry.name}`: {entry.summary}.{more}"


class Described(SphinxDirective):
    """A table of the fields of a dataclass or the values of a Literal, from ``name: text``."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Definition list in the order of the code."""
        module, _, name = self.arguments[0].rpartition(".")
        types = _types(getattr(importlib.import_module(module), name))
        texts = _texts(list(self.content))
        if set(types) != set(texts):
            raise self.error(
                f"{self.arguments[0]} has {sorted(set(types) - set(texts))} without a description; "
                f"descriptions of what it has not: {sorted(set(texts) - set(types))}"
            )
        return self.parse_text_to_nodes(
            "\n\n".join(f"`{key}`{kind}\n: {texts[key]}" for key, kind in types.items())
        )


def _types(target: Any) -> dict[str, str]:
    """Names that need a description, each with its type in words."""
    if dataclasses.is_dataclass(target):
        return {field.name: f" ({field.type})" for field in dataclasses.fields(target)}
    return {str(value): "" for value in get_args(target)}


def _texts(lines: list[str]) -> dict[str, str]:
    """Descriptions by name; an indented line goes on with the one before."""
    joined = re.sub(r"\n\s+", " ", "\n".join(lines))
    pairs = (line.split(":", 1) for line in joined.splitlines() if line.strip())
    return {name.strip(): text.strip() for name, text in pairs}


# Pages of this folder that include a file from elsewhere in the repository.
_INCLUDED = {"benchmarks/README.md": "/benchmarks.md", "CHANGELOG.md": "/changelog.md"}


def link_to_included_pages(app: Sphinx, docname: str, source: list[str]) -> None:
    """Point links to files outside this folder at the pages that include them."""
    for file, page in _INCLUDED.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{re.escape(file)}", f"]({page}", source[0])


def public_name(app: Sphinx, env: Any, node: Any, contnode: nodes.Node) -> nodes.Node | None:
    """Resolve where a class is defined to where it is documented, ``eqbench.Name``."""
    import eqbench

    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in eqbench.__all__:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], f"eqbench.{name}", node, contnode
    )


def escape_bars(app: Sphinx, context: Any, lines: list[str]) -> None:
    """Keep names such as ``P1|1:|bet`` in help texts from being read as substitutions."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def show_examples(app: Sphinx, context: Any, lines: list[str]) -> None:
    """Put the examples of a command below its options."""
    if found := examples(context):
        lines += [".. rubric:: Examples", "", ".. code-block:: sh", ""]
        lines += [*(f"   {line}" for line in found), ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives and handlers."""
    app.add_directive("plugins", Plugins)
    app.add_directive("described", Described)
    app.connect("source-read", link_to_included_pages)
    app.connect("sphinx-click-process-options", escape_bars)
    app.connect("sphinx-click-process-epilog", show_examples)
    app.connect("missing-reference", public_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
