"""The options of `evalspan run` that say when a generation ends, and how many outputs there are to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

__all__ = ["Decoding", "chosen_decoding", "decoding_options"]

_MAX_SAMPLE_SLOTS = 16  # of samples at once, where nobody asks for another number: each has a context of its own

_OPTIONS = (
    click.option(
        "--stop",
        metavar="TEXT",
        multiple=True,
        help="End where the model writes this, leaving it out. May be repeated.",
    ),
    click.option("--keep-stop", is_flag=True, help="Leave the text of --stop in the output."),
    click.option("--time-limit", type=float, metavar="SECONDS", help="End each generation after so long."),
    click.option("--n", type=click.IntRange(min=1), default=1, help="Samples, with --seed and the numbers after it."),
    click.option("--beams", type=click.IntRange(min=1), metavar="N", help="Beam search, N wide, in place of sampling."),
    click.option(
        "--length-penalty",
        type=float,
        default=None,
        metavar="A",
        help="Beams are scored by log p / length^A; 1 by default, 0 does not normalize.",
    ),
    click.option("--forced-in-length", is_flag=True, help="Forced tokens count towards the length of a beam."),
    click.option("--patient", is_flag=True, help="Search on until no beam can score better."),
    click.option(
        "--metrics",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write what was counted there at the end, as text for Prometheus.",
    ),
)


def decoding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Decoding:
    """What the options ask for."""

    stop: tuple[str, ...]
    keep_stop: bool
    time_limit: float | None
    samples: int
    beams: int | None
    length_penalty: float
    forced_in_length: bool
    patient: bool
    metrics: Path | None

    @property
    def slots(self) -> int | None:
        """How many slots the engine needs for it, where the user does not say."""
        if self.beams is not None:
            return self.beams
        return min(self.samples, _MAX_SAMPLE_SLOTS) if self.samples > 1 else None


def chosen_decoding(where: dict[str, Any], *, file: bool) -> Decoding:
    """What the options, which are taken out of `where`, ask for; `file` where there is a file of prompts.

    Raises:
        UsageError: they do not go together.
    """
    decoding = Decoding(
        stop=where.pop("stop"),
        keep_stop=where.pop("keep_stop"),
        time_limit=where.pop("time_limit"),
        samples=where.pop("n"),
        beams=where.pop("beams"),
        length_penalty=1.0 if where["length_penalty"] is None else where["length_penalty"],
        forced_in_length=where.pop("forced_in_length"),
        patient=where.pop("patient"),
        metrics=where.pop("metrics"),
    )
    penalty = where.pop("length_penalty")
    several = decoding.samples > 1 or decoding.beams is not None
    if decoding.samples > 1 and decoding.beams is not None:
        raise click.UsageError("give either --n or --beams")
    if decoding.beams is None and (penalty is not None or decoding.forced_in_length or decoding.patient):
        raise click.UsageError(
            "--length-penalty, --forced-in-length and --patient are of a beam search: give --beams N"
        )
    if decoding.keep_stop and not decoding.stop:
        raise click.UsageError("--keep-stop is about --stop: give that too")
    if file and several:
        raise click.UsageError("a file of prompts has one result a line: repeat a prompt in place of --n and --beams")
    if decoding.metrics is not None and not decoding.metrics.resolve().parent.is_dir():
        raise click.UsageError(f"--metrics {decoding.metrics}: there is no folder for it")
    return decoding
