"""Receipts from elsewhere: read as files, verified, and written again."""

from __future__ import annotations

from pathlib import Path

from evalspan.backends.scripted import ScriptedBackend
from evalspan.conformance.fuzz.host.subject import Disagreement
from evalspan.orchestrator import Driver, JsonSchema, Request
from evalspan.orchestrator.receipts import Receipt, Verifier, read_receipt, receipt_of
from evalspan.orchestrator.receipts.files import receipt_csv
from evalspan.policies import Registry

__all__ = ["CsvReceipts", "JsonReceipts", "receipt_seeds"]

_REGISTRY = """
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<c>"
close = "</c>"
evaluator = "arithmetic"
"""

_OBJECT = JsonSchema({"type": "object", "properties": {"n": {"type": "integer"}}})
_SCRIPTS = (
    ("a <c>1/0</c>.", Request("go", receipt=True)),
    ("<c>2*3</c>", Request("go", receipt=True, mode="no-grammar")),
    ('{"n": 12, "m": 3}', Request("go", receipt=True, grammar=_OBJECT)),
)


class JsonReceipts:
    """Reads and verifies a receipt in JSON."""

    suffix = ".json"

    def __init__(self) -> None:
        self._path = Path("receipt" + self.suffix)
        self._verifier = Verifier(_backend("").tokenizer, Registry.parse(_REGISTRY))

    def run(self, data: bytes) -> str:
        """What the verifier says; a receipt that is written again must be read as the same."""
        self._path.write_bytes(data)
        receipt = read_receipt(self._path)
        if Receipt.parse(receipt.json_text()) != receipt:
            raise Disagreement("a receipt is not what it is written as", receipt.json_text()[:100])
        report = self._verifier.verify(receipt)
        for problem in report.problems:
            if not str(problem).isprintable():
                raise Disagreement("a problem is not one printable line", str(problem))
        paths = [problem.path.partition("[")[0] for problem in report.problems[:4]]
        return f"{report.model} {' '.join(paths) or 'holds'}"


class CsvReceipts(JsonReceipts):
    """The same in CSV."""

    suffix = ".csv"


def receipt_seeds(name: str) -> list[bytes]:
    """Good receipts in the form that the subject `name` reads."""
    made = [_receipt(text, request) for text, request in _SCRIPTS]
    return [(receipt_csv(one) if name == "receipt-csv" else one.json_text()).encode() for one in made]


def _receipt(text: str, request: Request) -> Receipt:
    with Driver(_backend(text), Registry.parse(_REGISTRY)) as driver:
        receipt = receipt_of(driver, request, list(driver.begin(request)))
    now = {"created_at": "2026-01-01T00:00:00+00:00", "timings": ()}  # the same in every run
    return receipt.model_copy(update={"unverified": receipt.unverified.model_copy(update=now)})


def _backend(text: str) -> ScriptedBackend:
    return ScriptedBackend.replay([bytes([byte]) for byte in text.encode()])
