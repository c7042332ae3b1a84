"""Which equilibrium each verified profile is: filled into the records of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from eqbench.documents import read_file
from eqbench.equilibria import Identifier, Identity, cluster_identities
from eqbench.errors import ProfileError
from eqbench.harness.evidence import Finding
from eqbench.model.game import Game
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.model.tree import FloatArray
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import Clusters, EquilibriumRecord, IdentityRecord


def identity_of(identifier: Identifier, finding: Finding) -> IdentityRecord | None:
    """Identity of a measured profile in JSON values, None if it is nothing that is known."""
    identity = identifier.identify(finding.candidate.profile, finding.max_regret)
    return None if identity is None else _record(identity)


def name_clusters(
    folder: RunFolder, planned: Sequence[str], games: Mapping[str, Game], tolerance: float
) -> None:
    """Write down the clusters of those equilibria in a run that nothing known is near to.

    They are numbered per game: first those of the planned cells in their order, then those of
    cells that other runners planned. Equilibria whose profile cannot be read any more get no
    name.

    Parameters
    ----------
    planned : keys of cells
    games : by canonical spec; of other games what was written before is kept
    tolerance : share of the payoff range up to which a profile counts as an equilibrium

    Raises
    ------
    StoreError
        If the folder cannot be written.
    """
    stored = {record.key: record for record in folder.cells()}
    keys = dict.fromkeys([*(key for key in planned if key in stored), *stored])
    unknown: dict[str, list[tuple[str, EquilibriumRecord]]] = {spec: [] for spec in games}
    others: Clusters = {}
    for record in map(stored.__getitem__, keys):
        for item in record.equilibria:
            if item.profile is None or _is_known(item):
                continue
            if record.game_spec in games:
                allowed = tolerance * games[record.game_spec].tree.payoff_scale
                if item.max_regret <= allowed:
                    unknown[record.game_spec].append((item.profile, item))
            elif item.identity is not None:
                others[item.profile] = item.identity
    for spec, items in unknown.items():
        others |= _clusters(folder, games[spec], items)
    folder.write_clusters(others)


def _clusters(
    folder: RunFolder, game: Game, items: Sequence[tuple[str, EquilibriumRecord]]
) -> Clusters:
    """Identities of equilibria of one game by the paths of their profiles."""
    read = [(path, item, _read(folder, path, game)) for path, item in items]
    found = [
        (path, item.max_regret, profile) for path, item, profile in read if profile is not None
    ]
    if not found:
        return {}
    paths, regrets, profiles = zip(*found, strict=True)
    identities = cluster_identities(game, profiles, regrets)
    return {
        path: _record(identity)
        for path, identity in zip(paths, identities, strict=True)
        if identity is not None
    }


def _record(identity: Identity) -> IdentityRecord:
    return cast("IdentityRecord", identity.to_json())


def _is_known(item: EquilibriumRecord) -> bool:
    return item.identity is not None and not item.identity["name"].startswith("cluster:")


def _read(folder: RunFolder, path: str, game: Game) -> FloatArray | None:
    try:
        text = read_file(folder.path / path, MOST_PROFILE_BYTES)
        return profile_from_json(game.tree, parse_profile(text)).probabilities
    except (OSError, ProfileError):  # somebody has deleted or changed it
        return None
