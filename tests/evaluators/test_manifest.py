"""The manifest and the outline of a module: what is read before an engine sees the bytes."""

from __future__ import annotations

import json

import pytest
from evaluators.guests import ECHO, MANIFEST, assemble, custom, guest
from hypothesis import given
from hypothesis import strategies as st

from evalspan.evaluators.binary import CUSTOM, FormatError, body_sizes, minimums, sections
from evalspan.evaluators.manifest import ManifestError, read_manifest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
HEADER = b"\0asm\x01\0\0\0"


def test_manifest_is_read_with_its_options_in_order() -> None:
    options = [
        {"name": "max_input_bytes", "default": 9, "minimum": 2, "maximum": 40},
        {"name": "precision", "default": 15},
    ]
    manifest = read_manifest(guest(options=options, unicode="17.0.0", sample="1+1"))
    assert [option.name for option in manifest.options] == ["max_input_bytes", "precision"]
    assert (manifest.options[1].minimum, manifest.options[1].maximum) == (0, 2**32 - 1)
    assert (manifest.unicode, manifest.sample) == ("17.0.0", "1+1")


@pytest.mark.parametrize(("most", "fits"), [(40, 40), (60, 56)])
def test_longest_input_is_what_the_buffer_and_the_option_allow(most: int, fits: int) -> None:
    options = [{"name": "max_input_bytes", "default": 9, "maximum": most}, {"name": "max_depth", "default": 1}]
    assert read_manifest(guest(options=options)).max_input_bytes == fits


@given(value=JSON)
def test_any_json_is_a_manifest_or_an_error_of_one_line(value: object) -> None:
    try:
        read_manifest(HEADER + custom("evalspan", json.dumps(value).encode()))
    except ManifestError as error:
        assert str(error).isprintable()


@given(key=st.sampled_from(sorted(MANIFEST)), value=JSON)
def test_a_key_of_another_type_is_refused_and_named(key: str, value: object) -> None:
    if type(value) is type(MANIFEST[key]):
        return
    with pytest.raises(ManifestError, match=key):
        read_manifest(guest(ECHO, **{key: value}))


@given(data=st.binary(max_size=200))
def test_any_bytes_have_an_outline_or_a_format_error(data: bytes) -> None:
    for code in (data, HEADER + data):
        try:
            found = list(sections(code))
            for section in found:
                assert 8 <= section.start <= section.end <= len(code)
                minimums(code, section)
                list(body_sizes(code, section))
        except FormatError as error:
            assert str(error).isprintable()


def test_sections_cover_the_file() -> None:
    code = guest()
    found = list(sections(code))
    assert [section.number for section in found if section.number != CUSTOM] == [1, 3, 5, 6, 7, 10]
    assert found[-1].name == "evalspan" and found[-1].end == len(code)


@pytest.mark.parametrize(
    ("wat", "number", "begins"),
    [
        ("(module (memory 3))", 5, [3]),
        ("(module (memory 300 65536))", 5, [300]),
        ("(module (table 1 funcref) (table 200 400 funcref) (table 0 externref))", 4, [1, 200, 0]),
    ],
)
def test_minimums_are_those_of_the_module(wat: str, number: int, begins: list[int]) -> None:
    code = assemble(wat)
    (section,) = (section for section in sections(code) if section.number == number)
    assert minimums(code, section) == begins
