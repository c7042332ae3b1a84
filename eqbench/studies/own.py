"""Studies that others write: in a file, or in an installed distribution."""

from __future__ import annotations

from typing import Any

from eqbench.errors import UsageError
from eqbench.plugins import import_plugin
from eqbench.studies.frame import Study
from eqbench.studies.requests import StudyRequest


def study_of_file(path: str) -> type[Study[Any]]:
    """Return the study that a file defines.

    Raises
    ------
    UsageError
        If the file cannot be read or run, or does not define exactly one study.
    """
    module = import_plugin(path, what="study")
    found = [
        item
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Study) and item.__module__ == module.__name__
    ]
    if len(found) != 1:
        names = ", ".join(item.__name__ for item in found)
        raise UsageError(
            f"{path} defines {f'several studies ({names}); keep one' if found else 'no study'}; "
            "a study is a class derived from eqbench.studies.frame.Study"
        )
    check_request(getattr(found[0], "request_type", None), f"request_type of {found[0].__name__}")
    return found[0]


def check_request(request: Any, what: str) -> None:
    """Refuse what is no request of a study; `what` says where it stands."""
    if not (isinstance(request, type) and issubclass(request, StudyRequest)):
        raise UsageError(f"{what} is no class derived from eqbench.studies.requests.StudyRequest")
    if "__dataclass_params__" not in vars(request) or not getattr(request, "command", ""):
        raise UsageError(
            f"{what} must be a dataclass, frozen and with keywords only, whose `command` is the "
            "name of the study"
        )
