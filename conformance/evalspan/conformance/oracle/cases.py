"""The bounded languages: for each a registry and a grammar for the masker, and all documents by hand for the oracle.

The documents come from what the grammar means, never from the masker. The values of spans are in small tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalspan.conformance.oracle.documents import Documents, Language, Tree, either, forced, sequence, written
from evalspan.conformance.oracle.free_text import FreeTextLanguage
from evalspan.orchestrator import (
    FreeText,
    Gbnf,
    Grammar,
    JsonSchema,
    LarkText,
    Mode,
    Pattern,
    Regex,
    Restate,
    Sentence,
    SpanPart,
    StructuralTag,
)

__all__ = ["CASES", "OracleCase"]


@dataclass(frozen=True)
class OracleCase:
    """A language: what the masker is given, and what the oracle knows. `pieces` join the awkward vocabulary."""

    id: str
    statement: str
    """What is claimed, in a line."""
    grammar: Grammar
    language: Callable[[], Language]
    registry: str
    mode: Mode = "grammar-eval"
    pieces: tuple[bytes, ...] = ()


def _registry(content: str, more: str = "", result: str = "") -> str:
    """A registry with one span of short tags, so that every place in them is reached in a few tokens."""
    pattern = f", pattern = '{result}'" if result else ""
    return f"""
version = 1
[[evaluator]]
name = "arithmetic"
builtin = "arithmetic/1"
[[span]]
name = "calc"
open = "<c>"
close = "</c>"
content = '{content}'
evaluator = "arithmetic"
result = {{ open = "<r>", close = "</r>"{pattern} }}
error = {{ open = "<e>", close = "</e>" }}
{more}"""


_TAGS = ("<c>", "</c>", "<r>", "</r>", "<e>", "</e>")
_SUMS = {"1+1": "2", "1+2": "3", "2+1": "3", "2+2": "4"}
_SUM = r"[12]\+[12]"
_QUOTIENTS = {"1/1": "1", "2/1": "2"}
_BY_ZERO = ("1/0", "2/0")
_NO_QUOTIENT = "<e>division_by_zero: the divisor is 0: /</e>"
_QUOTIENT = "[12]/[01]"


def _span(values: dict[str, str]) -> Documents:
    """A span with its result."""
    return either(*(sequence(written(f"<c>{text}</c>"), forced(f"<r>{value}</r>")) for text, value in values.items()))


def _failing() -> Documents:
    return sequence(written(*(f"<c>{text}</c>" for text in _BY_ZERO)), forced(_NO_QUOTIENT))


def _tried(attempts: int) -> Documents:
    """A span that may be written again after an error, so often."""
    if attempts == 1:
        return either(_span(_QUOTIENTS), _failing())
    return either(_span(_QUOTIENTS), sequence(_failing(), _tried(attempts - 1)))


def _json_string(alphabet: str, most: int) -> list[str]:
    """JSON's spelling of all strings over an alphabet up to a length; a quote and a backslash are escaped."""
    spelling = {'"': '\\"', "\\": "\\\\"}
    words = [""]
    for _ in range(most):
        words += [word + spelling.get(char, char) for word in words for char in alphabet]
    return [f'"{word}"' for word in dict.fromkeys(words)]


def _object(**properties: Any) -> JsonSchema:
    return JsonSchema(
        {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    )


_INTEGER = {"type": "integer", "minimum": 0, "maximum": 12}
_BIND = {"evaluator": "arithmetic", "input": "/e"}


def _json_key() -> Tree:
    return Tree(
        written(*(f"{{{key}: {number}}}" for key in _json_string("ab", 2) if key != '""' for number in range(13)))
    )


def _json_text() -> Tree:
    strings = _json_string('aé"\\', 2)
    return Tree(written(*(f'{{"k": {text}, "n": {number}}}' for text in strings for number in range(13))))


def _bound() -> Tree:
    start = [sequence(written(f'{{"e": "{text}", "v":'), forced(f" {value}")) for text, value in _SUMS.items()]
    return Tree(sequence(either(*start), written("}")))


def _bound_or_null() -> Tree:
    values = {**_QUOTIENTS, **dict.fromkeys(_BY_ZERO, "null")}
    start = [sequence(written(f'{{"e": "{text}", "v":'), forced(f" {value}")) for text, value in values.items()]
    return Tree(sequence(either(*start), written("}")))


def _total() -> Tree:
    sums = {"0": "0", "1": "1", "0, 0": "0", "0, 1": "1", "1, 0": "1", "1, 1": "2"}
    start = [sequence(written(f'{{"lines": [{text}], "total":'), forced(f" {value}")) for text, value in sums.items()]
    return Tree(sequence(either(*start), written("}")))


def _nested() -> Tree:
    words = written("x", "y", "xx", "xy", "yx", "yy")
    first = sequence(written("<a><b>"), words, written("</b></a>"))
    second = sequence(written("<b>"), _span(_SUMS), written("</b>"))
    tag = either(first, second)
    return Tree(sequence(written("["), either(tag, sequence(tag, written(","), tag)), written("]")))


def _alternated() -> Tree:
    one = either(_span(_SUMS), written("(a)", "(b)"))
    return Tree(sequence(written("["), either(one, sequence(one, written(" "), one)), written("]")))


def _written_result() -> Tree:
    answers = [f"<c>{text}</c><r>{number}</r>" for text in _SUMS for number in range(10)]
    return Tree(sequence(written("It is "), written(*answers), written(".")))


def _restated() -> Tree:
    said = [sequence(_span({text: value}), written(" so "), forced(value)) for text, value in _SUMS.items()]
    return Tree(sequence(either(*said), written("!")))


def _side_by_side() -> Tree:
    # Two terminals that would spell <r>, </c> or <c> side by side: no document has such a tag.
    pairs = [first + second for first in ("x", "<", "</") for second in ("r", "c", "rx", "cx", "r>", "c>")]
    return Tree(written(*(f"{pair}." for pair in pairs if not any(tag in pair for tag in _TAGS))))


def _free_text() -> FreeTextLanguage:
    return FreeTextLanguage(("<c>", "</c>"), {text: f"<r>{value}</r>" for text, value in _SUMS.items()}, _TAGS[2:])


def _channel() -> FreeTextLanguage:
    text = _free_text()
    return FreeTextLanguage(text.span, text.values, text.engine, ("<t>", "</t>"))


def _tag(begin: str, content: dict[str, Any], kind: str = "tag", **more: str) -> dict[str, Any]:
    return {"type": kind, "begin": f"<{begin}>", "end": f"</{begin}>", "content": content, **more}


def _regex(pattern: str) -> dict[str, Any]:
    return {"type": "regex", "pattern": pattern}


def _constant(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


_EITHER_TAG: dict[str, Any] = {
    "type": "or",
    "elements": [
        _tag("a", _tag("b", _regex("[xy]{1,2}"))),
        _tag("b", _tag("c", _regex(_SUM), "evaluated_tag", evaluator="arithmetic")),
    ],
}

_NESTED = {
    "type": "sequence",
    "elements": [
        _constant("["),
        _EITHER_TAG,
        {"type": "optional", "content": {"type": "sequence", "elements": [_constant(","), _EITHER_TAG]}},
        _constant("]"),
    ],
}

_CHANNEL = '[[channel]]\nname = "think"\nopen = "<t>"\nclose = "</t>"\nspans = false\n'

CASES: tuple[OracleCase, ...] = (
    OracleCase(
        "json-key",
        "an object with one key over a small alphabet and an integer from 0 to 12",
        JsonSchema(
            {
                "type": "object",
                "patternProperties": {"^[ab]{1,2}$": _INTEGER},
                "additionalProperties": False,
                "minProperties": 1,
                "maxProperties": 1,
            }
        ),
        _json_key,
        _registry(_SUM),
        pieces=(b'{"ab": ', b'ab"', b'{"c', b"ab", b'a": 12}'),
    ),
    OracleCase(
        "json-text",
        "a string with escapes and a character of two bytes, and an integer from 0 to 12",
        _object(k={"type": "string", "pattern": '^[aé"\\\\]{0,2}$'}, n=_INTEGER),
        _json_text,
        _registry(_SUM),
        pieces=('{"k": "é'.encode(), 'é"'.encode(), b'\\\\"', b'a", "n": 1', b'", "n'),
    ),
    OracleCase(
        "bound",
        "a JSON field whose value the engine forces",
        _object(e={"type": "string", "pattern": f"^{_SUM}$"}, v={"type": "integer", "x-evalspan": _BIND}),
        _bound,
        _registry(_SUM),
        pieces=(b'{"e": "1', b'+1"', b'", "v":', b'", "v": ', b'", "v": 2}', b'"v":'),
    ),
    OracleCase(
        "bound-null",
        "a bound JSON field that is null where its evaluation fails",
        _object(
            e={"type": "string", "pattern": f"^{_QUOTIENT}$"}, v={"type": ["integer", "null"], "x-evalspan": _BIND}
        ),
        _bound_or_null,
        _registry(_QUOTIENT),
        pieces=(b'/0", "v":', b'": null', b'1", "v": 1}'),
    ),
    OracleCase(
        "bound-total",
        "a bound total over the items of an array",
        _object(
            lines={"type": "array", "items": {"type": "integer", "enum": [0, 1]}, "minItems": 1, "maxItems": 2},
            total={"type": "integer", "x-evalspan": {"evaluator": "arithmetic", "template": "sum({/lines/*})"}},
        ),
        _total,
        _registry(_SUM),
        pieces=(b"[1, 1]", b'], "total":', b'], "total": 1', b", ", b"1, 0, "),
    ),
    OracleCase(
        "span",
        "an evaluated span between literals, which may be written again after an error",
        Sentence(("It is ", SpanPart("calc"), ".")),
        lambda: Tree(sequence(written("It is "), _tried(3), written("."))),
        _registry(_QUOTIENT),
        pieces=(b"It ", b"is <c>1", b"/1</c>", b"/0</c>", b"/1</c><r>1</r>", b"<c>1/0</c>", b" <c"),
    ),
    OracleCase(
        "span-written",
        "the same span where the model writes the result, by its pattern",
        Sentence(("It is ", SpanPart("calc"), ".")),
        _written_result,
        _registry(_SUM, result="[0-9]"),
        mode="grammar-no-eval",
        pieces=(b"It is <c>", b"+1</c>", b"</c><r>7", b"7</r>", b"</r>.", b"+1</c><r>2</r>."),
    ),
    OracleCase(
        "restated",
        "a result that the engine says again",
        Sentence((SpanPart("calc"), " so ", Restate("calc", "[0-9]+"), "!")),
        _restated,
        _registry(_SUM),
        pieces=(b" so", b" so ", b" so 2", b"so 3!", b"<c>1+1", b"+1</c> so "),
    ),
    OracleCase(
        "nested",
        "tags in tags, one or two of them, with an evaluated span inside some",
        StructuralTag.from_json({"type": "structural_tag", "format": _NESTED}),
        _nested,
        _registry(_SUM),
        pieces=(
            b"[<a>",
            b"<a><b>",
            b"</b></a>",
            b"<b><c>1+",
            b"</c></b>",
            b"</b>,",
            b"</b>]",
            b",<b",
            b"x</b><",
            b"</",
        ),
    ),
    OracleCase(
        "alternated",
        "spans and words in turn, in Lark",
        LarkText('start: "[" one (" " one)? "]"\none: @calc | "(" WORD ")"\nWORD: /[ab]/\n'),
        _alternated,
        _registry(_SUM),
        pieces=(b"[(", b"[<c>", b"(a)", b"(b) <c>2", b") (", b"a)]", b" <c>1+1</c>", b"] "),
    ),
    OracleCase(
        "guard",
        "two terminals that cannot spell a tag side by side",
        LarkText('start: FIRST SECOND "."\nFIRST: /x|<\\/?/\nSECOND: /[rc][x>]?/\n'),
        _side_by_side,
        _registry(_SUM),
        pieces=(b"<rx", b"</rx.", b"r>.", b"<r.", b"xc>", b"/c"),
    ),
    OracleCase(
        "characters",
        "characters of one to four bytes, in tokens that cut them",
        Regex("(a|é|€|𝄞){1,2}"),
        lambda: Tree(sequence(written("a", "é", "€", "𝄞"), written("", "a", "é", "€", "𝄞"))),
        _registry(_SUM),
        pieces=("é€".encode(), b"\x9d\x84", b"\xa9\xe2", b"\xaca", b"\x9e\xf0\x9d", "é".encode()[1:] + "é".encode()),
    ),
    OracleCase(
        "gbnf",
        "a GBNF grammar with a bounded repetition",
        Gbnf('root ::= "a"{0,2} last\nlast ::= "b" | "[" "b" "]"\n'),
        lambda: Tree(sequence(written("", "a", "aa"), written("b", "[b]"))),
        _registry(_SUM),
        pieces=(b"aa", b"aaa", b"ab", b"a[", b"[b]", b"b]"),
    ),
    OracleCase(
        "sentence",
        "a sentence with a part that the model fills in",
        Sentence(("a", Pattern("(b|bc)d?"), ".")),
        lambda: Tree(written("ab.", "abc.", "abd.", "abcd.")),
        _registry(_SUM),
        pieces=(b"ab", b"bc", b"cd.", b"abcd.", b"d."),
    ),
    OracleCase(
        "free-text",
        "free text with spans, as a generation has it that asks for nothing else",
        FreeText(),
        _free_text,
        _registry(_SUM),
        pieces=(b"<c>1+", b"+1</c>", b"1</c>", b" <", b"<<", b"<c><c>", b"<c>1+1</c>", b"</c>.", b"<c>3"),
    ),
    OracleCase(
        "channel",
        "free text with spans, and with a channel in which nothing is evaluated",
        FreeText(),
        _channel,
        _registry(_SUM, _CHANNEL),
        pieces=(b"<t>", b"</t>", b"<t", b"t>", b"</t", b"<t><c>", b"<t></t>", b"</t><c>1+1", b"+1</c><t>", b"</c>"),
    ),
)
"""All cases, by the order in which they are run."""
