"""A backend that replays a script: the oracle of the tests, and a way to see the driver work without a model.

The engine wants to say the tokens of the script in order, one each time that logits are wanted, whatever it is fed:
forced tokens do not move the script. It really is masked and sampled like any other engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from evalspan.backends.vocabulary import vocabulary_digest
from evalspan.orchestrator.backend import (
    BackendOptions,
    Chunk,
    CompletionRequest,
    Feed,
    Logits,
    Message,
    RequestEngine,
    StepEngine,
)
from evalspan.orchestrator.errors import BackendError, ModelError

__all__ = ["Rule", "Script", "ScriptedBackend", "ScriptedRequests", "ScriptedSteps", "ScriptedTokenizer"]

EOS = 256
"""The end token's id; tokens 0 to 255 are the bytes, those of the script follow."""

_WANTED, _END = 2.0, 1.0  # logits: where the mask forbids the script's token, the model would rather end


class ScriptedTokenizer:
    """All bytes, an end token, and the pieces given; text is encoded by the longest piece that fits."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        longer = dict.fromkeys(piece for piece in pieces if len(piece) > 1)
        self.pieces = (*(bytes([byte]) for byte in range(256)), b"", *longer)
        self.special_ids = frozenset({EOS})
        self.eos_ids = frozenset({EOS})
        self.digest = vocabulary_digest(self.pieces, self.special_ids, self.eos_ids)
        self._ids = {piece: token for token, piece in enumerate(self.pieces) if piece}
        self._longest = max(map(len, self._ids))

    def encode(self, text: bytes) -> list[int]:
        tokens: list[int] = []
        start = 0
        while start < len(text):
            for size in range(min(self._longest, len(text) - start), 0, -1):
                token = self._ids.get(text[start : start + size])
                if token is not None:
                    tokens.append(token)
                    start += size
                    break
        return tokens

    def encode_prompt(self, prompt: str | Sequence[Message]) -> list[int]:
        if isinstance(prompt, str):
            return self.encode(prompt.encode())
        turns = [f"{message.role}: {message.content}\n" for message in prompt]
        return self.encode("".join([*turns, "assistant: "]).encode())


Script = Sequence[int | Mapping[int, float]]
"""What the model wants, step by step: a token, or the logits of some tokens (the others get 0)."""

Rule = Callable[[Sequence[int]], Mapping[int, float]]
"""The logits of some tokens after those that a sequence was fed; the others get none at all (-inf)."""


class ScriptedSteps:
    """The script as a step engine. `fed` holds the tokens that each sequence was given, prompt included."""

    def __init__(self, script: Script | Rule, vocabulary_size: int, context_tokens: int, slots: int = 1) -> None:
        self.context_tokens = context_tokens
        self.slots = slots
        self.fed: dict[int, list[int]] = {}
        self.calls: list[tuple[int, ...]] = []
        """The tokens of every feed, in order: forced tokens must come in one."""
        self.steps: list[int] = []
        """How many feeds each step had."""
        self._script = script
        self._size = vocabulary_size
        self._positions: dict[int, int] = {}

    def open(self) -> int:
        if len(self._positions) >= self.slots:
            raise BackendError(f"all {self.slots} slots are taken")
        sequence = len(self.fed)
        self.fed[sequence] = []
        self._positions[sequence] = 0
        return sequence

    def decode(self, feeds: Sequence[Feed]) -> list[Logits | None]:
        answers: list[Logits | None] = []
        self.steps.append(len(feeds))
        for feed in feeds:
            if not feed.tokens:
                raise BackendError("an empty feed has no logits")
            tokens = self.fed[feed.sequence]
            tokens += feed.tokens
            if len(tokens) > self.context_tokens:
                raise BackendError(f"the context of {self.context_tokens} tokens is full")
            self.calls.append(tuple(feed.tokens))
            if not feed.wants_logits:
                answers.append(None)
                continue
            position = self._positions[feed.sequence]
            self._positions[feed.sequence] = position + 1
            answers.append(self._ruled(tokens) if callable(self._script) else self._logits(self._script, position))
        return answers

    def fork(self, sequence: int) -> int:
        copy = self.open()
        self.fed[copy] = list(self.fed[sequence])
        self._positions[copy] = self._positions[sequence]
        return copy

    def close(self, sequence: int) -> None:
        del self._positions[sequence]

    @property
    def open_sequences(self) -> int:
        """How many sequences are open."""
        return len(self._positions)

    def _ruled(self, tokens: Sequence[int]) -> Logits:
        logits = np.full(self._size, -np.inf, dtype=np.float32)
        if callable(self._script):
            for token, logit in self._script(tuple(tokens)).items():
                logits[token] = logit
        return logits

    def _logits(self, script: Sequence[int | Mapping[int, float]], position: int) -> Logits:
        logits = np.zeros(self._size, dtype=np.float32)
        logits[EOS] = _END
        wanted = script[position] if position < len(script) else EOS
        for token, logit in wanted.items() if isinstance(wanted, Mapping) else ((wanted, _WANTED),):
            logits[token] = logit
        return logits


class ScriptedRequests:
    """The script as a request engine, which samples by itself; `requests` are those it was given."""

    def __init__(self, script: Sequence[int], pieces: Sequence[bytes], context_tokens: int, width: int = 1) -> None:
        self.context_tokens = context_tokens
        self.requests: list[CompletionRequest] = []
        self.cancelled = 0
        self._script = script
        self._pieces = pieces
        self._width = width
        self._position = 0

    def complete(self, request: CompletionRequest) -> Generator[Chunk, None, None]:
        self.requests.append(request)
        left = request.max_tokens
        try:
            while self._position < len(self._script) and left > 0:
                chunk = tuple(self._script[self._position : self._position + min(self._width, left)])
                self._position += len(chunk)
                left -= len(chunk)
                yield Chunk(b"".join(self._pieces[token] for token in chunk), chunk)
        except GeneratorExit:
            self.cancelled += 1
            raise
        yield Chunk(end="eos" if left > 0 else "length")


class ScriptedBackend:
    """Replays a script; `--model` names a JSON file with the keys `tokens`, `vocabulary`, `context_tokens`, `level`."""

    name: ClassVar[str] = "scripted"
    description: ClassVar[str] = "replays the tokens of a JSON script, for tests and examples"

    def __init__(self, options: BackendOptions) -> None:
        if options.model is None:
            raise ModelError('the scripted backend needs a script: --model FILE.json with {"tokens": ["…"]}')
        script = _read(Path(options.model))
        tokens = [token.encode() for token in script["tokens"]]
        self._open(
            tokens,
            vocabulary=[piece.encode() for piece in script.get("vocabulary", [])],
            context_tokens=options.context_tokens or script.get("context_tokens", 4096),
            level=script.get("level", "step"),
            slots=options.slots or 1,
        )
        self.model = options.model

    @classmethod
    def replay(
        cls,
        tokens: Iterable[bytes | str | Mapping[str, float]],
        *,
        vocabulary: Iterable[bytes] = (),
        context_tokens: int = 4096,
        level: Literal["step", "request"] = "step",
        width: int = 1,
        slots: int = 1,
    ) -> ScriptedBackend:
        """A backend that wants to say `tokens`, each one piece of the vocabulary (or logits by piece).

        `width` is how many tokens a request engine yields at once.
        """
        backend = cls.__new__(cls)
        steps = [token.encode() if isinstance(token, str) else token for token in tokens]
        backend._open(
            steps, vocabulary=vocabulary, context_tokens=context_tokens, level=level, width=width, slots=slots
        )
        backend.model = "script"
        return backend

    @classmethod
    def following(
        cls,
        rule: Callable[[str], Mapping[str, float]],
        *,
        vocabulary: Iterable[bytes] = (),
        context_tokens: int = 4096,
        slots: int = 1,
    ) -> ScriptedBackend:
        """A backend whose logits follow from the text so far, prompt included, whatever tokens it came in.

        `rule` gives the logits of some pieces, `""` being the end; the others cannot be said.
        """
        backend = cls.replay([], vocabulary=vocabulary, context_tokens=context_tokens, slots=slots)
        pieces = backend.tokenizer.pieces
        ids = {piece: token for token, piece in enumerate(pieces)}

        def logits(tokens: Sequence[int]) -> dict[int, float]:
            text = b"".join(pieces[token] for token in tokens).decode("utf-8", "replace")
            return {ids[piece.encode()]: logit for piece, logit in rule(text).items()}

        backend.engine = ScriptedSteps(logits, len(pieces), context_tokens, slots)
        return backend

    def _open(
        self,
        steps: Sequence[bytes | Mapping[str, float]],
        *,
        vocabulary: Iterable[bytes],
        context_tokens: int,
        level: Literal["step", "request"],
        width: int = 1,
        slots: int = 1,
    ) -> None:
        spelt = [[step] if isinstance(step, bytes) else [piece.encode() for piece in step] for step in steps]
        self.tokenizer = ScriptedTokenizer([*vocabulary, *(piece for step in spelt for piece in step)])
        ids = {piece: token for token, piece in enumerate(self.tokenizer.pieces)}
        script: list[int | Mapping[int, float]] = [
            ids[step] if isinstance(step, bytes) else {ids[p.encode()]: logit for p, logit in step.items()}
            for step in steps
        ]
        self.engine: StepEngine | RequestEngine
        if level == "step":
            self.engine = ScriptedSteps(script, len(self.tokenizer.pieces), context_tokens, slots)
        else:
            sampled = [token for token in script if isinstance(token, int)]
            if len(sampled) < len(script):
                raise ModelError("a request engine shows no logits: its script is tokens only")
            self.engine = ScriptedRequests(sampled, self.tokenizer.pieces, context_tokens, width)

    model: str

    def shutdown(self) -> None:
        """Nothing to free."""


def _read(path: Path) -> dict[str, Any]:
    try:
        script = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: is no JSON script: {error}") from None
    expected: dict[str, type] = {"tokens": list, "vocabulary": list, "context_tokens": int, "level": str}
    if not isinstance(script, dict) or not isinstance(script.get("tokens"), list):
        raise ModelError(f'{path}: a script is a JSON object with a list "tokens"')
    for key, value in script.items():
        if key not in expected:
            raise ModelError(f"{path}: unknown key {key!r}; known: {', '.join(expected)}")
        if not isinstance(value, expected[key]) or isinstance(value, bool):
            raise ModelError(f"{path}: {key!r} must be of type {expected[key].__name__}")
        if isinstance(value, list) and not all(isinstance(item, str) and item for item in value):
            raise ModelError(f"{path}: {key!r} must hold strings that are not empty")
    if script.get("level", "step") not in ("step", "request") or script.get("context_tokens", 1) < 1:
        raise ModelError(f'{path}: "level" is "step" or "request", "context_tokens" at least 1')
    return script
