"""The games and solvers that eqbench ships, as tables; none of them is imported here.

A preset fixes defaults of options, and a spec may override them. Games with a `family` are
aliases: their canonical specs carry the family's name.
"""

from __future__ import annotations

from collections.abc import Mapping

from eqbench.options import OptionValue
from eqbench.plugins import Entry, Kind, installed

# Whether a solver takes `yes`, `some` or `no` games of these kinds, as its `supports` answers for
# a few games of each; written down, so that a list of solvers need not import them all.
KINDS_OF_GAMES = (
    *("two players, zero sum", "two players, general sum", "three or more players"),
    *("strategic form", "perfect information", "large"),
)
ALL = "yes yes yes yes yes yes"
ALL_BUT_LARGE = "yes yes yes yes yes no"
TWO_PLAYERS = "yes yes no some some yes"
ZERO_SUM = "yes no no some some yes"
OF_OPENSPIEL = "yes some some some some yes"


def _game(
    name: str,
    target: str,
    summary: str,
    preset: Mapping[str, OptionValue] | None = None,
    *,
    family: str = "",
) -> Entry:
    return Entry("game", name, f"eqbench.games.{target}", summary, preset or {}, family)


def _kuhn(name: str, summary: str, **preset: OptionValue) -> Entry:
    return _game(name, "kuhn:Kuhn", summary, preset, family="kuhn")


def _classic(name: str, summary: str) -> Entry:
    return _game(name, "matrix:Matrix", summary, {"name": name}, family="matrix")


def _solver(
    name: str,
    target: str,
    summary: str,
    preset: Mapping[str, OptionValue] | None = None,
    *,
    requires: tuple[str, ...] = (),
    default_row: bool = True,
    takes: str = ALL,
    group: str = "",
) -> Entry:
    return Entry(
        "solver",
        name,
        f"eqbench.solvers.{target}",
        summary,
        preset or {},
        default_row=default_row,
        group=group,
        requires=requires,
        takes=dict(zip(KINDS_OF_GAMES, takes.split(), strict=True)),
    )


def _cfr(name: str, summary: str, preset: Mapping[str, OptionValue] | None = None) -> Entry:
    return _solver(name, "cfr.methods:CFR", summary, preset)


def _mirror(name: str, summary: str, preset: Mapping[str, OptionValue]) -> Entry:
    return _solver(name, "cfr.methods:MirrorDescent", summary, preset, default_row=False)


def _openspiel(name: str, cls: str, summary: str, *others: str, takes: str = OF_OPENSPIEL) -> Entry:
    return _solver(
        *(f"openspiel_{name}", f"openspiel.peers:{cls}", summary),
        requires=("pyspiel", *others),
        default_row=False,
        takes=takes,
        group="openspiel",
    )


def _liteefg(method: str, summary: str, takes: str = ALL) -> Entry:
    return _solver(
        *(f"liteefg_{method}", "liteefg:LiteEFG", f"LiteEFG's {summary}", {"method": method}),
        requires=("LiteEFG",),
        default_row=False,
        takes=takes,
        group="liteefg",
    )


def _gambit(
    name: str, target: str, summary: str, takes: str = ALL, *, default_row: bool = False
) -> Entry:
    return _solver(
        *(f"gambit_{name}", f"gambit.methods:{target}", f"Gambit's {summary}"),
        requires=("pygambit",),
        default_row=default_row,
        takes=takes,
        group="gambit",
    )


def _table(*entries: Entry) -> dict[str, Entry]:
    return {entry.name: entry for entry in entries}


BUILTIN_GAMES = _table(
    _kuhn("kuhn", "Kuhn poker, two to six players, any number of cards"),
    _kuhn("kuhn2", "Kuhn poker, two players, three cards", players=2),
    _kuhn("kuhn3", "Kuhn poker, three players, four cards", players=3),
    _kuhn("kuhn4", "Kuhn poker, four players, five cards", players=4),
    _kuhn("kuhn3_reduced", "kuhn3 less 22 dominated actions", players=3, reduce="dominated22"),
    _game("leduc", "leduc:Leduc", "Leduc poker, two to six players (Southey et al. 2005)"),
    _game(
        "leduc3",
        "leduc:Leduc",
        "Leduc poker, three players, eight cards",
        {"players": 3},
        family="leduc",
    ),
    _game("goofspiel", "goofspiel:Goofspiel", "Goofspiel with hidden bids"),
    _game("liars_dice", "liars_dice:LiarsDice", "liar's dice, the highest face wild"),
    _game("skp", "kuhn:SimplifiedKuhn", "simplified three-player Kuhn poker (Billingham 2017)"),
    _game("matrix", "matrix:Matrix", "a named classic in strategic form"),
    _classic("rock_paper_scissors", "rock, paper, scissors"),
    _classic("matching_pennies", "matching pennies"),
    _classic("prisoners_dilemma", "the prisoner's dilemma"),
    _classic("battle_of_sexes", "the battle of the sexes"),
    _classic("shapley", "3x3 game in which fictitious play cycles (Shapley 1964)"),
    _classic("jordan", "three-player matching pennies (Jordan 1993)"),
    _game("random", "gamut:RandomGame", "strategic form with uniform random payoffs"),
    _game("random_signed", "gamut:SignedRandomGame", "payoffs as by Černý et al. (2026)"),
    _game("covariance", "gamut:CovarianceGame", "normal payoffs with a given covariance"),
    _game("dispersion", "gamut:Dispersion", "common payoffs that reward spreading over actions"),
    _game("minimum_effort", "gamut:MinimumEffort", "weakest link (Van Huyck et al. 1990)"),
    _game("majority_voting", "gamut:MajorityVoting", "votes for candidates of random utility"),
    _game("travelers_dilemma", "gamut:TravelersDilemma", "the traveler's dilemma (Basu 1994)"),
    _game("gamut", "gamut:Gamut", "GAMUT's distributions of random games (2004)"),
    _game("random_tree", "random_tree:RandomTree", "random extensive form with perfect recall"),
)

# Games that are not named in advance: by the start or the end of their specs.
FOREIGN_GAMES = {
    "openspiel:": _game("openspiel:NAME", "openspiel:OpenSpielGame", "any game of OpenSpiel"),
    "gambit:": _game("gambit:NAME", "gambit_files:CatalogGame", "a game of Gambit's catalog"),
    ".efg": _game("PATH.efg", "gambit_files:EfgFile", "a game file of Gambit, in extensive form"),
    ".nfg": _game("PATH.nfg", "gambit_files:NfgFile", "a game file of Gambit, in strategic form"),
}

PREDICTIVE: dict[str, OptionValue]
PREDICTIVE = {"regrets": "clipped", "predictive": True, "averaging": "quadratic"}

BUILTIN_SOLVERS = _table(
    _cfr("cfr", "counterfactual regret minimization (Zinkevich et al. 2007)"),
    _cfr("cfr_plus", "CFR+ (Tammelin 2014)", {"regrets": "clipped", "averaging": "linear"}),
    _cfr(
        *("cfr_linear", "CFR with linear discounting (Brown and Sandholm 2019)"),
        {"regrets": "discounted", "alpha": 1.0, "beta": 1.0, "averaging": "linear"},
    ),
    _cfr(
        *("dcfr", "discounted CFR (Brown and Sandholm 2019)"),
        {"regrets": "discounted", "alpha": 1.5, "beta": 0.0, "averaging": "quadratic"},
    ),
    _cfr(
        *("pcfr_plus", "predictive CFR+ (Farina, Kroer and Sandholm 2021)"),
        # in turns it stops at cycles from two of three random starts on kuhn3; together, none
        PREDICTIVE | {"alternating": False},
    ),
    _cfr(
        "pcfr_plus_alternating",
        "predictive CFR+ with players in turn; for two players with constant sum",
        PREDICTIVE,
    ),
    _mirror("mmd", "magnetic mirror descent (Sokota et al. 2023)", {}),
    _mirror(
        *("reg_cfr", "regularized CFR (Liu, Ozdaglar, Yu and Zhang 2023)"),
        {
            **{"values": "dilated", "predictive": True},
            **{"step": 16.0, "slowing": 0.0, "temperature": 0.1, "cooling": 1.0},
        },
    ),
    _mirror(
        *("qfr", "Q-function based regret minimization (Liu, Farina and Ozdaglar 2024)"),
        {"values": "bidilated", "predictive": True},
    ),
    _solver(
        "mccfr",
        "cfr.methods:ExternalSampling",
        "Monte Carlo CFR with external sampling (Lanctot et al. 2009)",
    ),
    _solver(
        "fictitious_play",
        "fictitious_play.full_width:FictitiousPlay",
        "fictitious play in realization plans (Brown 1951; Heinrich et al. 2015)",
    ),
    _solver(
        "sequence_lp",
        "sequence_lp:SequenceLP",
        "linear program for two players with constant sum (von Stengel 1996)",
        takes=ZERO_SUM,
    ),
    _solver(
        "lcp",
        "lcp:LCP",
        "Lemke's algorithm for two players (Koller, Megiddo and von Stengel 1996)",
        takes=TWO_PLAYERS,
    ),
    _solver(
        "arclength",
        "arclength.arclength:Arclength",
        "regularized arclength continuation (Billingham 2018)",
    ),
    _solver(
        "ncp",
        "ncp:NCP",
        "complementarity as a bilinear program on Gurobi or SCIP (Ganzfried 2025)",
        requires=("gurobipy or pyscipopt",),
        takes=ALL_BUT_LARGE,
    ),
    _solver(
        "mip",
        "ncp:MIP",
        "mixed-integer bilinear program for strategic forms (after Ganzfried 2024)",
        requires=("gurobipy or pyscipopt",),
        default_row=False,
        takes="some some some yes no no",
    ),
    _solver(
        "semismooth",
        "semismooth:Semismooth",
        "semismooth Newton on the complementarity system (De Luca et al. 1996)",
        takes=ALL_BUT_LARGE,
    ),
    _solver(
        "logit",
        "logit:Logit",
        "logit quantal response equilibria (McKelvey and Palfrey 1995, 1998)",
        takes=ALL_BUT_LARGE,
    ),
    _solver(
        "case_enumeration",
        "case_enumeration.enumeration:CaseEnumeration",
        "all equilibria of small games by exact branch and prune (after Billingham 2017)",
        requires=("flint",),
        takes="some some some some some no",
    ),
    _solver(
        "replicator",
        "replicator.replicator:Replicator",
        "replicator dynamics in continuous time (Taylor and Jonker 1978; Billingham 2017)",
    ),
    _openspiel("cfr", "CFR", "CFR in OpenSpiel's C++ code"),
    _openspiel("cfr_plus", "CFRPlus", "CFR+ in OpenSpiel's C++ code"),
    _openspiel("mccfr", "ExternalSampling", "external-sampling MCCFR in OpenSpiel's C++ code"),
    _openspiel("xfp", "XFP", "fictitious play in OpenSpiel's Python code"),
    _openspiel("dcfr", "DCFR", "discounted CFR in OpenSpiel's Python code"),
    _openspiel("efr", "EFR", "EFR (Morrill et al. 2021) in OpenSpiel's Python code"),
    _openspiel("mmd", "MMD", "magnetic mirror descent in OpenSpiel's Python code", takes=ZERO_SUM),
    _openspiel(
        "sequential_lp", "SequentialLP", "linear programs with trembles", "cvxpy", takes=ZERO_SUM
    ),
    _openspiel(
        "adidas",
        "ADIDAS",
        "ADIDAS (Gemp et al. 2022) in OpenSpiel's code",
        takes="some some some yes no no",
    ),
    _liteefg("cfr", "CFR, all players together"),
    _liteefg("cfr_plus", "CFR+, players in turn", TWO_PLAYERS),
    _liteefg("dcfr", "discounted CFR, players in turn", TWO_PLAYERS),
    _liteefg("pcfr_plus", "predictive CFR+, players in turn", TWO_PLAYERS),
    _liteefg("mmd", "magnetic mirror descent (Sokota et al. 2023)"),
    _liteefg("qfr", "Q-function based regret minimization"),
    _liteefg("reg_cfr", "regularized CFR (Liu et al. 2023)"),
    _gambit("logit_path", "LogitPath", "logit path to a given lambda", default_row=True),
    _gambit("logit", "Logit", "end of the logit path", default_row=True),
    _gambit("lp", "LP", "linear program, two players, constant sum", ZERO_SUM),
    _gambit("lcp", "LCP", "complementary pivoting, two players", TWO_PLAYERS),
    _gambit("enumpure", "EnumPure", "enumeration of pure equilibria", "yes yes some yes yes no"),
    _gambit("enummixed", "EnumMixed", "extreme equilibria, two players", "yes yes no some some no"),
    _gambit("enumpoly", "EnumPoly", "enumeration of supports"),
    _gambit("liap", "Liap", "Lyapunov function minimization", "yes yes some yes yes no"),
    _gambit("simpdiv", "Simpdiv", "simplicial subdivision", "yes yes some yes yes no"),
    _gambit(
        "gnm", "GNM", "global Newton method (Govindan and Wilson 2003)", "yes yes some yes yes no"
    ),
    _gambit("ipa", "IPA", "iterated polymatrix approximation", "yes yes some yes yes no"),
    _gambit("hp", "HP", "homotopy of Herings and Peeters (2001)", "yes yes some yes yes no"),
)

BUILTIN: dict[Kind, dict[str, Entry]] = {"game": BUILTIN_GAMES, "solver": BUILTIN_SOLVERS}

# Extensions as ``module:attribute`` by name, in the groups of entry points by which installed
# distributions add theirs: verdicts on claimed equilibria, engines that carry out cells, and
# packages with experiments in folders of theirs.
EXTENSIONS = {
    "verdicts": {
        "credible": "eqbench.verdicts.kinds:credible",
        "kind": "eqbench.verdicts.kinds:kind",
    },
    "engines": {"dask": "eqbench.cluster:ClusterEngine"},
    "experiments": {"papers": "eqbench.papers"},
}


def extensions(group: str) -> dict[str, str]:
    """Extensions of a group: the built-in ones, which keep their names, then those installed."""
    return EXTENSIONS[group] | {
        name: target for name, target in installed(group).items() if name not in EXTENSIONS[group]
    }
