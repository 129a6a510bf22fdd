"""Receipts: how a generation came about, in a form that is rebuilt from its inputs and compared."""

from evalspan.orchestrator.receipts.canonical import ReceiptError
from evalspan.orchestrator.receipts.difference import Problem
from evalspan.orchestrator.receipts.files import read_receipt, write_receipt
from evalspan.orchestrator.receipts.ledger import TOLERANCE
from evalspan.orchestrator.receipts.model import Receipt
from evalspan.orchestrator.receipts.record import receipt_of
from evalspan.orchestrator.receipts.verify import Report, Verifier, verify

__all__ = [
    "TOLERANCE",
    "Problem",
    "Receipt",
    "ReceiptError",
    "Report",
    "Verifier",
    "read_receipt",
    "receipt_of",
    "verify",
    "write_receipt",
]
