"""A real engine with a real model and a cache that is too small: every result is exact, whatever else is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from vllm_support import check_exact, sums

from evalspan.backends.transformers_tokenizer import TransformersTokenizer
from evalspan.orchestrator import Finished, Gbnf, Injected, JsonSchema, LarkText
from evalspan.orchestrator.replay import Replayer

BLOCKS = 14  # of 128 tokens: what half of the requests of the test of preemption need
NAME = "evalspan.backends.vllm_plugin:EvaluatorLogitsProcessor"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine") / "record.jsonl"


@pytest.fixture(scope="module")
def engine(model: Path, record: Path) -> Iterator[Any]:
    from vllm import LLM

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALSPAN_VLLM_RECORD", str(record))
        patch.setenv("EVALSPAN_VLLM_COUNTERS", str(record.with_name("counters.json")))
        llm = LLM(
            str(model),
            dtype="float32",  # in which the sums of another batch change no choice of a token
            max_model_len=512,
            max_num_seqs=24,
            max_num_batched_tokens=96,
            enable_chunked_prefill=True,
            num_gpu_blocks_override=BLOCKS,
            enforce_eager=True,
            disable_log_stats=False,
            logits_processors=[NAME],
        )
        yield llm
        llm.llm_engine.engine_core.shutdown()


def params(**options: Any) -> Any:
    from vllm import SamplingParams

    extra = options.pop("extra", {})
    return SamplingParams(
        **{"max_tokens": 60, "temperature": 0.0, **options}, extra_args={"evalspan": "default", **extra}
    )


def plain(**options: Any) -> Any:
    from vllm import SamplingParams

    return SamplingParams(**{"max_tokens": 60, "temperature": 0.0, **options})


def run(engine: Any, prompts: list[str], sampling: list[Any]) -> list[Any]:
    return [request.outputs for request in engine.generate(prompts, sampling, use_tqdm=False)]


def preemptions(engine: Any) -> int:
    return sum(metric.value for metric in engine.get_metrics() if metric.name == "vllm:num_preemptions")


def test_preempted_requests_keep_every_result(engine: Any, replayer: Replayer) -> None:
    before = preemptions(engine)
    prompts = [sums(7 * number + 3, 11 * number + 5) for number in range(24)]
    outputs = run(engine, prompts, [params(max_tokens=110) for _ in prompts])
    assert preemptions(engine) > before, "nothing was preempted: the test tests nothing"
    spans = 0
    for (output,) in outputs:
        spans += check_exact(output.text)
        assert isinstance(replayer.replay(output.token_ids, max_tokens=110)[-1], Finished)
    assert spans >= 2 * len(prompts), "a model that writes no spans tests nothing"


TABLE: dict[str, dict[str, Any]] = {
    "greedy": {},
    "hot": {"temperature": 1.5, "seed": 1},
    "very hot, few": {"temperature": 2.0, "top_k": 20, "seed": 2},
    "top-p": {"temperature": 1.0, "top_p": 0.5, "seed": 3},
    "min-p": {"temperature": 1.0, "min_p": 0.2, "seed": 4},
    "penalties": {"repetition_penalty": 2.0, "presence_penalty": 2.0, "frequency_penalty": 2.0},
    "reward for repetition": {"repetition_penalty": 0.5, "presence_penalty": -2.0},
    "min_tokens": {"min_tokens": 50},
    "cut in a block": {"max_tokens": 15},
    "one token": {"max_tokens": 1},
    "stop string in forced text": {"stop": ["</result>"]},
    "stop string in an expression": {"stop": [" + "]},
    "stop string kept": {"stop": ["</calc>"], "include_stop_str_in_output": True},
    "stop token": {"stop_token_ids": [198]},
    "bad words": {"bad_words": ["<result>", "5", "<"]},
    "bias against digits": {"logit_bias": dict.fromkeys(range(32, 42), -100.0)},
    "bias for an end": {"logit_bias": {2: 100.0}, "min_tokens": 20},
    "log-probabilities": {"logprobs": 3, "prompt_logprobs": 1},
    # Without a seed: on a CPU vLLM 0.32 dies of a request with one whose prompt is read in several steps.
    "three samples": {"n": 3, "temperature": 1.0},
    "no text": {"detokenize": False},
    "required": {"extra": {"evalspan_required": "calc"}},
    "spans without evaluation": {"extra": {"evalspan_mode": "grammar-no-eval"}},
}


COUNTING = "One, two, three, four,"
COUNTED = " five, six, seven, eight"


@pytest.mark.parametrize("feature", TABLE)
def test_results_are_exact_beside_every_other_feature(
    engine: Any, replayer: Replayer, tokenizer: TransformersTokenizer, feature: str
) -> None:
    options = TABLE[feature]
    mode: Any = options.get("extra", {}).get("evalspan_mode", "grammar-eval")
    (outputs, neighbours) = run(engine, [sums(17, 25), COUNTING], [params(**options), plain(max_tokens=7)])
    for output in outputs:
        tokens = list(output.token_ids)
        if options.get("stop_token_ids"):
            tokens = tokens[:-1] if tokens[-1] in options["stop_token_ids"] else tokens
        replayer.replay(tokens, mode=mode, grammar=grammar(options), max_tokens=options.get("max_tokens", 60))
        if mode == "grammar-eval":
            check_exact(b"".join(tokenizer.pieces[token] for token in tokens).decode("utf-8", "ignore"))
    assert neighbours[0].text == COUNTED, "a request that did not opt in says something else than alone"


def grammar(options: dict[str, Any]) -> Any:
    from evalspan.orchestrator import FreeText

    return FreeText(("calc",)) if "evalspan_required" in options.get("extra", {}) else None


def test_most_features_leave_the_model_room_for_spans(engine: Any) -> None:
    (output,) = run(engine, [sums(17, 25)], [params()])[0]
    assert check_exact(output.text) >= 2
    assert output.text.startswith("<calc>")


SCHEMA = {
    "type": "object",
    "properties": {
        "expression": {"type": "string", "pattern": "^[0-9]{1,3} [+*] [0-9]{1,3}$"},
        "answer": {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "input": "/expression"}},
    },
    "required": ["expression", "answer"],
    "additionalProperties": False,
}

GRAMMARS: dict[str, tuple[str, Any]] = {
    "evalspan_grammar": ('start: "It is " @calc "."', LarkText),
    "evalspan_gbnf": ('root ::= "yes" | "no"', Gbnf),
    "evalspan_schema": (json.dumps(SCHEMA), JsonSchema.parse),
}


@pytest.mark.parametrize("key", GRAMMARS)
def test_the_output_has_the_grammar_of_the_request(engine: Any, replayer: Replayer, key: str) -> None:
    text, make = GRAMMARS[key]
    (output,) = run(engine, [sums(17, 25)], [params(extra={key: text})])[0]
    events = replayer.replay(output.token_ids, grammar=make(text), max_tokens=60)
    last = events[-1]
    assert isinstance(last, Finished) and last.reason == "eos"
    if key == "evalspan_grammar":
        assert output.text.startswith("It is <calc>") and output.text.endswith("</result>.")
    elif key == "evalspan_gbnf":
        assert output.text in ("yes", "no")
    else:
        value = json.loads(output.text)
        left, operator, right = value["expression"].split()
        exact = int(left) + int(right) if operator == "+" else int(left) * int(right)
        assert value["answer"] == exact


def test_what_the_request_forbids_and_the_grammar_wants_ends_it(engine: Any) -> None:
    bad, good = run(
        engine,
        [sums(17, 25)] * 2,
        [params(allowed_token_ids=[198, 199], extra={"evalspan_gbnf": 'root ::= "yes"'}), params()],
    )
    assert bad[0].text == "" and bad[0].finish_reason == "stop"
    assert check_exact(good[0].text) >= 2


def test_a_prefix_that_is_cached_changes_nothing(engine: Any) -> None:
    prompt = sums(17, 25) * 4
    first = run(engine, [prompt], [params()])[0][0].token_ids
    assert run(engine, [prompt], [params()])[0][0].token_ids == first


def test_a_session_says_what_the_engine_says_by_itself(
    engine: Any, replayer: Replayer, tokenizer: TransformersTokenizer
) -> None:
    from vllm import TokensPrompt

    prompt = tokenizer.encode_prompt(sums(17, 25))
    whole = list(
        engine.generate(TokensPrompt(prompt_token_ids=prompt), params(), use_tqdm=False)[0].outputs[0].token_ids
    )
    history: list[int] = []
    turns = 0
    while turns < 10:
        turn = params(max_tokens=60 - len(history), extra={"evalspan_session": 1, "evalspan_history": list(history)})
        (answer,) = engine.generate(TokensPrompt(prompt_token_ids=[*prompt, *history]), turn, use_tqdm=False)
        output = answer.outputs[0]
        turns += 1
        history += output.token_ids[:-1] if output.finish_reason == "stop" else output.token_ids
        reader = replayer.reader(max_tokens=60)
        for token in history:
            reader.take(token)
        if reader.reason is not None or reader.due is None:
            break  # the end token was the model's, or there is no room for more
        while reader.due is not None:
            history.append(reader.due)
            reader.take(reader.due)
        assert history == whole[: len(history)]
    assert history == [token for token in whole if token not in tokenizer.eos_ids]
    assert turns >= 3, "no turn ended at a close tag"


def test_the_worker_did_what_the_replay_says(engine: Any, replayer: Replayer, record: Path) -> None:
    labels = [f"replayed {number}" for number in range(4)]
    outputs = run(
        engine,
        [sums(number + 2, 40) for number in range(4)],
        [params(extra={"evalspan_label": label}) for label in labels],
    )
    run(engine, ["x"], [plain(max_tokens=1)])  # a further step, in which the others are taken out of the batch
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    for label, (output,) in zip(labels, outputs, strict=True):
        (line,) = [line for line in lines if line["label"] == label]
        told = replayer.replay(output.token_ids, max_tokens=60)
        assert line["tokens"] == list(output.token_ids)
        assert line["failure"] is None
        assert line["events"] == json.loads(json.dumps([{"event": e.event, **asdict(e)} for e in told[:-1]]))
        assert any(isinstance(event, Injected) for event in told)


def test_the_worker_counts_what_it_costs(engine: Any, record: Path) -> None:
    counters = json.loads(record.with_name("counters.json").read_text())
    assert counters["steps"] > 0 and counters["pinned"] > 0 and counters["masked"] > 0
    assert 0 < counters["share"] < 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"structured_outputs": {"regex": "[0-9]+"}}, "in vllm_xargs as evalspan_schema"),
        ({"ignore_eos": True}, "leave it out"),
        ({"extra": {"evalspan": "nobody"}}, "this server has default"),
    ],
)
def test_a_request_that_cannot_be_honoured_is_refused(engine: Any, options: dict[str, Any], said: str) -> None:
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import StructuredOutputsParams

    if "structured_outputs" in options:
        options = {"structured_outputs": StructuredOutputsParams(**options["structured_outputs"])}
    with pytest.raises(VLLMValidationError, match=said):
        run(engine, ["x"], [params(**options)])
