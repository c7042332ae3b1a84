"""Which equilibrium each verified profile is: filled into the records of cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from eqbench.equilibria import Identifier, cluster_identities
from eqbench.harness.evidence import Finding
from eqbench.model.game import Game
from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord, EquilibriumRecord


def identity_of(identifier: Identifier, finding: Finding) -> dict[str, Any] | None:
    """Identity of a measured profile in JSON values, None if it is nothing that is known."""
    identity = identifier.identify(finding.candidate.profile, finding.max_regret)
    return None if identity is None else identity.to_json()


def name_clusters(
    folder: RunFolder, records: Iterable[CellRecord], games: Mapping[str, Game], tolerance: float
) -> None:
    """Write down the clusters of those equilibria in a run that nothing known is near to.

    They are numbered per game, in the order of the cells and then of the regrets.

    Parameters
    ----------
    games : by canonical spec
    tolerance : share of the payoff range up to which a profile counts as an equilibrium

    Raises
    ------
    StoreError
        If the folder cannot be written.
    """
    unknown: dict[str, list[EquilibriumRecord]] = {}
    for record in records:
        if record.game_spec in games:
            allowed = tolerance * games[record.game_spec].tree.payoff_range
            unknown.setdefault(record.game_spec, []).extend(
                item
                for item in record.equilibria
                if item.max_regret <= allowed and item.profile and not _is_known(item)
            )
    clusters: dict[str, dict[str, Any]] = {}
    for spec, items in unknown.items():
        profiles = [_read(folder, item, games[spec]) for item in items]
        regrets = [item.max_regret for item in items]
        for item, identity in zip(
            items, cluster_identities(games[spec], profiles, regrets), strict=True
        ):
            if identity is not None and item.profile is not None:
                clusters[item.profile] = identity.to_json()
    folder.write_clusters(clusters)


def _is_known(item: EquilibriumRecord) -> bool:
    return item.identity is not None and not item.identity["name"].startswith("cluster:")


def _read(folder: RunFolder, item: EquilibriumRecord, game: Game) -> Any:
    assert item.profile is not None
    text = (folder.path / item.profile).read_text(encoding="utf-8")
    return profile_from_json(game.tree, parse_profile(text)).probabilities
