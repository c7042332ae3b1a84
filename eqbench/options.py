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
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

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
class Option:
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


def list_options(cls: type, preset: Mapping[str, OptionValue]) -> list[Option]:
    """Options of a dataclass in field order; `preset` replaces defaults.

    Raises
    ------
    TypeError
        If `cls` is no dataclass, or a field has a type that no spec can express.
    """
    docs = _parameter_docs(cls)
    options = []
    for field, hint in _fields(cls):
        required, default = _default(field)
        if field.name in preset:
            required, default = False, preset[field.name]
        text, choices = type_text(hint), tuple(map(format_value, _choices(hint)))
        doc = docs.get(field.name, "")
        options.append(Option(field.name, text, default, required, choices, doc))
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
    fields = {field.name: (field, hint) for field, hint in _fields(cls)}
    chosen = dict(preset) | dict(given)
    unknown = [option for option in chosen if option not in fields]
    if unknown:
        allowed = nearest_first(unknown[0], fields, "options") if fields else "it has no options"
        raise SpecError(f"unknown option {unknown[0]!r} of {name}: {allowed}")
    for field, hint in fields.values():
        if field.name not in chosen and _default(field)[0]:
            raise SpecError(
                f"{name}: the option {field.name!r} ({type_text(hint)}) has no default; "
                f"write {name}({field.name}=...)"
            )
    values = {key: _read(name, key, value, fields[key][1]) for key, value in chosen.items()}
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
    for field, hint in _fields(type(instance)):
        value = getattr(instance, field.name)
        if hint is float and isinstance(value, int):
            value = float(value)  # a default may be written 1 where 1.0 is meant
        texts[field.name] = _written(field.name, value)
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


def _fields(cls: type) -> list[tuple[dataclasses.Field[Any], Any]]:
    """Fields of the constructor with their resolved types."""
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__qualname__} is not a dataclass, and its fields are the options")
    try:
        hints = get_type_hints(cls)
    except NameError as error:
        raise TypeError(
            f"a field of {cls.__qualname__} has an unknown type: {error}; "
            "import the type when the program runs, not only for type checkers"
        ) from error
    return [(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init]


def _default(field: dataclasses.Field[Any]) -> tuple[bool, Any]:
    """Whether the field must be given, and else its default."""
    if field.default_factory is not dataclasses.MISSING:
        return False, field.default_factory()
    required = field.default is dataclasses.MISSING
    return required, None if required else field.default


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


def _read(name: str, option: str, value: OptionValue, hint: Any) -> Any:
    try:
        return _coerce(value, hint)
    except (ValueError, OverflowError):
        written = format_value(value)
        choices = [format_value(choice) for choice in _choices(hint)]
        wanted = f"expected {type_text(hint)}"
        if choices:
            wanted = nearest_first(written, choices, "choices")
        shown = written if len(written) <= 60 else f"{written[:60]}..."
        raise SpecError(f"{name}: {option}={shown} is not allowed; {wanted}") from None


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
    elif hint is float and value == "inf":
        return math.inf
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return _number(value, hint)
    raise ValueError(value)


def _number(value: float | Fraction, hint: Any) -> int | float | Fraction:
    # A float given from Python means the decimal that it prints as.
    exact = Fraction(repr(value)) if isinstance(value, float) and hint is not float else value
    if hint is Fraction:
        return Fraction(exact)
    if hint is float:
        return float(exact)
    if exact != int(exact):
        raise ValueError(value)
    return int(exact)


def _written(field: str, value: Any) -> str:
    """Text of a field's value; also of NumPy's scalars, as the number that they are."""
    if not isinstance(value, bool | int | Fraction):
        if isinstance(value, numbers.Rational):
            value = Fraction(int(value.numerator), int(value.denominator))
        elif isinstance(value, numbers.Real):
            value = float(value)
    unwritable = isinstance(value, float) and (math.isnan(value) or value == -math.inf)
    if unwritable or not isinstance(value, str | bool | int | float | Fraction | None):
        raise TypeError(f"the option {field} holds {value!r}, which cannot be written in a spec")
    return format_value(value)


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
