"""What a binary says of itself, read without an engine and as far as it can be read."""

from __future__ import annotations

from dataclasses import dataclass, field

from evalspan.evaluators.binary import CODE, CUSTOM, MEMORY_SECTION, START, TABLE, FormatError, Section, sections
from evalspan.evaluators.inspection.features import FeatureUse, Uses
from evalspan.evaluators.inspection.instructions import pass_expression
from evalspan.evaluators.inspection.reader import Reader
from evalspan.evaluators.inspection.types import Limits, TypeReader

__all__ = ["Extern", "Outline", "read_outline"]

_TYPES, _IMPORTS, _FUNCTIONS, _GLOBALS, _EXPORTS, _ELEMENTS, _TAGS = 1, 2, 3, 6, 7, 9, 13
"""Section numbers of the core specification, but for those in `binary`."""

_MAX_SECTION_BYTES = 512 * 1024
"""The most code that is loaded. A larger section takes seconds to read here, and no evaluator has one."""

_MAX_KEPT = 1000
"""Imports and exports that are kept; an evaluator needs four of the latter."""

_KINDS = ("func", "table", "memory", "global", "tag")


@dataclass(frozen=True, slots=True)
class Extern:
    """An import or an export. Its names may be anything."""

    name: str
    kind: str
    """`func`, `table`, `memory`, `global` or `tag`."""
    type: str
    """As text, '' where it is not known."""
    module: str = ""
    """Of an import: the module that is to have it."""


@dataclass(slots=True)
class Outline:
    """What was read."""

    customs: list[tuple[str, int]] = field(default_factory=list)
    """Names and bytes of the custom sections."""
    imports: list[Extern] = field(default_factory=list)
    exports: list[Extern] = field(default_factory=list)
    import_count: int = 0
    export_count: int = 0
    """How many there are; no more than 1000 are listed."""
    memories: list[Limits] = field(default_factory=list)
    """Of the memories, imported ones first."""
    functions: int = 0
    """How many functions have a body."""
    code_bytes: int = 0
    has_start: bool = False
    features: tuple[FeatureUse, ...] = ()
    """What it uses that is off."""
    problem: str | None = None
    """Why the file cannot be taken apart into sections; what stands before is read."""
    unread: list[str] = field(default_factory=list)
    """Sections and functions that were not read to their end, and why."""

    @property
    def anything(self) -> bool:
        """Whether any section was read."""
        return bool(
            self.customs or self.import_count or self.export_count or self.memories or self.functions or self.unread
        )


def read_outline(code: bytes) -> Outline:
    """The outline of any bytes; never fails."""
    uses = Uses()
    reading = _Reading(code, uses)
    outline = reading.outline
    try:
        for section in sections(code):
            reading.section(section)
    except FormatError as error:
        outline.problem = str(error)
    outline.features = uses.list()
    return outline


class _Reading:
    """The index spaces that are filled while a module is read."""

    def __init__(self, code: bytes, uses: Uses) -> None:
        self.outline = Outline()
        self._code = code
        self._uses = uses
        self._types: list[str] = []
        self._spaces: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    def section(self, section: Section) -> None:
        """Read one section."""
        outline = self.outline
        if section.number == CUSTOM:
            outline.customs.append((section.name, section.end - section.start))
            return
        if section.number == START:
            outline.has_start = True
            return
        if section.number == CODE:
            outline.code_bytes += section.end - section.start
        read = {
            _TYPES: self._read_type,
            _IMPORTS: self._read_import,
            _FUNCTIONS: self._read_function,
            TABLE: self._read_table,
            MEMORY_SECTION: self._read_memory,
            _GLOBALS: self._read_global,
            _EXPORTS: self._read_export,
            _ELEMENTS: self._read_element,
            CODE: self._read_body,
            _TAGS: self._read_tag,
        }.get(section.number)
        if read is None:
            return
        reader = Reader(self._code, section.start, section.end)
        if section.end - section.start > _MAX_SECTION_BYTES:
            self._leave(f"section {section.number} has {section.end - section.start:,} bytes")
            return
        try:
            for _ in range(reader.number()):
                read(reader)
        except FormatError as error:
            self._leave(f"section {section.number}: {error}")

    def _read_type(self, reader: Reader) -> None:
        TypeReader(reader, self._uses).defined(self._types)

    def _read_function(self, reader: Reader) -> None:
        self._add("func", self._type(reader.number()))

    def _read_table(self, reader: Reader) -> None:
        at = reader.at
        with_value = reader.peek() == 0x40
        if with_value:
            self._uses.add("function_references", at)
            reader.skip(2)
        element, limits = TypeReader(reader, self._uses).table()
        self._add("table", f"{element}, {limits}")
        if with_value:
            pass_expression(reader, self._uses)

    def _read_memory(self, reader: Reader) -> None:
        at = reader.at
        self._add_memory(TypeReader(reader, self._uses).limits(memory=True), at)

    def _read_global(self, reader: Reader) -> None:
        self._add("global", TypeReader(reader, self._uses).variable())
        pass_expression(reader, self._uses)

    def _read_tag(self, reader: Reader) -> None:
        self._uses.add("exceptions", reader.at)
        reader.byte()
        self._add("tag", self._type(reader.number()))

    def _read_import(self, reader: Reader) -> None:
        module, name = reader.name(), reader.name()
        kind = self._kind(reader)
        types = TypeReader(reader, self._uses)
        at = reader.at
        if kind == "func":
            text = self._type(reader.number())
        elif kind == "table":
            text = "{}, {}".format(*types.table())
        elif kind == "memory":
            self._add_memory(types.limits(memory=True), at)
            text = _memory_text(self.outline.memories[-1])
        elif kind == "global":
            text = types.variable()
        else:
            self._uses.add("exceptions", at)
            reader.byte()
            text = self._type(reader.number())
        if kind != "memory":
            self._add(kind, text)
        self.outline.import_count += 1
        if len(self.outline.imports) < _MAX_KEPT:
            self.outline.imports.append(Extern(name, kind, text, module))

    def _read_export(self, reader: Reader) -> None:
        name = reader.name()
        kind = self._kind(reader)
        index = reader.number()
        space = self._spaces[kind]
        self.outline.export_count += 1
        if len(self.outline.exports) < _MAX_KEPT:
            self.outline.exports.append(Extern(name, kind, space[index] if index < len(space) else ""))

    def _read_element(self, reader: Reader) -> None:
        flags = reader.number()
        if not flags & 1:
            if flags & 2:
                reader.number()
            pass_expression(reader, self._uses)
        if flags & 3 and flags & 4:
            TypeReader(reader, self._uses).value()
        elif flags & 3:
            reader.byte()
        for _ in range(reader.number()):
            if flags & 4:
                pass_expression(reader, self._uses)
            else:
                reader.number()

    def _read_body(self, reader: Reader) -> None:
        self.outline.functions += 1
        size = reader.number()
        start = reader.at
        reader.skip(size)
        body = Reader(self._code, start, reader.at)
        try:
            types = TypeReader(body, self._uses)
            for _ in range(body.number()):
                body.number()
                types.value()
            pass_expression(body, self._uses)
            if not body.done:
                raise FormatError(f"the function at {start} ends before its bytes do")
        except FormatError as error:
            self._leave(str(error))

    def _leave(self, why: str) -> None:
        if len(self.outline.unread) < _MAX_KEPT:
            self.outline.unread.append(why)

    def _kind(self, reader: Reader) -> str:
        at = reader.at
        number = reader.byte()
        if number >= len(_KINDS):
            raise FormatError(f"the import or export at {at} is of no known kind")
        return _KINDS[number]

    def _type(self, index: int) -> str:
        return self._types[index] if index < len(self._types) else ""

    def _add(self, kind: str, text: str) -> None:
        self._spaces[kind].append(text)

    def _add_memory(self, limits: Limits, at: int) -> None:
        if self.outline.memories:
            self._uses.add("multi_memory", at)
        self.outline.memories.append(limits)
        self._add("memory", _memory_text(limits))


def _memory_text(limits: Limits) -> str:
    marks = [name for name, there in (("shared", limits.shared), ("64-bit", limits.wide)) if there]
    pages = "page" if limits.minimum == limits.maximum == 1 else "pages"
    if limits.page_bytes != 65_536:
        pages += f" of {limits.page_bytes:,} bytes"
    return ", ".join([f"{limits} {pages}", *marks])
