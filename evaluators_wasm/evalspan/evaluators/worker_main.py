"""The worker process: `python -m evalspan.evaluators.worker_main SPEC...` answers requests from a pipe.

It imports the references of the specifications first, confines itself, reports how, and then only computes.
"""

from __future__ import annotations

import os
import struct
import sys
from typing import Any

from evalspan.evaluators.confinement import confine, die_with_parent
from evalspan.evaluators.in_process import load_reference
from evalspan.evaluators.outcome import Failure
from evalspan.evaluators.wire import REQUEST_HEAD, encode_reply, read_exactly
from evalspan.policies import ErrorCode

__all__ = ["main"]

_IN, _OUT = 0, 1


def main(specs: list[str]) -> None:
    """Serve until the pipe closes."""
    die_with_parent()
    references = [_load(spec) for spec in specs]
    how = confine().encode()
    os.write(_OUT, struct.pack("<I", len(how)) + how)
    while True:
        try:
            index, count, length = REQUEST_HEAD.unpack(read_exactly(_IN, REQUEST_HEAD.size))
            options = struct.unpack(f"<{count}I", read_exactly(_IN, 4 * count))
            data = read_exactly(_IN, length)
        except EOFError:
            return
        try:
            reference = references[index]
            outcome = reference.evaluate(data, dict(zip(reference.OPTIONS, options, strict=True)))
        except MemoryError:
            outcome = Failure(ErrorCode.MEMORY_EXHAUSTED, "the evaluation took more memory than its process has")
        except Exception as error:  # noqa: BLE001 - a fault in a reference is an answer, as a trap is
            outcome = Failure(ErrorCode.INTERNAL, f"the evaluator raised {type(error).__name__}")
        reply = encode_reply(outcome)
        while reply:
            reply = reply[os.write(_OUT, reply) :]


def _load(spec: str) -> Any:
    """A reference, or None where a library of its own is missing: the host never asks for that one."""
    try:
        reference = load_reference(spec)
    except ImportError:
        return None
    reference.evaluate(b"1", {})  # whatever is imported late is imported now
    return reference


if __name__ == "__main__":
    main(sys.argv[1:])
