"""Tokens that run past a close tag, and tags that only look alike."""

from __future__ import annotations

from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import REQUEST, STEP, Requirement
from evalspan.conformance.suite.scripts import registry
from evalspan.conformance.suite.subject import StepSubject, Subject, replay_subject, step_subject

__all__ = ["REQUIREMENTS"]

_HEAD, _CLOSE, _BLOCK = "<calc>(1+1)", b"</calc>", "<result>2</result>"
_ON = " and on"


def _past_the_tag(step: StepSubject) -> list[tuple[bytes, int]]:
    """What of the close tag comes before the token, and the token."""
    found = [
        (_CLOSE[:cut], token)
        for cut in range(len(_CLOSE) - 1, -1, -1)
        for piece, token in step.spelling.beginning(_CLOSE[cut:])
        if not piece.endswith(b"<")  # what follows may be a tag of its own; this is about the end of this one
    ]
    if not found:
        raise Unsupported("no token of the vocabulary runs past a close tag")
    # Vocabularies have some hundreds, which differ in nothing that matters.
    return found[:: max(1, len(found) // step.effort)][: step.effort]


def _cut(subject: Subject) -> None:
    step = step_subject(subject)
    open_registry = registry()
    for before, token in _past_the_tag(step):
        head = step.spelling.most(_HEAD.encode() + before)
        rest = step.spelling.fewest(_ON.encode())
        said = step.steer([*head, token, *rest], registry=open_registry, mode="no-grammar", max_tokens=400)
        wanted = f"{_HEAD}</calc>{_BLOCK}{_ON}"
        piece = step.spelling.pieces[token]
        expect(said.text == wanted, f"after the token {piece!r}: {said.text!r}, not {wanted!r}")
        fed = step.spelling.spell(said.fed or ())
        expect(fed == wanted.encode(), f"after the token {piece!r} the engine was fed {fed!r}")


def _masked(subject: Subject) -> None:
    step = step_subject(subject)
    open_registry = registry()
    for before, token in _past_the_tag(step)[:4]:
        head = step.spelling.most(_HEAD.encode() + before)
        # Where the model may not have the token, the mask leaves it what else may stand in the span.
        with step.steered([[*head, token]], open_registry) as (driver, engine):
            prompt = len(step.backend.tokenizer.encode_prompt(step.prompt))
            said = driver.generate(step.prompt, mode="grammar-eval", max_tokens=len(head) + 6)
        fed = engine.fed[0][prompt:]
        expect(fed[: len(head)] == head, f"the mask forbade {_HEAD + before.decode()!r}: {said.text!r}")
        expect(token not in fed, f"the mask allowed the token {step.spelling.pieces[token]!r} in {said.text!r}")


def _same_chunk(subject: Subject) -> None:
    replay = replay_subject(subject)
    tokens = [*replay.spelling.most(f"{_HEAD}</calc>".encode()), *replay.spelling.most(b"dropped, all of it")]
    for width in (1, 2, 3, 7, 50):
        said = replay.play(tokens, width=width, registry=registry())
        expect(said.text.startswith(f"{_HEAD}</calc>{_BLOCK}"), f"{width} tokens at once: {said.text!r}")
        rest = said.text.removeprefix(f"{_HEAD}</calc>{_BLOCK}")
        expect(len(said.evaluated) == 1, f"{width} tokens at once: {said.kinds}")
        # What came in one chunk with the close tag was said without the result: it must not stay.
        with_tag = -len(f"{_HEAD}</calc>") % width
        kept = "dropped, all of it"[with_tag:]
        expect(rest == kept, f"{width} tokens at once: {rest!r} follows the result, not {kept!r}")


def _alike(subject: Subject) -> None:
    step = step_subject(subject)
    for text in ("<calcium>5</calcium>", "<calc2>1</calc2>", "calc>1</calc>", "< calc>1</calc>", "<Calc>1</Calc>"):
        said = step.write(text, registry=registry())
        expect(said.kinds == ["finished"] and said.text == text, f"{text!r}: {said.kinds}, {said.text!r}")


REQUIREMENTS = (
    Requirement("EVS-OVR-01", "what a token has past a close tag is cut off, and never fed", _cut, STEP),
    Requirement("EVS-OVR-02", "under a mask no token runs past a close tag", _masked, STEP),
    Requirement("EVS-OVR-03", "tokens that come with a close tag, behind it, are dropped", _same_chunk, REQUEST),
    Requirement("EVS-OVR-04", "a tag that only looks alike opens nothing", _alike, STEP),
)
