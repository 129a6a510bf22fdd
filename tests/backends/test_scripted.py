"""The scripted backend says what it was told to, at both levels, and reads scripts carefully."""

import json
from pathlib import Path
from typing import Any

import pytest
from support import finished, play

from evalspan.backends.scripted import ScriptedBackend, ScriptedRequests, ScriptedSteps
from evalspan.orchestrator import BackendOptions, Driver, ModelError
from evalspan.policies import Registry

TOKENS = ["a ", "<calc>", "1+1", "</", "calc>", ".\n"]


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_request_engine_gives_the_same_text_as_a_step_engine(width: int) -> None:
    steps = play(["a ", "<calc>", "1+1", "</calc>"], mode="no-grammar")
    requests = play(["a ", "<calc>", "1+1", "</calc>"], level="request", width=width)
    assert finished(requests).text == finished(steps).text == "a <calc>1+1</calc><result>2</result>"
    assert finished(requests).forced_tokens == finished(steps).forced_tokens


def test_a_request_engine_is_resumed_with_everything_that_came_before() -> None:
    backend = ScriptedBackend.replay(["a ", "<calc>", "1+1", "</calc>", "b"], level="request")
    engine = backend.engine
    assert isinstance(engine, ScriptedRequests)
    with Driver(backend) as driver:
        result = driver.generate("go ", max_tokens=100)
    first, second = engine.requests
    assert (first.text, first.max_tokens) == (b"go ", 100)
    assert second.text == b"go a <calc>1+1</calc><result>2</result>"
    assert b"".join(backend.tokenizer.pieces[token] for token in second.tokens) == second.text
    assert second.max_tokens == 100 - 4 - len(result.injections[0].tokens)
    assert set(first.stop) == {rule.close for rule in Registry.load().spans}
    assert engine.cancelled == 1


def test_sequences_are_closed_when_a_stream_is_dropped() -> None:
    backend = ScriptedBackend.replay(["a", "b", "c"])
    engine = backend.engine
    assert isinstance(engine, ScriptedSteps)
    with Driver(backend) as driver:
        stream = driver.stream("go")
        next(stream)
        assert engine.open_sequences == 1
        stream.close()  # type: ignore[attr-defined]
        assert engine.open_sequences == 0


def test_a_script_file_is_replayed(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"tokens": TOKENS, "context_tokens": 100}))
    with Driver.open("scripted", model=str(path)) as driver:
        assert driver.generate("go").text == "a <calc>1+1</calc><result>2</result>.\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        ("{", "is no JSON script"),
        ("[]", 'a list "tokens"'),
        ({"tokens": "ab"}, 'a list "tokens"'),
        ({"tokens": [1]}, "strings that are not empty"),
        ({"tokens": [""]}, "strings that are not empty"),
        ({"tokens": [], "levle": "step"}, "unknown key 'levle'"),
        ({"tokens": [], "level": "both"}, '"level" is'),
        ({"tokens": [], "context_tokens": 0}, "at least 1"),
        ({"tokens": [], "context_tokens": True}, "type int"),
    ],
)
def test_a_script_that_cannot_be_used_is_explained(tmp_path: Path, content: Any, says: str) -> None:
    path = tmp_path / "script.json"
    if content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ModelError, match=says):
        ScriptedBackend(BackendOptions(model=str(path)))
