"""Prompts from a file, results to a file: batched, in order, and resumable after an interruption.

Results are kept in `OUT.partial`, a line each as they come; when all are there, they are written beside OUT in the
order of the prompts, and renamed. A second run with the same prompts and settings goes on where the first one ended.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evalspan.orchestrator.driver import Driver, Request
from evalspan.orchestrator.errors import PromptError, RequestError
from evalspan.orchestrator.events import Evaluated, Event, Failed, Finished, Injected

__all__ = ["PromptLine", "read_prompts", "run_file"]


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
) -> int:
    """Generate for every prompt and write one result a line to `out`; answers how many were there already.

    `settings` is what the results depend on beside the prompts; `done` is told how many are finished.

    Raises:
        RequestError: `out` exists, or what is left of an earlier run was made with other prompts or settings.
    """
    if out.exists():
        raise RequestError(f"{out} exists already: remove it, or name another file")
    partial = out.with_name(out.name + ".partial")
    digest = _digest(prompts, settings)
    finished = _earlier(partial, digest)
    known = len(finished)
    done(known)
    try:
        with partial.open("a", encoding="utf-8") as file:
            if not known:
                file.truncate(0)
                _append(file, {"settings": digest})
            waiting = [index for index in range(len(prompts)) if index not in finished]
            for position, result in _results(driver, [request(prompts[index]) for index in waiting]):
                index = waiting[position]
                finished[index] = {"index": index, "id": prompts[index].id, **result}
                _append(file, finished[index])
                done(len(finished))
        _publish(out, [finished[index] for index in range(len(prompts))])
    except OSError as error:
        raise RequestError(f"{out}: cannot be written: {error.strerror}") from None
    partial.unlink()
    return known


def _results(driver: Driver, requests: list[Request]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each result as it is finished; a prompt that cannot be run has an `error` for a result."""
    runnable, refused = [], []
    for index, request in enumerate(requests):
        try:
            driver.check(request)
        except PromptError as error:
            refused.append((index, {"error": str(error)}))
        else:
            runnable.append(index)
    yield from refused
    answers: dict[int, list[dict[str, Any]]] = {}
    for position, event in driver.stream_many(requests[index] for index in runnable):
        if isinstance(event, Finished):
            facts = asdict(event)
            yield runnable[position], {**facts, "injections": answers.pop(position, [])}
        elif isinstance(event, Evaluated | Failed | Injected):
            answers.setdefault(position, []).append(_fact(event))


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
