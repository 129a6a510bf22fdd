"""Prompts from a file, results to a file: batched, in order, and resumable after an interruption.

Results are kept in `OUT.partial`, a line each as they come; when all are there, they are written beside OUT in the
order of the prompts, and renamed. A second run with the same prompts and settings goes on where the first one ended.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from evalspan.orchestrator.driver import Driver
from evalspan.orchestrator.errors import PromptError, RequestError
from evalspan.orchestrator.events import (
    AssertionFailed,
    DecodeFailed,
    Evaluated,
    Event,
    Failed,
    Finished,
    Injected,
    Refused,
    RequestFailed,
)
from evalspan.orchestrator.requests import Request, gathered

__all__ = ["PromptLine", "read_prompts", "run_file", "write_whole"]


@dataclass(frozen=True, slots=True)
class PromptLine:
    """A line of a prompts file: its text, and its `id` where it has one."""

    prompt: str
    id: Any = None


def read_prompts(path: Path) -> list[PromptLine]:
    """The prompts of a JSONL file, lines `{"prompt": …}` with an optional `"id"`.

    Raises:
        RequestError: the file cannot be read, or a line is no prompt; the text names it.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {error.strerror}") from None
    prompts = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not isinstance(record.get("prompt"), str):
            raise RequestError(f'{path}: line {number} must be a JSON object with a string "prompt"')
        if unknown := sorted(record.keys() - {"prompt", "id"}):
            raise RequestError(f"{path}: line {number} has the unknown key {unknown[0]!r}; known: prompt, id")
        prompts.append(PromptLine(record["prompt"], record.get("id")))
    return prompts


def run_file(
    driver: Driver,
    prompts: Sequence[PromptLine],
    request: Callable[[PromptLine], Request],
    out: Path,
    settings: dict[str, Any],
    done: Callable[[int], None] = lambda count: None,
    receipts: Path | None = None,
) -> int:
    """Generate for every prompt and write one result a line to `out`; answers how many were there already.

    `settings` is what the results depend on beside the prompts; `done` is told how many are finished.
    In the folder `receipts` each generation that comes to an end has its receipt, by the number of its prompt from 0.

    A prompt that cannot be run has an error for a result, and the others go on.

    Raises:
        RequestError: `out` exists, or what is left of an earlier run was made with other prompts or settings.
        RequestError, GrammarError: the settings cannot be honoured; nothing is written.
    """
    if out.exists():
        raise RequestError(f"{out} exists already: remove it, or name another file")
    partial = out.with_name(out.name + ".partial")
    digest = _digest(prompts, settings)
    finished = _earlier(partial, digest)
    known = len(finished)
    done(known)
    if receipts is not None:
        _make_folder(receipts, fresh=not known)
    waiting = [index for index in range(len(prompts)) if index not in finished]
    first = [request(prompts[index]) for index in waiting[:1]]
    for each in first:
        with suppress(PromptError):  # that is one line's; what is wrong with the settings is wrong with every line
            driver.check(each)
    requests = chain(first, (request(prompts[index]) for index in waiting[1:]))
    try:
        with partial.open("a", encoding="utf-8") as file:
            if not known:
                file.truncate(0)
                _append(file, {"settings": digest})
            for position, result in _results(driver, requests, lambda position: _receipt(receipts, waiting[position])):
                index = waiting[position]
                finished[index] = {"index": index, "id": prompts[index].id, **result}
                _append(file, finished[index])
                done(len(finished))
        _publish(out, [finished[index] for index in range(len(prompts))])
    except OSError as error:
        raise RequestError(f"{out}: cannot be written: {error.strerror}") from None
    partial.unlink()
    return known


def _make_folder(folder: Path, *, fresh: bool) -> None:
    try:
        folder.mkdir(exist_ok=True)
        if fresh and any(folder.iterdir()):
            raise RequestError(f"{folder}: is not empty: receipts of another run may be in it; name another folder")
    except OSError as error:
        raise RequestError(f"{folder}: cannot be used for receipts: {error.strerror}") from None


def _receipt(folder: Path | None, index: int) -> Path | None:
    return folder / f"{index:06}.json" if folder is not None else None


def _keep_receipt(driver: Driver, request: Request, events: list[Event], path: Path | None) -> None:
    from evalspan.orchestrator.receipts import write_receipt

    generation = driver.with_receipt(request, gathered(events))
    if path is not None and generation.receipt is not None:
        write_receipt(generation.receipt, path)


def _results(
    driver: Driver, requests: Iterable[Request], receipt: Callable[[int], Path | None]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each result as it is finished; one that cannot be run, or cannot go on, has an `error` with its `code`.

    A request for a receipt has it written before its result is told.
    """
    recorded: dict[int, tuple[Request, list[Event]]] = {}

    def remembered() -> Iterator[Request]:
        for position, request in enumerate(requests):
            if request.receipt:
                recorded[position] = (request, [])
            yield request

    seen: dict[int, dict[str, list[dict[str, Any]]]] = {}
    failed: dict[int, dict[str, Any]] = {}
    with closing(driver.stream_many(remembered(), refused="report")) as events:
        for position, event in events:
            if position in recorded:
                recorded[position][1].append(event)
                if isinstance(event, Finished):
                    _keep_receipt(driver, *recorded.pop(position), receipt(position))
            facts = seen.setdefault(position, {"injections": []})
            if isinstance(event, RequestFailed | DecodeFailed):
                failed[position] = {"error": event.message, "code": event.code}
            elif isinstance(event, Evaluated | Failed | Injected):
                facts["injections"].append(_fact(event))
            elif isinstance(event, AssertionFailed | Refused):
                facts.setdefault("findings", []).append(_fact(event))
            elif isinstance(event, Finished):
                error = failed.pop(position, {})
                told = seen.pop(position)
                yield position, error if event.reason == "refused" else {**asdict(event), **told, **error}


def _fact(event: Event) -> dict[str, Any]:
    return {"event": event.event, **asdict(event)}


def _digest(prompts: Sequence[PromptLine], settings: dict[str, Any]) -> str:
    record = json.dumps([[asdict(line) for line in prompts], settings], sort_keys=True, default=str)
    return hashlib.sha256(record.encode()).hexdigest()


def _earlier(partial: Path, digest: str) -> dict[int, dict[str, Any]]:
    """The results of an interrupted run, by index; a last line that was cut off is run again."""
    try:
        lines = partial.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise RequestError(f"{partial}: cannot be read: {error.strerror}") from None
    whole = [line for line in lines if line.endswith(b"\n")]
    if not whole:
        return {}
    try:
        records = [json.loads(line) for line in whole]
        same = records[0]["settings"] == digest
        results = {int(record["index"]): record for record in records[1:]}
    except (ValueError, KeyError, TypeError):
        raise RequestError(f"{partial}: is no file of an earlier run: remove it, or name another output") from None
    if not same:
        raise RequestError(f"{partial}: is of a run with other prompts or settings: remove it, or repeat those")
    if len(whole) < len(lines):
        partial.write_bytes(b"".join(whole))
    return results


def _append(file: Any, record: dict[str, Any]) -> None:
    file.write(json.dumps(record, ensure_ascii=False) + "\n")
    file.flush()


def _publish(out: Path, results: list[dict[str, Any]]) -> None:
    beside = out.with_name(out.name + ".new")
    with beside.open("w", encoding="utf-8") as file:
        for result in results:
            _append(file, result)
        os.fsync(file.fileno())
    beside.replace(out)


def write_whole(path: Path, text: str) -> None:
    """Write a file beside and rename it: a reader sees the old one or the new one, never a part.

    Raises:
        RequestError: it cannot be written.
    """
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RequestError(f"{path}: cannot be written: {error.strerror}") from None
