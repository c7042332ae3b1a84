"""A solver that says and raises what no screen and no table can hold."""

import sys
from dataclasses import dataclass

from attack.hostile import Hostile, ends, strike, uniform

import eqbench
from eqbench.solver import Availability, Termination

CONTROLS = "\x1b[2J\x1b]0;title\x07\x9b31m\x9d\x00\r\x7f\u202eevil\u2066\x08"
MARKUP = "[/nothing] [bold] </td><script>alert(1)</script> | \\input{x} % & $ # _ =1+1"
LONG = "x" * 2_000_000


@eqbench.register_solver("words")
@dataclass(frozen=True)
class Words(Hostile):
    """Attacks by messages."""

    def availability(self):
        return self._answer("availability", Availability())

    def supports(self, game):
        return self._answer("supports", True)

    def _answer(self, asked, usual):
        if not self.attack.startswith(asked):
            return usual
        strike(self.attack)
        return globals()[self.attack](None, None)


def ended(game, monitor, detail):
    monitor.candidate(uniform(game), claim="iterate")
    return Termination("limit", detail)


@ends("crashed", quick=True)
def raises_two_megabytes(game, monitor):
    raise ValueError(LONG)


@ends("limit")
def detail_of_two_megabytes(game, monitor):
    return ended(game, monitor, LONG)


@ends("crashed", quick=True)
def raises_controls(game, monitor):
    raise ValueError(CONTROLS)


@ends("limit")
def detail_with_controls(game, monitor):
    return ended(game, monitor, CONTROLS)


@ends("limit", quick=True)
def detail_with_markup(game, monitor):
    return ended(game, monitor, MARKUP)


@ends("crashed")
def raises_markup(game, monitor):
    raise ValueError(MARKUP)


@ends("limit", "crashed")
def detail_with_surrogates(game, monitor):
    return ended(game, monitor, "\ud800 \udfff")


@ends("limit")
def detail_of_a_hundred_lines(game, monitor):
    return ended(game, monitor, "line\n" * 100)


@ends("limit")
def detail_that_is_a_formula(game, monitor):
    return ended(game, monitor, "=HYPERLINK(1)")


@ends("crashed")
def raises_nothing_to_say(game, monitor):
    raise ValueError


@ends("crashed")
def raises_what_cannot_be_shown(game, monitor):
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    raise MuteError


@ends("crashed")
def raises_what_shows_no_text(game, monitor):
    class WrongError(Exception):
        def __str__(self):
            return 5  # noqa: PLE0307

    raise WrongError


@ends("crashed")
def raises_by_a_hostile_name(game, monitor):
    raise type(CONTROLS, (Exception,), {})("x")


@ends("crashed")
def raises_by_a_long_name(game, monitor):
    raise type("N" * 100_000, (Exception,), {})("x")


@ends("crashed")
def raises_a_group(game, monitor):
    group = ValueError("inside")
    for depth in range(200):
        group = ExceptionGroup(f"depth {depth}", [group])
    raise group


@ends("crashed")
def raises_without_end(game, monitor):
    return raises_without_end(game, monitor)


@ends("crashed")
def raises_exit(game, monitor):
    raise SystemExit(0)


@ends("crashed")
def raises_exit_with_text(game, monitor):
    raise SystemExit(CONTROLS)


@ends("crashed")
def raises_interrupt(game, monitor):
    raise KeyboardInterrupt


@ends("crashed")
def raises_generator_exit(game, monitor):
    raise GeneratorExit


@ends("memory")
def raises_memory_error(game, monitor):
    raise MemoryError(LONG)


@ends("crashed")
def returns_text(game, monitor):
    return "converged"


@ends("crashed")
def returns_a_doctored_ending(game, monitor):
    ending = Termination("limit")
    object.__setattr__(ending, "reason", "ok")
    return ending


@ends("crashed", "limit")
def returns_an_ending_with_detail_list(game, monitor):
    ending = Termination("limit")
    object.__setattr__(ending, "detail", ["x"])
    return ending


@ends("unsupported")
def supports_two_megabytes(game, monitor):
    return LONG


@ends("unsupported")
def supports_controls(game, monitor):
    return CONTROLS


@ends("unsupported", "crashed")
def supports_surrogates(game, monitor):
    return "\ud800"


@ends("crashed", "limit", "unsupported")
def supports_list(game, monitor):
    return ["no"]


@ends("unavailable")
def availability_two_megabytes(game, monitor):
    return Availability("licence", LONG)


@ends("unavailable")
def availability_controls(game, monitor):
    return Availability("missing", CONTROLS)


@ends("unavailable", "crashed")
def availability_unknown(game, monitor):
    return Availability("on holiday", "x")


@ends("unavailable", "crashed")
def availability_list(game, monitor):
    return Availability("missing", ["x"])


@ends("crashed")
def availability_none(game, monitor):
    return None


@ends("limit")
def prints_controls(game, monitor):
    sys.stdout.write(CONTROLS * 1000)
    sys.stderr.write(MARKUP * 1000)


@ends("limit")
def prints_half_a_gigabyte(game, monitor):
    for _ in range(500):
        sys.stdout.write("y" * 2**20)


@ends("limit", "crashed")
def prints_into_closed_streams(game, monitor):
    import os

    os.close(1)
    os.close(2)
