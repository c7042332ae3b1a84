"""Which equilibrium is it: published sets, and clusters and continua of what is not published.

Whether a profile is an equilibrium is measured elsewhere; here it is only recognized.
"""

from eqbench.equilibria.clusters import (
    Completeness,
    Component,
    completeness,
    connected_components,
)
from eqbench.equilibria.dimension import Dimension, local_dimension
from eqbench.equilibria.identity import (
    Identifier,
    Identity,
    cluster_identities,
)
from eqbench.equilibria.known import (
    KnownEquilibria,
    check_documents,
    known_corners,
    known_equilibria,
    known_sets,
)
from eqbench.equilibria.published import SameGame, same_games
from eqbench.equilibria.reference import KnownSet

__all__ = [
    "Completeness",
    "Component",
    "Dimension",
    "Identifier",
    "Identity",
    "KnownEquilibria",
    "KnownSet",
    "SameGame",
    "check_documents",
    "cluster_identities",
    "completeness",
    "connected_components",
    "known_corners",
    "known_equilibria",
    "known_sets",
    "local_dimension",
    "same_games",
]
