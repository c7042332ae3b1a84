"""The checker of proofs: what it accepts, and that it refuses every file that is damaged."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.command import eqbench_here

import eqbench
from eqbench.model.profile import action_labels
from eqbench.proofs import checker
from eqbench.proofs.known import known_sets

KUHN2 = Path(__file__).with_name("kuhn2.proof.jsonl")
Lines = list[dict[str, Any]]

# Of matching pennies by hand. In a branch where an action is never played, the others gain.
PENNIES: Lines = [
    {"n": 0, "p": -1, "c": 0, "branch": 0},
    {"n": 1, "p": 0, "c": 0, "closed": {"w0": -4, "g0": 1, "g1": 1, "g2": 2, "u": 2, "1": 2}},
    {"n": 2, "p": 0, "c": 1, "branch": 1},
    {"n": 3, "p": 2, "c": 0, "closed": {"g0": 1, "g1": 1, "g3": 2, "u": 2, "1": 2, "w1": -4}},
    {"n": 4, "p": 2, "c": 1, "branch": 2},
    {"n": 5, "p": 4, "c": 0, "closed": {"w0": 2, "w2": -2, "g1": 1, "g3": 1, "u": 1}},
    {"n": 6, "p": 4, "c": 1, "branch": 3},
    {"n": 7, "p": 6, "c": 0, "closed": {"w0": 2, "g0": 1, "g3": 1, "u": 1, "w3": -2}},
    {"n": 8, "p": 6, "c": 1, "known": [0, []]},
]
HALF = [["0", {"w1": 2, "1": -1}], ["0", {"w3": 2, "1": -1}]]
SHOWN = [[{"g3": 1, "g2": -1}, {"g2": 1, "g3": -1}], [{"g0": 1, "g1": -1}, {"g1": 1, "g0": -1}]]


def header(spec: str, known: list[Any]) -> dict[str, Any]:
    tree = eqbench.load_game(spec).tree
    sizes = {"players": tree.n_players, "sets": tree.n_infosets, "actions": tree.n_actions}
    first = {"format": "eqbench.proof/1", "game": spec, "content": checker.content(tree)}
    return {**first, **sizes, "terminals": tree.n_terminals, "unit": "1", "known": known}


def with_totals(lines: Lines) -> Lines:
    counts = {kind: sum(kind in line for line in lines[1:]) for kind in checker.KINDS}
    return [*lines, {"end": True, "nodes": len(lines) - 1, **counts}]


def pennies() -> Lines:
    """A proof that both players play both actions with probability 1/2."""
    nodes = json.loads(json.dumps(PENNIES))
    nodes[-1]["known"] = [0, SHOWN]
    return with_totals([header("matching_pennies", [{"name": "half", "rows": HALF}]), *nodes])


def grown(cases: list[tuple[int, Lines]], root: dict[str, Any]) -> Lines:
    """Nodes of a tree whose root has each of some trees in one of its cases."""
    nodes = [{"n": 0, "p": -1, "c": 0, **root}]
    for case, part in cases:
        start = len(nodes)
        for line in json.loads(json.dumps(part)):
            line["n"] += start
            line["p"] = line["p"] + start if line["p"] >= 0 else 0
            line["c"] = line["c"] if line["p"] or line["n"] > start else case
            nodes.append(line)
        nodes[start]["c"] = case
    return nodes


def summary(lines: Lines, folder: Path, game: str) -> checker.ProofSummary:
    path = folder / "proof.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return checker.check_proof(path, eqbench.load_game(game).tree)


def test_proof_of_kuhn_poker_is_accepted() -> None:
    found = checker.check_proof(KUHN2, eqbench.load_game("kuhn2").tree)
    assert found.nodes["closed"] == 54
    assert found.nodes["face"] == 3


def test_proof_that_an_equilibrium_is_the_only_one_is_accepted(tmp_path: Path) -> None:
    found = summary(pennies(), tmp_path, "matching_pennies")
    assert found.known == ("half",)
    assert found.nodes["face"] == 0


@pytest.mark.parametrize("cut", [1, 60])
def test_a_file_that_is_cut_off_is_refused_at_the_line_that_is_cut(
    cut: int, tmp_path: Path
) -> None:
    file = tmp_path / "proof.jsonl"
    text = "".join(f"{json.dumps(line)}\n" for line in pennies())
    file.write_text(text[:-cut])
    with pytest.raises(checker.ProofError, match=f"line {1 + text[:-cut].count(chr(10))}:"):
        checker.check_proof(file, eqbench.load_game("matching_pennies").tree)


def test_conditions_shown_with_the_wrong_sign_are_refused(tmp_path: Path) -> None:
    lines = pennies()
    lines[-2]["known"][1] = [pair[::-1] for pair in SHOWN]
    with pytest.raises(checker.ProofError, match="line 10"):
        summary(lines, tmp_path, "matching_pennies")


def blown_up(
    certificate: dict[str, int], signs: tuple[str, ...] = ("+", "-0"), shown: int = 0
) -> Lines:
    """A split of w1, its blow-up where it is positive, and there w0 or w2 >= 0 by a certificate."""
    leaf: Lines = [{"n": 0, "p": -1, "c": 0, "known": [0, [certificate]]}]
    blown = grown([(0, leaf)], {"blow": [[1], [0]]})
    plain: Lines = [{"n": 0, "p": -1, "c": 0, "known": [0, [{f"w{shown}": 1}]]}]
    cases = [(0, blown), *((k, plain) for k in range(1, len(signs)))]
    nodes = grown(cases, {"split": [{"w1": 1}, list(signs)]})
    known = [{"name": "all", "rows": [["+0", {"1": 1, f"w{shown + 1}": -1}]]}]
    return with_totals([header("matching_pennies", known), *nodes])


@pytest.mark.parametrize(
    ("certificate", "shown"),
    [
        ({"c1.1": 1, "t1": -1}, 0),
        ({"c1.1": 3, "t1": -3}, 0),
        ({"w1*w2/1": 1, "w2*t1": -1}, 2),
        ({"s0*w2/1": 1, "w2*t1": -1}, 2),
    ],
)
def test_rows_of_splits_and_blow_ups_are_multiplied_out(
    certificate: dict[str, int], shown: int, tmp_path: Path
) -> None:
    found = summary(blown_up(certificate, shown=shown), tmp_path, "matching_pennies")
    assert found.nodes["blow"] == 1


@pytest.mark.parametrize(
    ("certificate", "signs"),
    [
        ({"c1.1": -1, "t1": 1}, ("+", "-0")),
        ({"c1.1": 1}, ("+", "-0")),
        ({"c0.1": 1, "t1": -1}, ("+", "-0")),
        ({"c1.0": 1, "t1": -1}, ("+", "-0")),
        ({"w0/1": 1}, ("+", "-0")),  # a constant cannot be divided
        ({"w0*w1/1": 1, "w0*t1": -1}, ("+", "-0")),  # a square of the weight
        ({"c1.1": 1, "t1": -1}, ("+0", "-")),  # the weight may be 0
        ({"c1.1": 1, "t1": -1}, ("+",)),
        ({"c1.1": 1, "t1": -1}, ("+", "-", "+0")[:2]),
        ({"s2": 1}, ("+", "-0")),
    ],
)
def test_blow_ups_without_their_conditions_are_refused(
    certificate: dict[str, int], signs: tuple[str, ...], tmp_path: Path
) -> None:
    with pytest.raises(checker.ProofError):
        summary(blown_up(certificate, signs), tmp_path, "matching_pennies")


def test_checker_imports_the_tree_alone() -> None:
    """So that it shares nothing with what writes proofs, nor with solvers."""
    names = set()
    for node in ast.walk(ast.parse(Path(checker.__file__).read_text())):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
    assert {name for name in names if "eqbench" in name} == {"eqbench.errors", "eqbench.model.tree"}
    assert {name for name in names if "eqbench" not in name} <= sys.stdlib_module_names | {
        "collections.abc"
    }


# -- damages ------------------------------------------------------------------------------------


def first(kind: str, lines: Lines) -> dict[str, Any]:
    return next(line for line in lines if kind in line)


def set_field(name: str, value: Any) -> Callable[[Lines], Any]:
    return lambda lines: lines[0].__setitem__(name, value)


def in_certificate(change: Callable[[dict[str, Any]], Any]) -> Callable[[Lines], Any]:
    """Change the longest certificate."""

    def damage(lines: Lines) -> None:
        closed = [line["closed"] for line in lines[:-1] if "closed" in line]
        change(max(closed, key=len))

    return damage


def renamed(certificate: dict[str, Any], find: str, name: str) -> None:
    old = next(row for row in certificate if row.startswith(find))
    certificate[name] = certificate.pop(old)


def scaled(certificate: dict[str, Any], factor: int) -> None:
    certificate.update({row: factor * number for row, number in certificate.items()})


def without_node(lines: Lines) -> None:
    """Take a leaf out, with numbers and totals as if it had never been there."""
    gone = next(k for k, line in enumerate(lines) if "closed" in line)
    number = lines.pop(gone)["n"]
    for line in lines[1:-1]:
        line["n"] -= line["n"] > number
        line["p"] -= line["p"] > number
    lines[-1]["nodes"] -= 1
    lines[-1]["closed"] -= 1


def exchanged(lines: Lines) -> None:
    """Exchange the certificates of two leaves."""
    one, other = [line for line in lines if "closed" in line][3:5]
    one["closed"], other["closed"] = other["closed"], one["closed"]


def opened(lines: Lines) -> None:
    """Close an open face by a certificate of another leaf."""
    face = first("face", lines)
    del face["face"]
    face["closed"] = first("closed", lines)["closed"]
    lines[-1]["face"] -= 1
    lines[-1]["closed"] += 1


def both_cases(lines: Lines) -> None:
    """Treat the first case of the root twice and the second never."""
    for line in lines[1:-1]:
        if line["p"] == 0:
            line["c"] = 0


DAMAGES: dict[str, Callable[[Lines], Any]] = {
    "another format": set_field("format", "eqbench.proof/2"),
    "another game's content": set_field("content", "0" * 64),
    "another number of players": set_field("players", 3),
    "another number of sets": set_field("sets", 11),
    "another number of actions": set_field("actions", 25),
    "another number of terminals": set_field("terminals", 29),
    "another denominator": set_field("unit", "12"),
    "a denominator as a number": set_field("unit", 6),
    "players as a float": set_field("players", 2.0),
    "a known set without conditions": set_field("known", [{"name": "all", "rows": []}]),
    "a field that is not known": set_field("more", 1),
    "no content": lambda lines: lines[0].pop("content"),
    "no header": lambda lines: lines.pop(0),
    "no totals": lambda lines: lines.pop(),
    "cut in the middle": lambda lines: lines.__delitem__(slice(50, None)),
    "cut but with totals": lambda lines: lines.__delitem__(slice(50, -1)),
    "totals of another file": lambda lines: lines[-1].update(closed=53),
    "totals as a float": lambda lines: lines[-1].update(nodes=float(lines[-1]["nodes"])),
    "totals as an integer": lambda lines: lines[-1].update(end=1),
    "a number of thousands of digits": in_certificate(lambda c: scaled(c, 10**3000)),
    "totals twice": lambda lines: lines.append(lines[-1]),
    "something after the totals": lambda lines: lines.append({"n": 200}),
    "a leaf left out": without_node,
    "a line left out": lambda lines: lines.pop(20),
    "a line twice": lambda lines: lines.insert(20, lines[20]),
    "two lines exchanged": lambda lines: lines.insert(30, lines.pop(20)),
    "one case twice": both_cases,
    "a node of another parent": lambda lines: lines[40].update(p=lines[40]["p"] - 1),
    "a third case": lambda lines: lines[40].update(c=2),
    "a case as a boolean": lambda lines: first("closed", lines).update(c=False),
    "a node of two kinds": lambda lines: first("closed", lines).update(face=None),
    "a node of no kind": lambda lines: first("closed", lines).pop("closed"),
    "a branch on a known status": lambda lines: lines[3].update(branch=lines[1]["branch"]),
    "a branch on no action": lambda lines: first("branch", lines).update(branch=24),
    "another branch": lambda lines: first("branch", lines).update(branch=5),
    "certificates exchanged": exchanged,
    "a face closed with another certificate": opened,
    "an empty certificate": lambda lines: first("closed", lines).update(closed={}),
    "a row less": in_certificate(lambda c: c.pop(next(iter(c)))),
    "a row more": in_certificate(lambda c: c.update({"w3*w17": 1})),
    "a row twice as often": in_certificate(lambda c: c.update({(r := next(iter(c))): 2 * c[r]})),
    "all signs turned": in_certificate(lambda c: scaled(c, -1)),
    "all numbers 0": in_certificate(lambda c: scaled(c, 0)),
    "numbers as floats": in_certificate(lambda c: c.update({r: float(n) for r, n in c.items()})),
    "numbers as text": in_certificate(lambda c: c.update({r: str(n) for r, n in c.items()})),
    "another action's gap": in_certificate(lambda c: renamed(c, "g", "g99")),
    "another action's weight": in_certificate(lambda c: renamed(c, "g", "w1*w2*w23")),
    "a row that does not exist": in_certificate(lambda c: renamed(c, "g", "h1")),
    "a row with a leading zero": in_certificate(lambda c: renamed(c, "g", "g01")),
    "a split that is not above": in_certificate(lambda c: renamed(c, "g", "s0")),
    "a division without a blow-up": in_certificate(lambda c: renamed(c, "g", "g1/0")),
    "a certificate that is a list": lambda lines: first("closed", lines).update(closed=[1]),
    "a known set that is not listed": lambda lines: (
        first("face", lines).update(known=[0, []]),
        first("face", lines).pop("face"),
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_is_refused(damage: str, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in KUHN2.read_text().splitlines()]
    DAMAGES[damage](lines)
    with pytest.raises(checker.ProofError, match="line"):
        summary(lines, tmp_path, "kuhn2")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]\n",
        "null\n",
        '{"format": "eqbench.proof/1"',
        "[" * 100_000 + "\n",
        '{"n": 0, "n": 1}\n',
        "1" * 10_000 + "\n",
        "\0\n",
    ],
)
def test_what_is_no_proof_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "proof.jsonl"
    path.write_text(text)
    with pytest.raises(checker.ProofError):
        checker.check_proof(path, eqbench.load_game("kuhn2").tree)


def test_huge_products_are_refused_before_they_are_multiplied_out(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in KUHN2.read_text().splitlines()]
    first("closed", lines)["closed"] = {"*".join(["g1", "g5", "g9", "g13", "g17", "g21"] * 8): 1}
    with pytest.raises(checker.ProofError, match=r"terms|contradiction"):
        summary(lines, tmp_path, "kuhn2")


def test_a_file_that_takes_too_much_work_in_all_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.loads(line) for line in KUHN2.read_text().splitlines()]
    assert summary(lines, tmp_path, "kuhn2").nodes["face"] == 3
    monkeypatch.setattr(checker, "MOST_WORK", 5_000)  # each line takes less
    with pytest.raises(checker.ProofError, match=r"line \d+: .*5,000 terms"):
        summary(lines, tmp_path, "kuhn2")


@pytest.mark.parametrize(
    ("length", "signs", "match"), [(250, ["+0", "-"], "splits"), (1, ["+0", "-"], "open")]
)
def test_splits_that_only_fill_the_memory_are_refused(
    length: int, signs: list[str], match: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "MOST_WAITING", 1 if match == "open" else 1000)
    split = {"c": 0, "split": [{"w1": 1}, signs]}
    lines = [{"n": n, "p": n - 1, **split} for n in range(length)]
    with pytest.raises(checker.ProofError, match=match):
        summary([header("matching_pennies", []), *lines], tmp_path, "matching_pennies")


# -- three-player Kuhn poker ---------------------------------------------------------------------

KUHN3 = Path(__file__).parents[2] / "results/reference/kuhn3.proof.jsonl"


def replacing(pairs: Any, folder: Path, known: Sequence[Any] = ()) -> checker.ProofSummary:
    """Summary of a proof about three-player Kuhn poker that excludes nothing but by its header."""
    first = header("kuhn3", list(known)) | {"unit": "24", "replaced": pairs}
    return summary(with_totals([first, {"n": 0, "p": -1, "c": 0, "face": None}]), folder, "kuhn3")


def action(name: str) -> int:
    return action_labels(eqbench.load_game("kuhn3").tree).index(name)


def test_committed_proof_says_where_all_equilibria_of_three_player_kuhn_poker_are() -> None:
    game = eqbench.load_game("kuhn3")
    found = checker.check_proof(KUHN3, game.tree)
    published = known_sets(game)[0]
    assert found.known == tuple(each.name for each in published)
    assert (len(found.known), found.nodes["face"], found.replaced) == (4, 0, 15)
    declared = json.loads(KUHN3.read_text().partition("\n")[0])
    assert [each["rows"] for each in declared["known"]] == [
        [[sign, dict(form)] for sign, form in each.rows] for each in published
    ]


def test_replaced_actions_are_the_dominated_ones_that_end_the_hand() -> None:
    tree = eqbench.load_game("kuhn3").tree
    labels = action_labels(tree)
    pairs = json.loads(KUHN3.read_text().partition("\n")[0])["replaced"]
    last = [f"P1|{c}:{h}" for c in (1, 4) for h in ("KBF", "KBC")] + ["P1|2:KBC"]
    last += [f"P2|{c}:{h}" for c in (1, 4) for h in ("KKBF", "KKBC")] + ["P2|2:KKBC"]
    last += [f"P3|{c}:{h}" for c in (1, 4) for h in ("BF", "BC")] + ["P3|2:BC"]
    moves = {"4": "fold", "1": "call", "2": "call"}
    assert {labels[a] for a, _ in pairs} == {f"{at}|{moves[at[3]]}" for at in last}


@pytest.mark.parametrize(
    ("worse", "better", "reason"),
    [
        ("P2|1:B|call", "P2|1:B|fold", "does not end the game"),
        ("P1|4:KKB|fold", "P1|4:KKB|call", "does not end the game"),
        ("P1|3:KBF|fold", "P1|3:KBF|call", "no replacement"),
        ("P1|3:KBF|call", "P1|3:KBF|fold", "no replacement"),
        ("P3|1:BC|fold", "P3|1:BC|call", "no replacement"),
        ("P3|1:BC|call", "P3|1:BF|fold", "different sets"),
        ("P3|1:BC|call", "P3|1:BC|call", "no replacement"),
    ],
)
def test_action_that_no_other_may_replace_is_refused(
    worse: str, better: str, reason: str, tmp_path: Path
) -> None:
    right = [action("P3|1:BF|call"), action("P3|1:BF|fold")]
    assert replacing([right], tmp_path).replaced == 1
    with pytest.raises(checker.ProofError, match=reason):
        replacing([right, [action(worse), action(better)]], tmp_path)


def test_replacement_at_which_others_gain_is_refused(tmp_path: Path) -> None:
    """Sparing others costs, too: player 2 takes a prize from player 1, who can only watch."""
    file = tmp_path / "prize.efg"
    file.write_text(
        'EFG 2 R "prize" { "P1" "P2" }\n'
        'p "" 1 1 "" { "leave" "try" } 0\nt "" 1 "" { 1, 1 }\n'
        'p "" 2 1 "" { "share" "keep" } 0\nt "" 2 "" { GIFT, 2 }\nt "" 3 "" { 0, 3 }\n'
    )
    text = file.read_text()
    for gift, is_allowed in (("2", True), ("-2", False)):
        file.write_text(text.replace("GIFT", gift))
        first = header(str(file), []) | {"replaced": [[2, 3]]}
        lines = with_totals([first, {"n": 0, "p": -1, "c": 0, "face": None}])
        if is_allowed:
            assert summary(lines, tmp_path, str(file)).replaced == 1
        else:
            with pytest.raises(checker.ProofError, match="no replacement"):
                summary(lines, tmp_path, str(file))


@pytest.mark.parametrize(
    "pairs", [{}, None, [17, 16], [[17]], [[17.0, 16]], [[True, 16]], [[-1, 0]]]
)
def test_replacements_that_are_no_pairs_are_refused(pairs: Any, tmp_path: Path) -> None:
    with pytest.raises(checker.ProofError, match="line 1"):
        replacing(pairs, tmp_path)


def test_replacements_that_touch_a_known_set_or_a_set_twice_are_refused(tmp_path: Path) -> None:
    pair = [action("P3|1:BC|call"), action("P3|1:BC|fold")]
    with pytest.raises(checker.ProofError, match="two actions"):
        replacing([pair, pair], tmp_path)
    for kept, refused in ((f"w{action('P3|1:BF|call')}", False), (f"w1*w{pair[1]}", True)):
        known = [{"name": "own", "rows": [["0", {kept: 1}]]}]
        if refused:
            with pytest.raises(checker.ProofError, match="depend"):
                replacing([pair], tmp_path, known)
        else:
            assert replacing([pair], tmp_path, known).replaced == 1


def test_proof_without_its_replacements_is_refused(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in KUHN3.read_text().splitlines()]
    lines[0]["replaced"].pop()
    with pytest.raises(checker.ProofError):
        summary(lines, tmp_path, "kuhn3")


@pytest.mark.parametrize("game", ["kuhn(players=2,cards=3,pot=3)", "matching_pennies", "kuhn3"])
def test_proof_of_another_game_is_refused(game: str) -> None:
    with pytest.raises(checker.ProofError, match="content"):
        checker.check_proof(KUHN2, eqbench.load_game(game).tree)


def test_command_says_what_is_proved_and_refuses_with_exit_code_1(tmp_path: Path) -> None:
    accepted = eqbench_here("check", "proof", KUHN2, cwd=tmp_path)
    assert accepted.code == 0
    assert "3 open faces" in accepted.out
    other = eqbench_here("check", "proof", KUHN2, "--game", "kuhn3", cwd=tmp_path)
    assert other.code == 1
    assert "about kuhn(players=2" in other.out
    damaged = tmp_path / "proof.jsonl"
    damaged.write_text(KUHN2.read_text().replace('"g1":1', '"g1":2', 1))
    same = eqbench_here("check", "proof", damaged, "--game", "kuhn2", cwd=tmp_path)
    assert "the file is about" not in same.out
    refused = eqbench_here("check", "proof", damaged, "--json", cwd=tmp_path)
    assert refused.code == 1
    assert not refused.json["passed"]
    assert eqbench_here("check", "proof", "none", cwd=tmp_path).code == 2
    assert eqbench_here("check", "kuhn2", KUHN2, cwd=tmp_path).code == 2
