"""The same events in whatever cut the text comes, and every piece of text exactly once."""

from __future__ import annotations

from evalspan.conformance.suite.outcome import expect
from evalspan.conformance.suite.requirement import CHOSEN, STEP, Requirement
from evalspan.conformance.suite.said import Said, essence
from evalspan.conformance.suite.scripts import Script, registry
from evalspan.conformance.suite.subject import ReplaySubject, StepSubject, Subject, chosen_subject, step_subject
from evalspan.orchestrator import Evaluated, SpanPart, Text

__all__ = ["REQUIREMENTS"]

_TWO = Script(("The total is ", SpanPart("calc"), " and the day ", SpanPart("day"), ", nÉxt."))


def _chunks(subject: Subject) -> None:
    first: Said | None = None
    for said, how in _cuts(subject):
        expect(said.text == _TWO.whole == said.streamed, f"{how}: {said.text!r}, streamed {said.streamed!r}")
        first = first or said
        expect(essence(said.events) == essence(first.events), f"{how}: {essence(said.events)}")


def _cuts(subject: Subject) -> list[tuple[Said, str]]:
    data = _TWO.written.encode()
    chosen = chosen_subject(subject)
    if isinstance(chosen, StepSubject):
        ways = chosen.ways(data, crossing=False)
        return [(chosen.steer(way, mode="no-grammar", max_tokens=400), f"as {way}") for way in ways]
    splits = [[data[:cut], data[cut:]] for cut in range(1, len(data), 3)]
    cut = [[token for part in split for token in chosen.spelling.uncrossed(part)] for split in splits]
    return [
        (chosen.play(tokens, width=width), f"{width} at once of {tokens}")
        for width in (1, 2)
        for tokens in [*cut, *chosen.spelling.ways(data, 24, crossing=False)]
        if width == 1 or not _crossing(chosen, tokens, width)
    ]


def _crossing(subject: ReplaySubject, tokens: list[int], width: int) -> bool:
    """Whether a chunk goes on behind a close tag: what stands there is dropped, so the text is another one."""
    text = b""
    for at in range(0, len(tokens), width):
        before, text = text, text + subject.spelling.spell(tokens[at : at + width])
        for close in (b"</calc>", b"</day>"):
            end = text.find(close) + len(close)
            if len(before) < end < len(text) and close in text:
                return True
    return False


def _once(subject: Subject) -> None:
    step = step_subject(subject)
    for text in ("x <calm", "x <", "a < b << c <<calc", "</cal", "<calc <result <", "x <res"):
        for way in step.ways(text.encode(), crossing=False):
            said = step.steer(way, registry=registry(), mode="no-grammar", max_tokens=60)
            expect(said.text == said.streamed == text, f"{text!r} as {way}: {said.text!r}, streamed {said.streamed!r}")


def _no_half_tag(subject: Subject) -> None:
    step = step_subject(subject)
    for way in step.ways(b"x <calc>1+1</calc>", crossing=False):
        said = step.steer(way, registry=registry(), mode="no-grammar", max_tokens=60)
        before = []
        for event in said.events:
            if event.event == "span_opened":
                break
            before.append(event)
        text = "".join(event.text for event in before if isinstance(event, Text))
        expect(text == "x ", f"as {way}: {text!r} was shown before the span opened")


def _characters(subject: Subject) -> None:
    step = step_subject(subject)
    text = '<words>len("😀e\u0301")</words> 😀.'
    for way in step.ways(text.encode(), crossing=False):
        said = step.steer(way, registry=registry(), mode="no-grammar", max_tokens=200)
        expect(
            said.text == said.streamed == text.replace("</words>", "</words><result>2</result>"),
            f"{way}: {said.text!r}",
        )
        shown = [event.text for event in said.events if isinstance(event, Text)]
        expect("\ufffd" not in "".join(shown), f"{way}: half a character was shown: {shown}")
        expect([one.value for one in said.evaluated if isinstance(one, Evaluated)] == ["2"], f"{way}: {said.evaluated}")


REQUIREMENTS = (
    Requirement(
        "EVS-STR-01",
        "the same text gives the same events in every cut into tokens",
        _chunks,
        CHOSEN,
    ),
    Requirement("EVS-STR-02", "text that might have become a tag comes once and whole", _once, STEP),
    Requirement("EVS-STR-03", "no half tag is shown before it is decided", _no_half_tag, STEP),
    Requirement("EVS-STR-04", "a character in several tokens comes whole, and is one", _characters, STEP),
)
