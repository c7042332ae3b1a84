"""Options of games and solvers: values of a spec become fields of a dataclass, and back.

A field may be an int, float, Fraction, bool, str, a Literal of words, integers or booleans,
or a union of these and None. In a spec None is the word ``none``, infinity the word ``inf``.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from eqbench.errors import SpecError, nearest_first
from eqbench.spec import Value, format_value

OptionValue = Value | float | None

_TYPE_TEXTS = {
    int: "integer",
    float: "number",
    Fraction: "exact number",
    bool: "true or false",
    str: "text",
    types.NoneType: "none",
}


@dataclass(frozen=True)
class ListedOption:
    """One option of a game or solver, as it is listed.

    Attributes
    ----------
    name : str
    type : what a value may be, in words
    default : value if the option is not given; meaningless where `required`
    required : whether there is no default
    choices : the allowed words, if they are a closed list
    doc : the line after ``name :`` under "Parameters" in the class docstring, or empty
    """

    name: str
    type: str
    default: OptionValue = None
    required: bool = False
    choices: tuple[str, ...] = ()
    doc: str = ""

    def as_listed(self) -> dict[str, Any]:
        """JSON values, with the default as it stands in a spec."""
        return {
            "name": self.name,
            "type": self.type,
            "default": "required" if self.required else format_value(self.default),
            "choices": self.choices,
            "doc": self.doc,
        }


def list_options(cls: type, preset: Mapping[str, OptionValue]) -> list[ListedOption]:
    """Options of a dataclass in field order; `preset` replaces defaults.

    Raises
    ------
    TypeError
        As :func:`option_fields`.
    """
    docs = _parameter_docs(cls)
    options = []
    for name, field in option_fields(cls).items():
        required, default = field.required, field.default
        if name in preset:
            required, default = False, _coerce(preset[name], field.hint)
        text, choices = type_text(field.hint), tuple(map(format_value, _choices(field.hint)))
        options.append(ListedOption(name, text, default, required, choices, docs.get(name, "")))
    return options


def construct(
    cls: type,
    name: str,
    preset: Mapping[str, OptionValue],
    given: Iterable[tuple[str, OptionValue]],
) -> Any:
    """Instance of `cls` with the given options; `preset` holds for those not given.

    `name` is what error messages call the game or solver.

    Raises
    ------
    SpecError
        If an option is unknown, missing or of the wrong type, or the class refuses the values.
    """
    fields = option_fields(cls)
    chosen = dict(preset) | dict(given)
    for option in chosen:
        if option not in fields:
            allowed = nearest_first(option, fields, "options") if fields else "it has no options"
            raise SpecError(f"unknown option {option!r} of {name}: {allowed}")
    for option, field in fields.items():
        if field.required and option not in chosen:
            raise SpecError(
                f"{name}: the option {option!r} ({type_text(field.hint)}) has no default; "
                f"write {name}({option}=...)"
            )
    values = {}
    for option, value in chosen.items():
        hint = fields[option].hint
        try:
            values[option] = _coerce(value, hint)
        except (ValueError, OverflowError):
            written = format_value(value)
            choices = [format_value(choice) for choice in _choices(hint)]
            wanted = f"expected {type_text(hint)}"
            if choices:
                wanted = nearest_first(written, choices, "choices")
            shown = written if len(written) <= 60 else f"{written[:60]}..."
            raise SpecError(f"{name}: {option}={shown} is not allowed; {wanted}") from None
    try:
        return cls(**values)
    except (SpecError, ValueError) as error:
        raise SpecError(f"{name}: {error}") from error


def canonical_text(name: str, instance: Any) -> str:
    """Spec with all options in field order, as they stand on the instance.

    Raises
    ------
    TypeError
        If a field holds a value that no spec can express.
    """
    values = ",".join(f"{key}={text}" for key, text in option_texts(instance).items())
    return f"{name}({values})" if values else name


def option_texts(instance: Any) -> dict[str, str]:
    """Texts of the options of an instance by name in field order, as they stand in a spec.

    Raises
    ------
    TypeError
        If a field holds a value that no spec can express.
    """
    texts = {}
    for name, field in option_fields(type(instance)).items():
        value = getattr(instance, name)
        # NumPy's scalars stand for the number that they are, and a default may be written 1 for 1.0
        if not isinstance(value, bool | int | Fraction):
            if isinstance(value, numbers.Rational):
                value = Fraction(int(value.numerator), int(value.denominator))
            elif isinstance(value, numbers.Real):
                value = float(value)
        value = float(value) if field.hint is float and isinstance(value, int) else value
        unwritable = isinstance(value, float) and math.isnan(value)
        if unwritable or not isinstance(value, str | bool | int | float | Fraction | None):
            raise TypeError(f"the option {name} holds {value!r}, which cannot be written in a spec")
        texts[name] = format_value(value)
    return texts


def type_text(hint: Any) -> str:
    """What a value of this type may be, in words.

    Raises
    ------
    TypeError
        If no spec can express such values.
    """
    if hint in _TYPE_TEXTS:
        return _TYPE_TEXTS[hint]
    if get_origin(hint) is Literal:
        if all(type(choice) in (str, int, bool) for choice in get_args(hint)):
            return f"one of {', '.join(map(format_value, get_args(hint)))}"
    elif get_origin(hint) in (Union, types.UnionType):
        return " or ".join(map(type_text, _members(hint)))
    raise TypeError(
        f"the type {hint} cannot be written in a spec; "
        "use int, float, Fraction, bool, str, Literal, or a union of these and None"
    )


class OptionField(NamedTuple):
    """Type of an option, whether it must be given, and else its default."""

    hint: Any
    required: bool
    default: Any


def option_fields(cls: type) -> dict[str, OptionField]:
    """Fields of the constructor of a dataclass by name, all of which a spec can express.

    Raises
    ------
    TypeError
        If `cls` is no dataclass, or a field has a type that no spec can express.
    """
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__qualname__} is not a dataclass, and its fields are the options")
    try:
        hints = get_type_hints(cls)
    except NameError as error:
        raise TypeError(
            f"a field of {cls.__qualname__} has an unknown type: {error}; "
            "import the type when the program runs, not only for type checkers"
        ) from error
    fields = {}
    for field in dataclasses.fields(cls):
        if field.init:
            type_text(hints[field.name])
            default = field.default
            if field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            required = default is dataclasses.MISSING
            fields[field.name] = OptionField(hints[field.name], required, default)
    return fields


def _members(hint: Any) -> list[Any]:
    """Members of a union, in the order to try them: any word is text, so text comes last."""
    rank = {types.NoneType: 1, str: 2}
    return sorted(get_args(hint), key=lambda member: rank.get(member, 0))


def _choices(hint: Any) -> list[Value]:
    """Closed list of the values of a Literal or of a union of Literals and None."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        parts = [_choices(member) for member in _members(hint) if member is not types.NoneType]
        if all(parts):
            none: list[Value] = ["none"] if types.NoneType in get_args(hint) else []
            return [choice for part in parts for choice in part] + none
    return []


def _coerce(value: OptionValue, hint: Any) -> Any:
    """Value as `hint` wants it; ValueError or OverflowError if it does not fit."""
    if get_origin(hint) is Literal:
        for choice in get_args(hint):
            if type(choice) is type(value) and choice == value:
                return choice
    elif get_origin(hint) in (Union, types.UnionType):
        for member in _members(hint):
            try:
                return _coerce(value, member)
            except (ValueError, OverflowError):
                continue
    elif hint is types.NoneType:
        if value is None or value == "none":
            return None
    elif hint is bool:
        if isinstance(value, bool):
            return value
    elif hint is str:
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return format_value(value)
    elif hint is float and value in ("inf", "-inf"):
        return float(value)
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        # A float given from Python means the decimal that it prints as.
        exact = Fraction(repr(value)) if isinstance(value, float) and hint is not float else value
        if hint in (float, Fraction):
            return hint(exact)
        if exact == int(exact):
            return int(exact)
    raise ValueError(value)


def _parameter_docs(cls: type) -> dict[str, str]:
    """First lines of a NumPy-style "Parameters" section; ``a, b : text`` documents both."""
    lines = (cls.__doc__ or "").expandtabs().splitlines()
    docs: dict[str, str] = {}
    inside = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch(r"\s*-{3,}\s*", following):
            inside = line.strip() == "Parameters"
        elif inside and (match := re.fullmatch(r"\s*([\w, ]+?) : (.+)", line)):
            docs |= dict.fromkeys(re.split(r",\s*", match[1]), match[2].strip())
    return docs
