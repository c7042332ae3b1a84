"""How the free frequencies of a game are spread over panels.

Labels of information sets are ``<what the player holds>:<what everybody saw>``. A panel is what
a player decides after one public history, and its lines are what the player may hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.tree import GameTree
from eqbench.studies.kuhn_nodes import NODES, KuhnNodes, node_title

MAX_PANELS = 60


@dataclass(frozen=True)
class Line:
    """A line of a panel: what the player holds, the action, the position of the frequency.

    The action is empty where no other is free. Where nothing is held it is the label instead.
    """

    label: str
    action: str
    position: int


@dataclass(frozen=True)
class Panel:
    """A panel: its title, and its lines with positions among the F free frequencies."""

    title: str
    lines: tuple[Line, ...]


def frequency_panels(tree: GameTree) -> tuple[Panel, ...]:
    """Panels of all free frequencies; twelve in Billingham's order for three-player Kuhn poker.

    Raises
    ------
    UsageError
        If nothing is free, or more than 60 panels would be needed.
    """
    choices = Choices.of(tree)
    found: dict[tuple[int, str], list[Line]] = {}
    for c, infoset in enumerate(choices.infoset.tolist()):
        private, _, public = tree.infoset_labels[infoset].partition(":")
        lines = found.setdefault((int(tree.infoset_player[infoset]), public), [])
        actions = tree.infoset_actions[infoset][1:]
        for position, action in enumerate(actions, start=int(choices.start[c])):
            style = action if private and len(actions) > 1 else ""
            lines.append(Line(private or action, style, position))
    if not found:
        raise UsageError("no frequency of this game is free, so there is nothing to draw")
    if len(found) > MAX_PANELS:
        raise UsageError(
            f"the frequencies of this game need {len(found)} panels, one for each player and "
            f"public history; at most {MAX_PANELS} can be read, so choose a smaller game"
        )
    if _is_three_player_kuhn(tree):
        return tuple(
            Panel(node_title(row), tuple(found.get((node.player, node.history), ())))
            for row, node in enumerate(NODES)
        )
    return tuple(
        Panel(
            f"{tree.players[player]} after {public}" if public else tree.players[player],
            tuple(lines),
        )
        for (player, public), lines in found.items()
    )


def line_labels(panels: tuple[Panel, ...]) -> list[str]:
    """All labels of lines; cards by their number, others in the order in which they occur."""
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    return sorted(labels, key=int) if all(map(str.isdecimal, labels)) else labels


def line_actions(panels: tuple[Panel, ...]) -> list[str]:
    """Actions that tell lines of one label apart, in the order in which they occur."""
    actions = dict.fromkeys(line.action for panel in panels for line in panel.lines)
    return list(filter(None, actions))


def _is_three_player_kuhn(tree: GameTree) -> bool:
    try:
        KuhnNodes.of(tree)
    except UsageError:
        return False
    return True
