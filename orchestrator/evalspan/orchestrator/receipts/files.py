"""Receipts as files: JSON on one line, or CSV as an envelope of the same JSON."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from evalspan.orchestrator.files import write_whole
from evalspan.orchestrator.receipts.canonical import MAX_BYTES, ReceiptError
from evalspan.orchestrator.receipts.model import Receipt

__all__ = ["SUFFIXES", "read_receipt", "receipt_csv", "write_receipt"]

SUFFIXES = (".json", ".csv")

_COLUMNS = ("record", "index", "value", "kind", "logit", "probability", "masked_mass", "renormalized", "drawn")
_CELL = 32_000  # characters; a spreadsheet's cell holds 32,767
_MAX_CSV_BYTES = 3 * MAX_BYTES  # quotes in it are doubled, and each token has a row


def write_receipt(receipt: Receipt, path: Path) -> None:
    """Write a receipt, as JSON or as CSV by the name's end: beside the file, and then renamed.

    Raises:
        ReceiptError: the name has another end.
        RequestError: the file cannot be written.
    """
    write_whole(path, receipt_csv(receipt) if _suffix(path) == ".csv" else receipt.json_text() + "\n")


def read_receipt(path: Path) -> Receipt:
    """Read a receipt.

    Raises:
        ReceiptError: the file cannot be read, or is no receipt; the text says where.
    """
    is_csv = _suffix(path) == ".csv"
    data = _read(path, _MAX_CSV_BYTES if is_csv else MAX_BYTES)
    return _from_csv(data) if is_csv else Receipt.parse(data)


def receipt_csv(receipt: Receipt) -> str:
    """The envelope: rows `json` hold the receipt in pieces, and rows `token` its tokens once more, for spreadsheets."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(_rows(receipt))
    return out.getvalue()


def _rows(receipt: Receipt) -> Iterator[list[str]]:
    yield list(_COLUMNS)
    blank = [""] * (len(_COLUMNS) - 3)
    text = receipt.json_text()
    for index, start in enumerate(range(0, len(text), _CELL)):
        yield ["json", str(index), text[start : start + _CELL], *blank]
    ledger = iter(receipt.model.ledger)
    for index, (token, kind) in enumerate(receipt.output.tokens):
        row = next(ledger, None) if kind in ("sampled", "dropped") else None
        figures = [repr(getattr(row, name)) for name in _COLUMNS[4:]] if row is not None else [""] * 5
        yield ["token", str(index), str(token), kind, *figures]


def _from_csv(data: bytes) -> Receipt:
    try:
        rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
    except UnicodeDecodeError as error:
        raise ReceiptError(f"is not UTF-8 at byte {error.start}") from None
    except csv.Error as error:
        raise ReceiptError(f"is no CSV: {error}") from None
    receipt = Receipt.parse("".join(row[2] for row in rows if len(row) > 2 and row[0] == "json"))
    for number, (row, wanted) in enumerate(zip(rows, _rows(receipt), strict=False), 1):
        if row != wanted:
            raise ReceiptError("is not what the receipt in this file says", f"row {number}")
    if len(rows) != (count := sum(1 for _ in _rows(receipt))):
        raise ReceiptError(f"has {len(rows)} rows, and the receipt in it makes {count}")
    return receipt


def _suffix(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise ReceiptError(f"{path}: a receipt is a file named *.json or *.csv")
    return path.suffix


def _read(path: Path, most: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would block, or never end
        with open(descriptor, "rb") as file:  # noqa: PTH123 - what was opened is what is checked
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ReceiptError(f"{path} is no regular file")
            data = file.read(most + 1)
    except OSError as error:
        raise ReceiptError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > most:
        raise ReceiptError(f"{path} is longer than {most} bytes")
    return data
