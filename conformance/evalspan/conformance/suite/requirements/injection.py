"""From a close tag to the result: evaluated, forced, fed, read; and what is not begun."""

from __future__ import annotations

from evalspan.conformance.suite.closeness import TOLERANCE, distance
from evalspan.conformance.suite.outcome import Unsupported, expect
from evalspan.conformance.suite.requirement import ANY, STEP, Requirement
from evalspan.conformance.suite.scripts import ANSWERS, Script
from evalspan.conformance.suite.subject import PromptedSubject, StepSubject, Subject, step_subject
from evalspan.orchestrator import Evaluated, SpanPart, UnclosedSpan
from evalspan.orchestrator.backend import Feed, Logits, TextEngine

__all__ = ["CALC", "ENDING", "FAILING", "REQUIREMENTS"]

CALC = Script(("The total is ", SpanPart("calc"), " as it is said."))
FAILING = Script(("It is ", SpanPart("quot"), " and so on."))
ENDING = Script(("The total is ", SpanPart("calc")))


def _result(subject: Subject) -> None:
    said = subject.say(CALC)
    expect(said.text.strip() == CALC.whole, f"{said.text!r}, not {CALC.whole!r}")
    expect(said.streamed == said.text, f"the stream has {said.streamed!r}, the text {said.text!r}")
    expect(said.kinds == ["span_opened", "evaluated", "injected", "finished"], f"events: {said.kinds}")
    (evaluated,) = said.evaluated
    expect(isinstance(evaluated, Evaluated) and evaluated.value == ANSWERS["calc"].value, f"{evaluated}")


def _error(subject: Subject) -> None:
    said = subject.say(FAILING)
    expect(said.text.strip() == FAILING.whole, f"{said.text!r}, not {FAILING.whole!r}")
    expect(said.kinds == ["span_opened", "error", "injected", "finished"], f"events: {said.kinds}")


def _fed(subject: Subject) -> None:
    step = step_subject(subject)
    for mode in ("no-grammar", "grammar-eval"):
        tokens = step.spelling.most(CALC.written.encode())
        with step.steered([tokens], step.registry) as (driver, engine):
            prompt = step.backend.tokenizer.encode_prompt(step.prompt)
            generation = driver.generate(step.prompt, mode=mode, max_tokens=400)
        fed = step.spelling.spell(engine.fed[0][len(prompt) :])
        expect(fed == CALC.whole.encode(), f"{mode}: the engine was fed {fed!r}")
        (block,) = generation.injections
        size = len(block.tokens)
        together = [call for call in engine.calls[0] if call[-size:] == block.tokens]
        expect(
            len(together) == 1, f"{mode}: the {size} forced tokens came in feeds of {list(map(len, engine.calls[0]))}"
        )


def _read(subject: Subject) -> None:
    """What the model thinks after a result is what it thinks where it reads all of the text at once; where the text has
    no result, it thinks something else."""
    step = step_subject(subject)
    with step.steered([step.spelling.most(CALC.written.encode())], step.registry) as (driver, engine):
        generation = driver.generate(step.prompt, mode="no-grammar", max_tokens=400)
    ids = engine.fed[0]
    after, whole = engine.logits[0][-1], _prefill(step, ids)
    far = distance(after, whole)
    expect(far <= TOLERANCE, f"{far:.4f} from what the model says where it reads the text at once")
    forced = generation.injections[0].tokens
    size = len(forced)
    at = next(at for at in range(len(ids)) if tuple(ids[at : at + size]) == forced)
    other = _prefill(step, ids[:at] + ids[at + size :])
    without = distance(after, other)
    expect(far < without, f"{without:.4f} from what it says without the result, {far:.4f} with it")


def _prefill(step: StepSubject, ids: list[int]) -> Logits:
    sequence = step.engine.open()
    try:
        (logits,) = step.engine.decode([Feed(sequence, ids)])
    finally:
        step.engine.close(sequence)
    if logits is None:
        raise Unsupported("the engine gives no logits for a feed that wants some")
    return logits


def _counted(subject: Subject) -> None:
    said = subject.say(CALC)
    finished = said.finished
    shown = sum(len(block.tokens) for block in said.injected)
    if isinstance(subject, PromptedSubject) and not shown:
        raise Unsupported("the server shows no tokens")
    expect(finished.forced_tokens == shown > 0, f"{finished.forced_tokens} forced tokens, {shown} in the events")
    if not isinstance(subject.backend.engine, TextEngine):
        pieces = subject.backend.tokenizer.pieces
        for block in said.injected:
            spelt = b"".join(pieces[token] for token in block.tokens)
            expect(spelt == block.text.encode(), f"the ids of {block.text!r} spell {spelt!r}")


def _not_begun(subject: Subject) -> None:
    if isinstance(subject, PromptedSubject):
        raise Unsupported("a model that was shown the text ends it as it likes, not where it has its result")
    finished = subject.say(ENDING).finished
    expect(finished.reason == "eos", f"finished with {finished.reason}")
    end = 0 if subject.level == "request" else 1  # a request engine says that it ends; others sample a token for it
    fits = finished.sampled_tokens - end + finished.forced_tokens
    said = subject.say(ENDING, max_tokens=fits)
    expect(said.text == ENDING.whole, f"where the result just fits: {said.text!r}")
    said = subject.say(ENDING, max_tokens=fits - 1)
    expect(said.text == ENDING.written, f"where one token is missing: {said.text!r}")
    expect(said.finished.reason == "length" and not said.injected, f"{said.finished.reason}, {said.injected}")
    values = [one.value for one in said.evaluated if isinstance(one, Evaluated)]
    expect(values == ["482"], f"the value is told all the same, not {values}")


def _unclosed(subject: Subject) -> None:
    whole = subject.say(ENDING)
    for limit in range(3, whole.finished.sampled_tokens):
        said = subject.say(ENDING, max_tokens=limit)
        if UnclosedSpan in map(type, said.events):
            expect(not said.evaluated and not said.injected, f"evaluated at {limit} tokens: {said.kinds}")
            expect(said.finished.reason == "length", said.finished.reason)
            expect(ENDING.written.startswith(said.text.lstrip()) and said.streamed == said.text, said.text)
            return
    expect(False, "no limit on tokens leaves the span open")


REQUIREMENTS = (
    Requirement("EVS-INJ-01", "a closed span has its result behind the close tag, as text and as events", _result, ANY),
    Requirement("EVS-INJ-02", "an error is written behind the close tag, and the generation goes on", _error, ANY),
    Requirement("EVS-INJ-03", "the engine is fed the text with its result, which comes in one piece", _fed, STEP),
    Requirement("EVS-INJ-04", "the model has read the result when it goes on", _read, STEP),
    Requirement("EVS-INJ-05", "forced tokens are counted, and their ids spell the block", _counted, ANY),
    Requirement("EVS-INJ-06", "a result that does not fit is not begun", _not_begun, ANY),
    Requirement("EVS-INJ-07", "a span that is open at the end is told, and not evaluated", _unclosed, ANY),
)
