"""The fuzzer of the host: its limits, its oracles, its subjects, and what it found once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalspan.conformance.fuzz import FuzzError
from evalspan.conformance.fuzz.findings import load_finding
from evalspan.conformance.fuzz.host import SUBJECTS, Disagreement
from evalspan.conformance.fuzz.host.child import Child, HostReply
from evalspan.conformance.fuzz.host.coverage import Coverage
from evalspan.conformance.fuzz.host.guests import Guest, module_bytes, read_guest
from evalspan.conformance.fuzz.host.subjects.answers import AnswerSubject
from evalspan.conformance.fuzz.host.subjects.modules import ModuleSubject
from evalspan.conformance.fuzz.host.subjects.servers import EventSubject
from evalspan.conformance.fuzz.host.subjects.streams import StreamSubject
from evalspan.conformance.fuzz.host.vocabulary import host_vocabulary
from evalspan.conformance.fuzz.recorded import recorded_runs, table, with_table
from evalspan.conformance.fuzz.session import Session
from evalspan.conformance.fuzz.targets import TargetSpec, open_target, resolve
from evalspan.conformance.generators import Sample
from evalspan.evaluators.module_files import check_file

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "conformance/evalspan/conformance/corpus/host"
MIB = 1 << 20


@pytest.mark.parametrize("name", SUBJECTS)
def test_30_inputs_of_each_part_have_no_finding(name: str) -> None:
    target = open_target(TargetSpec("host", f"host:{name}", seconds=5))  # what is looked for here is no slowness
    try:
        session = Session(target, seed=11, name=f"host:{name}")
        session.run(30)
    finally:
        target.close()
    assert session.findings == []
    assert session.tally.answers["value"] > 0, "some inputs are good ones"
    assert len(session.pool.entries) > 1


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_finding_of_the_corpus_stays_fixed(name: str) -> None:
    paths = sorted(CORPUS.glob(f"{name}/*.json"))
    if not paths:
        return  # nothing was found there
    target = open_target(TargetSpec("host", f"host:{name}", seconds=3))
    try:
        for path in paths:
            finding = load_finding(path)
            assert finding.target == f"host:{name}"
            assert list(target.complaints(finding.sample)) == [], path.name
    finally:
        target.close()


def test_the_corpus_is_of_parts_that_there_are() -> None:
    assert {path.name for path in CORPUS.iterdir()} <= set(SUBJECTS)


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Child]]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    children: list[Child] = []
    yield children
    for child in children:
        child.close()


@pytest.mark.parametrize(
    ("data", "kind", "what"),
    [
        (b"", "value", "fine"),
        (b"typed", "refused", "EvalspanError"),
        (b"raise", "exception", "ValueError"),
        (b"rude", "message", "Rude is not one printable line"),
        (b"differ", "disagreement", "one is not the other"),
        (b"much", "memory", "314572800"),
        (b"all", "memory", "MemoryError"),
        (b"loop", "hang", "computes"),
        (b"abort", "died", "ended by SIGABRT"),
        (b"exit", "died", "ended with status 3"),
    ],
)
def test_every_fault_is_seen(tmp_path: Path, faulty: list[Child], data: bytes, kind: str, what: str) -> None:
    child = Child("faulty_host:Faulty", tmp_path, seconds=0.5, memory=256 * MIB, cover=False)
    faulty.append(child)
    reply = child.ask(data) or child.ended()
    assert isinstance(reply, HostReply)
    assert (reply.kind, reply.what) == (kind, what)
    assert reply.detail.isprintable() or not reply.detail


def test_a_part_that_is_none_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(FuzzError, match="host:registry, host:regex"):
        resolve("host:nothing", None, TargetSpec("evaluator", ""))
    assert resolve("host:sse", None, TargetSpec("evaluator", "")).kind == "host"


def test_the_subject_that_cannot_be_opened_is_an_error_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(FuzzError, match="No module named 'nowhere'") as raised:
        Child("nowhere:Nothing", tmp_path, seconds=1, memory=MIB, cover=False)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_words_of_every_part_fit_an_input(name: str) -> None:
    vocabulary = host_vocabulary(name)
    assert len(vocabulary.seeds) >= 3
    assert all(0 < len(seed) <= 16_384 for seed in vocabulary.seeds)
    assert len(set(vocabulary.fragments)) > 15
    assert vocabulary.grammar is not None or name.startswith("receipt")


def test_lines_are_new_once() -> None:
    coverage = Coverage()
    for expected in (True, False):
        with coverage:
            EventSubject().run(b"data: a\n\n")
        assert bool(coverage.take_fresh()) == expected


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
def test_guests_answer_what_their_recipes_say() -> None:
    subject = AnswerSubject()
    verdicts = {
        b"answer 8 3\nat 8 003132\ninput 61": "value",
        b"answer 1023 1\nlength\nat 1023 00\ninput 6869\ninput 61": "value value",
        b"answer 8 9\nat 8 0201000000000061": "syntax",
        b"answer 8 9\nat 8 0201030000000061": "internal",
        b"answer 65535 2\nat 65535 00": "internal",
        b"answer 8 40\nat 8 00": "refused",
        b"answer 8 6\nat 8 003c2f633e": "refused",
        b"spin": "fuel_exhausted",
        b"trap": "internal",
        b"trap\nheap 64\nat 64 0000000001000000": "memory_exhausted",
        b"pages 5": "refused memory",
        b"request 65530": "refused memory",
        b"manifest []": "refused manifest",
    }
    assert {recipe: subject.run(recipe) for recipe in verdicts} == verdicts


def test_recipes_change_modules_in_places() -> None:
    tiny = Guest(answer=1 << 32 | 8).code()
    assert check_file("tiny", tiny).memory_pages == 1
    assert module_bytes(b"base tiny") == module_bytes(b"") == tiny
    assert module_bytes(b"put 4 02") == tiny[:4] + b"\x02" + tiny[5:]
    assert module_bytes(b"cut 0 4\ninsert 0 00ff") == b"\x00\xff" + tiny[4:]
    assert module_bytes(b"double 0 4\nend 6") == tiny[:4] + tiny[:2]
    assert module_bytes(b"section 8 00") == tiny + b"\x08\x01\x00"
    assert module_bytes(b"\0asmx") == b"\0asmx"
    other = check_file("other", module_bytes(b'manifest {"abi": 1, "name": "x", "spec": "x/1", "request_bytes": 8}'))
    assert other.manifest.name == "x"
    assert read_guest(b"answer 1 2 3\nnonsense\nat -1 zz").answer == 2 << 32 | 1


@pytest.mark.usefixtures("here")
def test_a_difference_between_inspecting_and_loading_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = ModuleSubject()
    assert subject.run(b"section 8 00") == "refused start"
    lenient = "evalspan.evaluators.inspection.inspection._try"
    monkeypatch.setattr(lenient, lambda file, registry: None)
    with pytest.raises(Disagreement, match="inspecting says otherwise"):
        subject.run(b"put 40 ff")


def test_a_chunking_that_makes_a_difference_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = b"data: a\r\n\r\ndata: b\r\n\r\n"
    assert EventSubject().run(stream) == "2 events"
    monkeypatch.setattr("evalspan.backends.openai_http_sse.bytearray", _Forgetful, raising=False)
    with pytest.raises(Disagreement, match="the chunking makes a difference"):
        EventSubject().run(stream)


class _Forgetful(bytearray):
    """Keeps nothing of a line that is not whole."""

    def __iadd__(self, other: object) -> _Forgetful:  # type: ignore[misc,override]
        return _Forgetful(other)  # type: ignore[arg-type]


def test_a_machine_that_scans_each_piece_anew_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    data = host_vocabulary("stream").seeds[0]
    subject = StreamSubject()
    assert subject.run(data) == "2 spans 0 channels eos"
    from evalspan.orchestrator.tags import TagAutomaton

    scan = TagAutomaton.scan
    monkeypatch.setattr(TagAutomaton, "scan", lambda self, state, data, start: scan(self, 0, data, start))
    with pytest.raises(Disagreement):
        subject.run(data)


def test_make_looks_at_every_part() -> None:
    makefile = (ROOT / "Makefile").read_text()
    listed = re.search(r"^HOST := (.*)$", makefile, re.M)
    assert listed is not None
    assert listed[1].split() == list(SUBJECTS)


def test_the_table_of_long_runs_is_that_of_the_data() -> None:
    page = (ROOT / "docs/security.md").read_text("utf-8")
    assert with_table(page, recorded_runs()) == page


def test_a_table_has_a_row_a_run_and_each_machine_once() -> None:
    run = {
        "target": "host:x",
        "inputs": 5,
        "inputs_before": 1000,
        "seed": 1,
        "jobs": 2,
        "seconds": 3.4,
        "findings": [{}],
    }
    text = table([{**run, "machine": "m"}, {**run, "machine": "n"}, {**run, "machine": "m"}])
    assert text.splitlines()[2] == "| `host:x` | 1,005 | 1,000 | none | 1 | 2 | 3 | 1 | 1 |"
    asked = {0: "none", 1: "each", 10: "one in 10"}
    for every, words in asked.items():
        assert f" | {words} | " in table([{**run, "target": "x", "reference_every": every, "machine": "m"}])
    assert text.splitlines()[-2:] == ["1. m", "2. n"]
    with pytest.raises(FuzzError, match="no lines"):
        with_table("a page", [])


def test_a_sample_is_asked_again_without_following_lines() -> None:
    target = open_target(TargetSpec("host", "host:sse"))
    try:
        first, again = (target.ask(Sample(b"data: x\n\n", {})) for _ in range(2))
        assert first.lines and not again.lines
        assert target.kind_of(first) != target.kind_of(again) == "value 1 events "
        assert list(target.complaints(Sample(b"data: x\n\n", {}))) == []
    finally:
        target.close()
