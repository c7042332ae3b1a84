"""Sphinx directives that write reference pages from the code, and links that leave this folder.

``{plugins} games`` and ``{plugins} solvers`` list what the registry has, with all options.
``{commands}`` lists the commands, and ``{command} NAME`` has all of one of them.
``{scopes}`` says which solver takes which kind of game.
``{described} module.Name`` puts descriptions beside the fields of a dataclass or the values of
a Literal, and the build fails if either has one that the other lacks.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, get_args, is_typeddict

import click
from docutils import nodes
from numpydoc.docscrape import NumpyDocString
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from eqbench.builtin import BUILTIN_SOLVERS, FOREIGN_GAMES, KINDS_OF_GAMES
from eqbench.cli import app
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


class Commands(SphinxDirective):
    """All commands by what they are for, each with a link to its page."""

    def run(self) -> list[nodes.Node]:
        """Lists below the titles of `eqbench --help`."""
        context = app.make_context("eqbench", [], resilient_parsing=True)
        text = ""
        for title, names in app.sections().items():
            lines = [
                f"- [`eqbench {name}`](commands/{name}.md): {_help(context, name)[0]}"
                for name in names
            ]
            text += "\n".join([f"## {title}", "", *lines, "", ""]) if lines else ""
        return self.parse_text_to_nodes(text, allow_section_headings=True)


class Command(SphinxDirective):
    """All of a command: what it is for, examples, arguments and options."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Paragraphs, examples and lists."""
        context = app.make_context("eqbench", [], resilient_parsing=True)
        text = "\n\n".join(_command_lines(context, self.arguments[0]))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _help(parent: click.Context, name: str) -> list[str]:
    """Paragraphs of the help of a command as Markdown."""
    command = parent.command.get_command(parent, name)
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    return [_escaped(part.replace("\b", "").strip()) for part in paragraphs]


def _command_lines(parent: click.Context, name: str) -> Iterator[str]:
    """Blocks of Markdown on a command."""
    command = parent.command.get_command(parent, name)
    context = click.Context(command, info_name=name, parent=parent)
    yield from _help(parent, name)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```"
    if lines := examples(context):
        yield "\n".join(["For example:", "", "```sh", *lines, "```"])
    options = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    for names, text in filter(None, options):
        if text:
            yield f"`{names}`\n: {_escaped(' '.join(text.split()))}"


def _escaped(text: str) -> str:
    """Plain text as Markdown, with options as code."""
    text = re.sub(r"([\\`*_<>\[\]|])", r"\\\1", text)
    return re.sub(r"(?<![\w-])--[a-z][a-z-]*", lambda match: f"`{match[0]}`", text)


class Scopes(SphinxDirective):
    """A table of which solvers take which kinds of games, as they themselves say."""

    def run(self) -> list[nodes.Node]:
        """A row for the solvers that answer alike."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, entry in BUILTIN_SOLVERS.items():
            alike.setdefault(tuple(entry.takes.values()), []).append(f"`{name}`")
        rows = [["solvers", *KINDS_OF_GAMES], ["---", *[":-:"] * len(KINDS_OF_GAMES)]]
        rows += [[", ".join(names), *answers] for answers, names in alike.items()]
        return self.parse_text_to_nodes("\n".join(f"| {' | '.join(row)} |" for row in rows))


class Described(SphinxDirective):
    """Fields of a dataclass or TypedDict, or values of a Literal, from ``name: text``."""

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
    if is_typeddict(target):
        kinds = target.__annotations__.items()
        return {name: f" ({kind.__forward_arg__})" for name, kind in kinds}
    return {str(value): "" for value in get_args(target)}


def _texts(lines: list[str]) -> dict[str, str]:
    """Descriptions by name; an indented line goes on with the one before."""
    joined = re.sub(r"\n\s+", " ", "\n".join(lines))
    pairs = (line.split(":", 1) for line in joined.splitlines() if line.strip())
    return {name.strip(): text.strip() for name, text in pairs}


# Pages of this folder that include a file from elsewhere in the repository.
_INCLUDED = {
    "benchmarks/README.md": "/reference/benchmarks.md",
    "CHANGELOG.md": "/reference/changelog.md",
}


def link_to_included_pages(sphinx: Sphinx, docname: str, source: list[str]) -> None:
    """Point links to files outside this folder at the pages that include them."""
    for file, page in _INCLUDED.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{re.escape(file)}", f"]({page}", source[0])


def public_name(sphinx: Sphinx, env: Any, node: Any, contnode: nodes.Node) -> nodes.Node | None:
    """Resolve where a class is defined to where it is documented, ``eqbench.Name``."""
    import eqbench

    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in eqbench.__all__:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(
        env, node["refdoc"], sphinx.builder, node["reftype"], f"eqbench.{name}", node, contnode
    )


def escape_docstring(*event: Any) -> None:
    """Keep names such as ``P1|1:|bet`` in help texts of studies from being substitutions."""
    *_, item, _, lines = event
    if getattr(item, "__module__", "") == "eqbench.api.studies":
        lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(sphinx: Sphinx) -> dict[str, bool]:
    """Register the directives and handlers."""
    sphinx.add_directive("plugins", Plugins)
    sphinx.add_directive("commands", Commands)
    sphinx.add_directive("command", Command)
    sphinx.add_directive("scopes", Scopes)
    sphinx.add_directive("described", Described)
    sphinx.connect("source-read", link_to_included_pages)
    sphinx.connect("autodoc-process-docstring", escape_docstring, priority=400)
    sphinx.connect("missing-reference", public_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
