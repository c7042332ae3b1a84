"""How large a game may become, wherever it is built."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from eqbench.errors import GameTooLargeError

DEFAULT_MAX_NODES = 15_000_000  # these are built and compiled within 3 GiB
# Peak while a large dealt game is built and compiled (benchmark large_games); games that are
# put together node by node take up to 600.
BUILDING_BYTES_PER_NODE = 200

# Peak for each hand at a public node, while such a game is compiled, solved and verified.
PRODUCT_BYTES = 700
# Of an iteration of CFR for each hand of each player at an ending, of one card or of two, on one
# thread (benchmark products).
HAND_S = 15e-9, 45e-9
# From so many nodes on a dealt game is solved as a product, and its tree is built on demand only.
PRODUCTS_FROM = 1_000_000
MOST_DESCRIBED = 10_000  # information sets of a product whose play is put in words
PRODUCT_PLAYERS = 4  # with more, measuring a profile takes minutes
MOST_PUBLIC = 2_000_000  # nodes of such a game without its hands, which are compiled one by one

_max_nodes: ContextVar[int] = ContextVar("max_nodes", default=DEFAULT_MAX_NODES)


@contextmanager
def node_limit(max_nodes: int) -> Iterator[None]:
    """Allow games of up to `max_nodes` nodes inside the block."""
    token = _max_nodes.set(max_nodes)
    try:
        yield
    finally:
        _max_nodes.reset(token)


def max_nodes() -> int:
    """Number of nodes that a game may have here; never more than this machine can build."""
    return min(_max_nodes.get(), machine_bytes() // BUILDING_BYTES_PER_NODE)


@contextmanager
def enough_memory(name: str) -> Iterator[None]:
    """Turn running out of memory while a game is built into an error of the request."""
    try:
        yield
    except MemoryError:
        raise GameTooLargeError(
            f"there is not enough memory to build {name}; choose a smaller game, or allow the "
            "process more memory"
        ) from None


def check_expected_nodes(name: str, expected: int) -> None:
    """Refuse a game that is known to become too large, before any of it is built.

    Raises
    ------
    GameTooLargeError
    """
    if expected > max_nodes():
        raise GameTooLargeError(
            f"{name} has about {_count(expected)} nodes, which take "
            f"{_memory(expected * BUILDING_BYTES_PER_NODE)} to build; allowed are "
            f"{max_nodes():,} nodes; {_way_out()}"
        )


def check_product(name: str, public: int, hands: int) -> None:
    """Refuse a dealt game that is too large as a product too, before any of it is compiled.

    Raises
    ------
    GameTooLargeError
    """
    needed = public * hands * PRODUCT_BYTES
    if public > MOST_PUBLIC or needed > machine_bytes():
        raise GameTooLargeError(
            f"{name} has about {_count(public)} public nodes with {hands:,} hands each, which take "
            f"{_memory(needed)} to solve; allowed are {MOST_PUBLIC:,} public nodes, and this "
            f"machine has {_memory(machine_bytes())}; choose a smaller game"
        )


def _count(number: int) -> str:
    if number < 10**12:
        return f"{number:,}"
    return "10^4000 or more" if number >= 10**4000 else f"10^{len(str(number)) - 1}"


def too_large() -> GameTooLargeError:
    """The error for a game that has grown beyond what is allowed while it was built."""
    return GameTooLargeError(
        f"the game has more than {max_nodes():,} nodes, as many as are allowed; {_way_out()}"
    )


def _way_out() -> str:
    if max_nodes() < _max_nodes.get():
        return f"choose a smaller game: this machine has {_memory(machine_bytes())}"
    return "choose a smaller game, or allow a run more with --max-nodes"


@cache
def machine_bytes() -> int:
    """Return the memory of this machine."""
    if sys.platform != "win32":
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    else:
        import psutil

        return int(psutil.virtual_memory().total)


def _memory(size: int) -> str:
    if size < 2**30:
        return f"about {size / 2**20:,.0f} MiB"
    return f"about {size / 2**30:,.1f} GiB" if size < 2**50 else "more memory than any machine has"
