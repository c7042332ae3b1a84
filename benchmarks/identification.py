"""What it costs to say which equilibrium a profile of three-player Kuhn poker is.

    python benchmarks/identification.py

Four kinds of profiles, one hundred each: members of the published family in the strict sense,
members with other behavior off the path of play, profiles near a member, and random ones. The
regret is measured before, as in a run, where that is done anyway.
"""

from __future__ import annotations

import time
from typing import Any

from measuring import use_one_thread, write_results

GAME, COUNT, SEED = "kuhn3", 100, 0
NEAR = 1e-5  # how far frequencies are moved


def main() -> None:
    """Measure, print one line per kind of profile, and write the raw results."""
    use_one_thread()
    rows = [measure(kind) for kind in KINDS]
    write_results("identification", {"game": GAME, "rows": rows})


def measure(kind: str) -> dict[str, Any]:
    """Milliseconds and outcome of every identification."""
    import numpy as np

    import eqbench
    from eqbench.equilibria import Identifier, known_corners
    from eqbench.model.profile import BehaviorProfile
    from eqbench.verification import Verifier

    game = eqbench.load_game(GAME)
    verifier, identifier = Verifier(game.tree), Identifier(game)
    corners = [profile.probabilities for _, profile in known_corners(game)]
    rng = np.random.default_rng(SEED)
    elapsed_ms, names = [], []
    for number in range(COUNT):
        behavior = KINDS[kind](game, corners[number % len(corners)], rng)
        profile = BehaviorProfile.of(game.tree, behavior)
        regret = float(verifier.verify(profile).max_regret)
        started = time.perf_counter()
        found = identifier.identify(profile, regret)
        elapsed_ms.append(1e3 * (time.perf_counter() - started))
        names.append(None if found is None else [found.name, found.on_path, found.strict])
    elapsed_ms = elapsed_ms[1:]  # the first one reads the published sets
    print(f"{kind}: median {np.median(elapsed_ms):.1f} ms, at most {max(elapsed_ms):.1f} ms")
    return {"kind": kind, "elapsed_ms": elapsed_ms, "identities": names}


def strict_member(game: Any, member: Any, rng: Any) -> Any:
    """The member itself."""
    return member


def off_path(game: Any, member: Any, rng: Any) -> Any:
    """The member, with random behavior at all information sets that are not reached."""
    import numpy as np

    from eqbench.model.inspection import infoset_reach
    from eqbench.model.profile import random_profile

    reached = np.repeat(infoset_reach(game.tree, member) > 0, np.diff(game.tree.action_start))
    return np.where(reached, member, random_profile(game.tree, rng))


def near(game: Any, member: Any, rng: Any) -> Any:
    """The member, mixed with a little of a random profile."""
    from eqbench.model.profile import random_profile

    return (1 - NEAR) * member + NEAR * random_profile(game.tree, rng)


def random(game: Any, member: Any, rng: Any) -> Any:
    """A random profile."""
    from eqbench.model.profile import random_profile

    return random_profile(game.tree, rng)


KINDS = {"strict member": strict_member, "off the path": off_path, "near": near, "random": random}


if __name__ == "__main__":
    main()
