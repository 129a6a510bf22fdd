"""Receipts of every kind of generation, the files they are kept in, and what is said of those that do not hold."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from receipt_support import REGISTRY, rehashed, scripted, spelt
from support import CASE_REGISTRY

from evalspan.backends.scripted import ScriptedBackend
from evalspan.orchestrator import (
    AsyncDriver,
    Cancellation,
    Driver,
    FreeText,
    Gbnf,
    Injected,
    JsonSchema,
    LarkText,
    Pattern,
    ReceiptError,
    Regex,
    Request,
    RequestError,
    Restate,
    SamplingParams,
    Sentence,
    SpanPart,
    StructuralTag,
    Window,
    Windows,
    receipt_of,
)
from evalspan.orchestrator.receipts import Receipt, read_receipt, verify, write_receipt
from evalspan.orchestrator.receipts.canonical import canonical, parse_json
from evalspan.orchestrator.receipts.grammars import describe, described
from evalspan.policies import Registry

SUM = ["So ", "<calc>", "2+3", "</calc>", "."]


def summed() -> ScriptedBackend:
    return ScriptedBackend.replay(SUM)


def checked(receipt: Receipt, backend: ScriptedBackend, **options: Any) -> list[str]:
    """What is wrong with it."""
    return [str(p) for p in verify(receipt, backend.tokenizer, REGISTRY, engine=backend.engine, **options).problems]  # type: ignore[arg-type]


def test_a_receipt_says_what_was_drawn_what_was_forced_and_what_it_cost() -> None:
    generation, receipt = scripted(summed)
    assert generation.text == receipt.output.text == "So <calc>2+3</calc><result>5</result>."
    assert [kind for _, kind in receipt.output.tokens] == [*4 * ["sampled"], *18 * ["forced"], *2 * ["sampled"]]
    evaluated = receipt.output.events[1]
    assert (evaluated["input"], evaluated["value"], evaluated["exact"]) == ("2+3", "5", True)
    assert evaluated["fuel"] > 0 and "microseconds" not in evaluated
    assert [timing.event for timing in receipt.unverified.timings] == [1, 2]
    assert len(receipt.model.ledger) == len(receipt.drawn) == 6
    report = verify(receipt, summed().tokenizer, REGISTRY, engine=summed().engine)  # type: ignore[arg-type]
    assert (report.problems, report.model, report.largest_difference) == ((), "confirmed", 0.0)


GRAMMARS = [
    FreeText(("calc",)),
    Sentence(("a", Pattern("[0-9]"), SpanPart("calc"), Restate("calc", "[0-9]+"))),
    Regex("[a-c]+"),
    Gbnf('root ::= "a" "b"?'),
    LarkText('start: "x" @calc "y"'),
    StructuralTag('{"type": "structural_tag", "format": {"type": "const_string", "value": "ab"}}', continues=True),
    JsonSchema(
        {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"format": "x"}}}, formats="annotation"
    ),
    Windows((Window("</think>", "<think>", spans=True, max_tokens=5, gap="", name="t"), Regex("[a-c]+"))),
]


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: type(grammar).__name__)
def test_a_grammar_is_made_again_of_its_description(grammar: Any) -> None:
    description = json.loads(canonical(describe(grammar)))
    again = described(description)
    assert again == grammar and describe(again) == description
    for name in description:
        with pytest.raises(ReceiptError, match="grammar"):
            described({key: item for key, item in description.items() if key != name})
    with pytest.raises(ReceiptError, match=r"^grammar\.extra: unknown key$"):
        described({**description, "extra": 1})


@pytest.mark.parametrize("limit", range(16, 24))
def test_an_output_that_ends_at_any_place_is_rebuilt(limit: int) -> None:
    schema = JsonSchema(
        {
            "type": "object",
            "properties": {
                "e": {"type": "string"},
                "a": {"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "input": "/e"}},
            },
            "required": ["e", "a"],
            "additionalProperties": False,
        }
    )
    script = spelt('{"e": "2+3", "a":}')
    _, receipt = scripted(lambda: ScriptedBackend.replay(script), grammar=schema, max_tokens=limit)
    assert receipt.output.reason == ("length" if limit < 21 else "eos")
    assert checked(receipt, ScriptedBackend.replay(script)) == []


def test_windows_and_structural_tags_are_rebuilt() -> None:
    script = spelt("abcdefgh<calc>2</calc>")
    windows = Windows((Window("</t>", max_tokens=4), FreeText(("calc",))))
    _, receipt = scripted(lambda: ScriptedBackend.replay(script), grammar=windows, max_tokens=40)
    assert receipt.output.text.startswith("abcd</t>efgh")
    assert checked(receipt, ScriptedBackend.replay(script)) == []
    document = {
        "type": "structural_tag",
        "format": {"type": "evaluated_tag", "begin": "[sum]", "end": "[/sum]", "evaluator": "arithmetic"},
    }
    script = spelt("[sum]2+3[/sum]")
    tag = StructuralTag.from_json(document)
    generation, receipt = scripted(lambda: ScriptedBackend.replay(script), grammar=tag)
    assert "5" in generation.text
    assert checked(receipt, ScriptedBackend.replay(script)) == []


def test_an_end_from_outside_is_one_and_its_cause_is_unverified() -> None:
    cancellation = Cancellation()
    request = Request("go", receipt=True, cancellation=cancellation)
    with Driver(summed(), REGISTRY) as driver:
        events = []
        for event in driver.begin(request):
            events.append(event)
            if isinstance(event, Injected):
                cancellation.cancel()
        receipt = receipt_of(driver, request, events)
    assert (receipt.output.reason, receipt.unverified.cause) == ("interrupted", "cancelled")
    assert checked(receipt, summed()) == []


def test_an_engine_that_samples_by_itself_has_no_ledger() -> None:
    def make() -> ScriptedBackend:
        return ScriptedBackend.replay(["So ", "<calc>", "2+3", "</calc>.", "x"], level="request")

    generation, receipt = scripted(make)
    assert generation.text == "So <calc>2+3</calc><result>5</result>x"
    report = verify(receipt, make().tokenizer, REGISTRY)
    assert (report.problems, report.model) == ((), "unconfirmed")
    # The engine says that it is at its end, and no token does.
    assert (receipt.output.reason, receipt.unverified.cause) == ("interrupted", "eos")
    ledgered = receipt.value()
    ledgered["model"]["uniform"] = [0.5]
    assert not verify(Receipt.of(rehashed(ledgered)), make().tokenizer, REGISTRY).holds


def test_every_way_to_generate_gives_receipts() -> None:
    request = Request("go", sampling=SamplingParams(temperature=0.01, seed=4), receipt=True)
    with Driver(ScriptedBackend.replay(SUM, slots=4), REGISTRY) as driver:
        single = driver.generate("go", receipt=True).receipt
        many = [generation.receipt for generation in driver.generate_many([Request("go"), request])]
        samples = [generation.receipt for generation in driver.samples(request, 3)]
        assert driver.generate("go").receipt is None
        with pytest.raises(RequestError, match="no receipt"):
            driver.beam(Request("go", receipt=True))
    assert single is not None and many[0] is None and many[1] is not None
    seeds = [receipt.model.sampling["seed"] for receipt in samples if receipt is not None]
    assert seeds == [4, 5, 6]
    for receipt in (single, many[1], *samples):
        assert receipt is not None and checked(receipt, summed()) == []


def test_under_asyncio_there_are_receipts_too() -> None:
    async def generate() -> Receipt | None:
        async with AsyncDriver(lambda: Driver(summed(), REGISTRY)) as driver:
            return (await driver.generate(Request("go", receipt=True))).receipt

    receipt = asyncio.run(generate())
    assert receipt is not None and checked(receipt, summed()) == []


def test_what_was_not_recorded_or_went_wrong_has_none() -> None:
    with Driver(summed(), REGISTRY) as driver:
        with pytest.raises(ReceiptError, match="receipt=True"):
            receipt_of(driver, Request("go"), list(driver.stream("go")))
        with pytest.raises(ReceiptError, match="not over"):
            receipt_of(driver, Request("go"), [])
    with Driver(summed(), REGISTRY, runtime="in_process") as driver, pytest.raises(RequestError, match="sandbox"):
        driver.generate("go", receipt=True)
    empty = ScriptedBackend.replay([{"x": 1.0}], slots=1)
    with Driver(empty, REGISTRY) as driver:
        (failed,) = driver.generate_many([Request("go", grammar=Regex("q\x00*"), receipt=True, max_tokens=3)])
        assert failed.receipt is not None or failed.reason == "decode_error"


def test_foreign_identities_are_named() -> None:
    _, receipt = scripted(summed)
    other = ScriptedBackend.replay(["other"])
    assert any(p.startswith("identity.tokenizer: ") for p in checked(receipt, other))
    registry = Registry.parse(CASE_REGISTRY.replace("<calc>", "<sum>"))
    found = [str(problem) for problem in verify(receipt, summed().tokenizer, registry).problems]
    assert found[0] == 'identity.registry.span[0].open: "<calc>" is recorded and "<sum>" rebuilt'
    value = receipt.value()
    value["identity"]["evaluators"][0]["sha256"] = "0" * 64
    value["identity"]["grammar_engine"] = "llguidance 0.1"
    value["identity"]["evalspan"] = "0.0.1"
    paths = [problem.split(":")[0] for problem in checked(Receipt.of(rehashed(value)), summed())]
    assert paths == ["identity.evalspan", "identity.grammar_engine", "identity.evaluators[0].sha256"]
    value["identity"]["grammar_engine"] = "other 1"
    assert "no grammar engine" in checked(Receipt.of(rehashed(value)), summed())[0]


def test_a_model_with_other_logits_is_found_unless_they_are_within_the_tolerance() -> None:
    def tilted(logit: float) -> ScriptedBackend:
        return ScriptedBackend.replay([{"a": logit, "b": 1.0}], vocabulary=[b"a", b"b"])

    _, receipt = scripted(lambda: tilted(2.0))
    assert checked(receipt, tilted(2.0)) == []
    assert any(p.startswith("model.ledger[0].logit: 2 is recorded") for p in checked(receipt, tilted(2.01)))
    assert checked(receipt, tilted(2.01), tolerance=0.02) == []
    rather = checked(receipt, ScriptedBackend.replay([{"a": 0.5, "b": 1.0}], vocabulary=[b"a", b"b"]))
    assert rather[0].startswith("model.ledger[0].token: the model would rather have token")


def test_both_forms_say_the_same_and_the_rows_are_not_trusted(tmp_path: Path) -> None:
    _, receipt = scripted(summed)
    for name in ("r.json", "r.csv"):
        write_receipt(receipt, tmp_path / name)
        assert read_receipt(tmp_path / name) == receipt
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "r.json"]
    rows = list(csv.reader(io.StringIO((tmp_path / "r.csv").read_text("utf-8"), newline="")))
    assert rows[0][:4] == ["record", "index", "value", "kind"]
    assert [row[3] for row in rows if row[0] == "token"].count("forced") == 18
    rows[-1][2] = "7"
    with (tmp_path / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(ReceiptError, match=f"^row {len(rows)}: "):
        read_receipt(tmp_path / "r.csv")
    with pytest.raises(ReceiptError, match=r"\*\.json or \*\.csv"):
        write_receipt(receipt, tmp_path / "r.txt")


def test_a_long_receipt_is_cut_into_cells_that_a_spreadsheet_holds(tmp_path: Path) -> None:
    _, receipt = scripted(lambda: ScriptedBackend.replay(SUM, context_tokens=200_000), prompt="word " * 20_000)
    write_receipt(receipt, tmp_path / "r.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "r.csv").read_text("utf-8"), newline="")))
    assert sum(row[0] == "json" for row in rows) > 3 and max(len(cell) for row in rows for cell in row) <= 32_767
    assert read_receipt(tmp_path / "r.csv") == receipt


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": {"b": 1, "b": 1}}', "^a.b: this name is there twice$"),
        (b'{"a": [0, NaN]}', r"^a\[1\]: the number is not finite$"),
        (b'{"a": 1e999}', "^a: the number is not finite$"),
        (b'{"a": "\\ud800"}', "^a: the text holds half a character$"),
        (b'{"a": "\xff"}', "is not UTF-8 at byte 7"),
        (b"\xef\xbb\xbf{}", "is no JSON"),
        (b"[" * 100_000, "deep"),
        (b"[" * 40 + b"]" * 40, r"is more than 32 deep$"),
        (b"1" * 5000, "is no JSON"),
        (b"", "is no JSON"),
    ],
)
def test_json_with_two_readings_or_none_is_refused_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(ReceiptError, match=message):
        parse_json(data)


def test_what_is_no_receipt_is_named() -> None:
    _, receipt = scripted(summed)
    value = receipt.value()
    for change, message in (
        ({"format": "evalspan receipt 2"}, "format: is 'evalspan receipt 2'"),
        ({"output": {**value["output"], "tokens": [[1, "drawn"]]}}, "output.tokens[0][1]: input should be"),
        (
            {"request": {**value["request"], "prompt": [{"role": "user"}]}},
            "request.prompt[0].content: this key is required",
        ),
        ({"extra": 1}, "extra: unknown key"),
        ({"digest": "0"}, "digest: string should match"),
    ):
        with pytest.raises(ReceiptError) as error:
            Receipt.of({**value, **change})
        assert str(error.value).startswith(message)
    with pytest.raises(ReceiptError, match=r"^format: "):
        Receipt.parse("{}")
    with pytest.raises(ReceiptError):
        Receipt.parse("[]")


def test_a_token_that_the_mask_forbids_is_named() -> None:
    _, receipt = scripted(summed)
    value = receipt.value()
    value["output"]["tokens"][2][0] = value["model"]["ledger"][2]["token"] = ord("<")
    value["output"]["tokens"][3][0] = value["model"]["ledger"][3]["token"] = 256
    forged = Receipt.of(rehashed(value))
    (problem,) = verify(forged, summed().tokenizer, REGISTRY).problems
    assert str(problem) == "output.tokens[3]: the mask forbids token 256 here"
    value["output"]["tokens"][3][0] = value["model"]["ledger"][3]["token"] = 999
    (problem,) = verify(Receipt.of(rehashed(value)), summed().tokenizer, REGISTRY).problems
    assert str(problem) == "output.tokens[3]: the vocabulary of 261 has no token 999"


def test_a_digest_that_is_not_that_of_the_contents_is_told() -> None:
    _, receipt = scripted(summed)
    (problem,) = checked(Receipt.of({**receipt.value(), "digest": "0" * 64}), summed())
    assert problem.startswith("digest: 0000")


def test_a_pipe_is_no_receipt(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.json")
    with pytest.raises(ReceiptError, match="no regular file"):
        read_receipt(tmp_path / "r.json")
    with pytest.raises(ReceiptError, match="cannot be read"):
        read_receipt(tmp_path / "none.json")
