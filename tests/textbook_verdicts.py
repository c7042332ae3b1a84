"""Equilibria of textbook games with the verdicts that are known of them.

A reason begins with "stated" if the source's words were read in what retells it: the description in
Gambit's catalog, lecture notes or slides, an encyclopedia. Otherwise it begins with "by hand" and
gives the argument, even where the books are known to say the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from eqbench.verification import Proof

YES, NO = Proof.CERTIFIED, Proof.REFUTED
NONE = "no proper subgame"


@dataclass(frozen=True)
class Verdict:
    """What is known of one equilibrium.

    Attributes
    ----------
    moves : one word for each information set, as `textbook_games.profile_of` reads them
    credible : credible information sets of all
    subgames : proper subgames in which it is an equilibrium, of all
    sequential : whether it is
    dominated : players who play what is weakly dominated, of two players plans, of more actions
    reason : where this is from
    """

    moves: str
    credible: str
    subgames: str
    sequential: Proof
    dominated: str
    reason: str


@dataclass(frozen=True)
class Book:
    """A game's source, its name in Gambit's catalog if it is there, and its equilibria.

    All sequential equilibria in pure strategies are listed, of other equilibria some.
    """

    source: str
    verdicts: tuple[Verdict, ...]
    gambit: str = ""


SLB = "Shoham and Leyton-Brown (2008), figure"

BOOKS: dict[str, Book] = {
    "selten_1975_1": Book(
        "Selten (1975), figure 1",
        (
            Verdict(
                "A a R", "3/3", NONE, YES, "", "stated: going across, with right at 3/4 or more"
            ),
            Verdict(
                "A a 1/4,3/4", "3/3", NONE, YES, "", "stated: the border of right at 3/4 or more"
            ),
            Verdict("D a L", "2/3", NONE, NO, "", "stated: unreasonable, P2 would go down for 4"),
            Verdict("D 2/3,1/3 L", "2/3", NONE, NO, "", "by hand: going down gives P2 4, not 3"),
        ),
    ),
    "selten_1975_2": Book(
        "Selten (1975), figure 2",
        (
            Verdict("R l R", "3/3", "2/2", YES, "", "stated: the one perfect equilibrium"),
            Verdict(
                "R r R",
                "1/3",
                "0/2",
                NO,
                "",
                "stated: perfect in the normal form only; by hand: l gives 2, not 0",
            ),
        ),
        "journals/ijgt/selten1975/fig2",
    ),
    "selten_1975_3": Book(
        "Selten (1975), figure 3",
        (
            Verdict(
                "L L L L", "4/4", NONE, YES, "", "by hand: P1, last, gets 2 for sure, R gives 0"
            ),
            Verdict("L R L L", "3/4", NONE, NO, "", "by hand: after L, P1 last gets 0, not 2"),
            Verdict("R R L R", "3/4", NONE, NO, "", "by hand: R would give P2 4, not 3"),
            Verdict("R L L R", "3/4", NONE, NO, "", "by hand: P1 last gets 2, not 4"),
        ),
        "journals/ijgt/selten1975/fig3",
    ),
    "selten_1978": Book(
        "Selten (1978), one market of the chain store",
        (
            Verdict("in yield", "2/2", "1/1", YES, "", "by hand: yielding gives P2 2, not 0"),
            Verdict("out fight", "1/2", "0/1", NO, "P2", "by hand: fighting gives P2 0, not 2"),
        ),
    ),
    "cho_kreps_1987": Book(
        "Cho and Kreps (1987), section II",
        (
            Verdict(
                "beer beer no duel", "4/4", NONE, YES, "", "by hand: who has quiche may be weak"
            ),
            Verdict(
                "quiche quiche duel no",
                "4/4",
                NONE,
                YES,
                "",
                "by hand: who has beer may be weak, if the weak tremble more",
            ),
        ),
    ),
    "myerson_1978_1": Book(
        "Myerson (1978), first example",
        (
            Verdict("r1 c1", "2/2", NONE, YES, "", "by hand: all is reached, and strictly best"),
            Verdict("r2 c2", "2/2", NONE, YES, "P1 P2", "by hand: all is reached, r1 dominates r2"),
        ),
    ),
    "myerson_1978_2": Book(
        "Myerson (1978), second example",
        (
            Verdict("r1 c1", "2/2", NONE, YES, "", "by hand: all is reached, and strictly best"),
            Verdict(
                "r2 c2", "2/2", NONE, YES, "", "by hand: all is reached, r2 is best if c3 trembles"
            ),
            Verdict("r3 c3", "2/2", NONE, YES, "P1 P2", "by hand: all is reached, r2 dominates r3"),
        ),
    ),
    "myerson_1991_2_1": Book(
        "Myerson (1991), figure 2.1",
        (
            Verdict(
                "raise 1/3,2/3 2/3,1/3",
                "3/3",
                NONE,
                YES,
                "",
                "by hand: P1 low gets -4/3 + 1/3 = -1, P2 meets 3 high of 4; all is reached",
            ),
        ),
        "books/myerson1991/fig2_1",
    ),
    "myerson_1991_4_2": Book(
        "Myerson (1991), figure 4.2",
        (Verdict("A1 Z1 X2", "3/3", NONE, YES, "", "by hand: all is reached, and all is best"),),
        "books/myerson1991/fig4_2",
    ),
    "reiley_2008": Book(
        "Reiley, Urbancic and Walker (2008)",
        (
            Verdict(
                "raise 1/3,2/3 2/3,1/3",
                "3/3",
                NONE,
                YES,
                "",
                "by hand: P1 low gets -4/3 + 1/3 = -1, P2 meets 3 high of 4; all is reached",
            ),
        ),
        "journals/other/reiley2008/fig1",
    ),
    "slb_5_1": Book(
        f"{SLB} 5.1",
        (
            Verdict("2-0 yes yes yes", "4/4", "3/3", YES, "", "by hand: every offer is accepted"),
            Verdict("1-1 no yes yes", "4/4", "3/3", YES, "", "by hand: no loses nothing at 2-0"),
            Verdict("1-1 no yes no", "3/4", "2/3", NO, "P2", "by hand: no loses 2 at 0-2"),
            Verdict("0-2 no no yes", "3/4", "2/3", NO, "P1 P2", "by hand: no loses 1 at 1-1"),
        ),
        "books/shohamleytonbrown2008/fig5_1",
    ),
    "slb_5_2": Book(
        f"{SLB} 5.2",
        (
            Verdict("A G C F", "4/4", "3/3", YES, "", "by hand: backward induction"),
            Verdict("A H C F", "2/4", "1/3", NO, "", "by hand: H is 1 and not 2, so E is 5 not 0"),
            Verdict("B H C E", "3/4", "2/3", NO, "P1", "by hand: H gives P1 1, not 2"),
        ),
        "books/shohamleytonbrown2008/fig5_2",
    ),
    "slb_5_9": Book(
        f"{SLB} 5.9, centipede",
        (
            Verdict("D D D D D", "5/5", "4/4", YES, "", "by hand: backward induction"),
            Verdict("D D D D A", "3/5", "2/4", NO, "", "by hand: at turn 4 A gives P2 3, not 4"),
        ),
        "books/shohamleytonbrown2008/fig5_9",
    ),
    "slb_5_15": Book(
        f"{SLB} 5.15",
        (
            Verdict("R D", "2/2", NONE, YES, "", "by hand: all is reached"),
            Verdict(
                "L U",
                "2/2",
                NONE,
                YES,
                "P1",
                "by hand: U is best if C trembles more than R; R dominates L",
            ),
        ),
        "books/shohamleytonbrown2008/fig5_15",
    ),
    "slb_6_2": Book(
        f"{SLB} 6.2, the dilemma twice",
        (
            Verdict(
                "D D D D D d d d d d",
                "10/10",
                "4/4",
                YES,
                "",
                "by hand: defection dominates in every last stage, and so in the first",
            ),
        ),
        "books/shohamleytonbrown2008/fig6_2",
    ),
    "watson_2013_29_1": Book(
        "Watson (2013), figure 29.1",
        (
            Verdict(
                "E N M C", "4/4", NONE, YES, "", "by hand: all is reached; high 6 > 4, low 3 < 4"
            ),
            Verdict(
                "N N C C",
                "4/4",
                NONE,
                YES,
                "",
                "by hand: who has education may be low, for the firm gets 4 and not 0",
            ),
        ),
        "books/watson2013/fig29_1",
    ),
    "watson_2013_29_6": Book(
        "Watson (2013), exercise 29.6",
        (
            Verdict("up stay yield fight", "4/4", NONE, YES, "", "by hand: all is reached"),
            Verdict(
                "up up yield fight",
                "4/4",
                NONE,
                YES,
                "P1",
                "by hand: who stays may be weak; staying dominates when weak",
            ),
            Verdict(
                "stay stay yield yield", "4/4", NONE, YES, "", "by hand: who gets up may be strong"
            ),
            Verdict(
                "stay stay fight yield", "4/4", NONE, YES, "", "by hand: who gets up may be weak"
            ),
        ),
        "books/watson2013/exercise29_6",
    ),
    "bagwell_1995": Book(
        "Bagwell (1995), seen with probability 99/100",
        (
            Verdict("C C C", "3/3", NONE, YES, "", "stated: as with simultaneous moves"),
            Verdict(
                "99/100,1/100 S 24/49,25/49",
                "3/3",
                NONE,
                YES,
                "",
                "stated: Stackelberg's with high probability; by hand: all is reached",
            ),
            Verdict(
                "1/100,99/100 25/49,24/49 C",
                "3/3",
                NONE,
                YES,
                "",
                "by hand: as before with both signals exchanged; all is reached",
            ),
        ),
        "journals/geb/bagwell1995",
    ),
    "stengel_2022_10_1": Book(
        "von Stengel (2022), figure 10.1",
        (
            Verdict(
                "1/2,1/2 D 1/4,3/4",
                "3/3",
                NONE,
                YES,
                "",
                "by hand: P1 low gets 12/4 - 12/4, P2 4 or 20/3 - 8/3; all is reached",
            ),
        ),
        "books/vonstengel2022/fig10.1",
    ),
    "gibbons_1992_4_1_1": Book(
        "Gibbons (1992), figure 4.1.1",
        (
            Verdict("L L'", "2/2", NONE, YES, "", "stated: an equilibrium; all is reached"),
            Verdict(
                "R R'",
                "1/2",
                NONE,
                NO,
                "P2",
                "stated: an equilibrium; by hand: L' gives P2 1 or 2, R' 0 or 1",
            ),
        ),
    ),
    "gibbons_1992_4_1_3": Book(
        "Gibbons (1992), figure 4.1.3",
        (
            Verdict(
                "D L R'", "3/3", "1/1", YES, "", "by hand: R' is best after L, which dominates R"
            ),
            Verdict(
                "A L L'",
                "3/3",
                "0/1",
                NO,
                "",
                "by hand: the belief that P2 went right supports L', but P2 goes left",
            ),
        ),
    ),
    "gibbons_1992_4_2_2": Book(
        "Gibbons (1992), figure 4.2.2",
        (
            Verdict(
                "L L u d",
                "4/4",
                NONE,
                YES,
                "",
                "by hand: d is best after R if t1 is believed up to 2/3",
            ),
            Verdict("R L u u", "4/4", NONE, YES, "", "by hand: all is reached, and strictly best"),
        ),
    ),
    "osborne_2004_317_1": Book(
        "Osborne (2004), figure 317.1",
        (
            Verdict("unready yield", "2/2", NONE, YES, "", "by hand: all is reached"),
            Verdict("out fight", "1/2", NONE, NO, "P2", "by hand: yielding gives 3, not 1 or 2"),
        ),
    ),
    "rasmusen_6_entry_2": Book(
        "Rasmusen (2006), section 6.1, Entry Deterrence II",
        (
            Verdict(
                "enter enter collude",
                "3/3",
                NONE,
                YES,
                "",
                "stated: the sensible one; by hand: all is reached",
            ),
            Verdict(
                "out out fight",
                "2/3",
                NONE,
                NO,
                "P2",
                "stated: subgame perfection does not rule it out; by hand: 50, not 0 or 1",
            ),
        ),
    ),
    "outside_option": Book(
        "Kohlberg and Mertens (1986); Osborne and Rubinstein (1994), section 6.6.2",
        (
            Verdict(
                "in T L",
                "3/3",
                "1/1",
                YES,
                "",
                "stated: stands forward induction; by hand: all is reached",
            ),
            Verdict(
                "out B R",
                "3/3",
                "1/1",
                YES,
                "",
                "stated: falls to forward induction; by hand: B, R is strict",
            ),
            Verdict("out 3/4,1/4 1/4,3/4", "3/3", "1/1", YES, "", "by hand: mixing gives P1 3/4"),
            Verdict("out T R", "2/3", "0/1", NO, "", "by hand: after R, B gives 1 and T 0"),
        ),
    ),
    "burning_money": Book(
        "Ben-Porath and Dekel (1992), of 3/2; Osborne and Rubinstein (1994), section 6.6.2",
        (
            Verdict(
                "keep T T L L", "5/5", "2/2", YES, "", "by hand: T, L is an equilibrium of both"
            ),
            Verdict("keep T B L R", "5/5", "2/2", YES, "", "by hand: 3 is more than 1 - 3/2"),
            Verdict("keep B B R R", "5/5", "2/2", YES, "", "stated: sequential"),
            Verdict("burn B T R L", "5/5", "2/2", YES, "", "by hand: 3 - 3/2 is more than 1"),
            Verdict("keep T T L R", "4/5", "1/2", NO, "", "by hand: after R, B gives 1 and T 0"),
        ),
    ),
    "mertens_1995": Book(
        "Mertens (1995), the voting game",
        (
            Verdict(
                "self well self well",
                "4/4",
                NONE,
                YES,
                "",
                "stated: quasi-perfect, and alone undominated",
            ),
            Verdict(
                "self well other well",
                "4/4",
                NONE,
                YES,
                "P2",
                "stated: dominated; by hand: nobody can get more than 1",
            ),
            Verdict(
                "other well self well",
                "4/4",
                NONE,
                YES,
                "P1",
                "stated: dominated; by hand: nobody can get more than 1",
            ),
            Verdict(
                "other well other well",
                "4/4",
                NONE,
                YES,
                "P1 P2",
                "stated: dominated; by hand: nobody can get more than 1",
            ),
            Verdict("self well other badly", "3/4", NONE, NO, "P2", "by hand: well is 1, badly 0"),
        ),
    ),
}
