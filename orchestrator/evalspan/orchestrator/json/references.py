"""What the pointers of a template lead to, and whether it is written by the time that it is needed."""

from __future__ import annotations

from collections.abc import Iterable

from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.json.places import Path, Place
from evalspan.orchestrator.json.templates import Slot

__all__ = ["end_of", "referred"]


def referred(root: Place, field: Place, slot: Slot, where: str, *, inside: bool = False) -> Place:
    """The place that a slot of a template at `field` leads to, marked as needed.

    It is always there when it is needed: every property on the way is required, and all comes before the field or,
    where `inside` is set, is the field or in it.

    Raises:
        GrammarError: it is not; the text says why.
    """
    place = root
    holder = field if inside and field.kind == "object" else field.parent
    if slot.up is not None:
        for _ in range(slot.up):
            holder = holder.parent if holder is not None else None
        if holder is None:
            raise GrammarError(f"schema at {where}: {slot.up} steps up from the holder there is nothing")
        place = holder
    around = _around(field)
    for step in slot.steps:
        place = _step(place, step, around, where)
    if place in around and not (inside and place is field):
        raise GrammarError(f"schema at {where}: it refers to what it stands in, which is not complete then")
    if field not in _around(place) and not place.order < field.order:
        raise GrammarError(f"schema at {where}: {place.where} comes after the field; its inputs must come before")
    if field in _around(place) and not inside:
        raise GrammarError(f"schema at {where}: a field cannot refer to itself")
    place.mark()
    return place


def _step(place: Place, step: str | int | None, around: list[Place], where: str) -> Place:
    at = place.where or "/"
    if place.kind == "array":
        if place in around[1:]:
            raise GrammarError(f"schema at {where}: the array at {at} holds the field, and is not complete then")
        if step is None:
            return place.children[None]
        if isinstance(step, str) and step.isascii() and step.isdigit() and str(int(step)) == step:
            if int(step) >= place.schema.get("minItems", 0):
                raise GrammarError(f"schema at {where}: item {step} of {at} need not be there: see minItems")
            return place.children[None]
        raise GrammarError(f"schema at {where}: {at} is an array: {step!r} is neither * nor the number of an item")
    if place.kind != "object":
        raise GrammarError(f"schema at {where}: the pointer {place.obstacle or f'goes on after the value at {at}'}")
    child = place.children.get(step) if isinstance(step, str) else None
    if child is None:
        raise GrammarError(f"schema at {where}: {at} has no property {'*' if step is None else step!r}")
    if not child.required and child not in around:
        raise GrammarError(f"schema at {where}: {child.where} must be required: it is an input")
    return child


def _around(place: Place) -> list[Place]:
    """The place and all that it stands in, the innermost first."""
    found: list[Place] = []
    step: Place | None = place
    while step is not None:
        found.append(step)
        step = step.parent
    return found


def end_of(field: Place, targets: Iterable[Place]) -> Path:
    """The path whose completion settles an assertion at `field`: an object is settled by the last of its inputs."""
    if field.kind != "object":
        return field.path
    last: Place | None = None
    for target in targets:
        within = _around(target)
        if field not in within or target is field:
            continue
        # Of an array inside only the whole is settled.
        whole = [place for place in within[: within.index(field)] if place.kind == "array"]
        place = whole[-1] if whole else target
        if last is None or place.order > last.order:
            last = place
    return field.path if last is None else last.path
