"""The manifest: what a module says about itself in its custom section `evalspan`."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evalspan.evaluators.binary import CUSTOM, sections

__all__ = ["MANIFEST_SECTION", "POLICY_OPTIONS", "Manifest", "ManifestError", "Option", "read_manifest"]

MANIFEST_SECTION = "evalspan"
"""Name of the custom section."""

POLICY_OPTIONS = ("max_input_bytes", "max_depth", "max_digits", "max_result_bytes")
"""The options that the host fills from the limits in force; any other name is the evaluator's own."""

_MAX_MANIFEST_BYTES = 16_384  # 32 options with long names take 5 KB
_MAX_OPTIONS = 32
_MAX_REQUEST_BYTES = 16_384 + 4 * _MAX_OPTIONS  # the ceiling of `max_input_bytes`, and the options before it

_U32 = Annotated[int, Field(ge=0, le=4_294_967_295)]


class ManifestError(ValueError):
    """A module without a manifest, or one that breaks the rules; the text says which."""


class Option(BaseModel):
    """An option an evaluator takes: an unsigned 32-bit integer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
    default: _U32
    minimum: _U32 = 0
    maximum: _U32 = 4_294_967_295

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.minimum <= self.default <= self.maximum:
            raise ValueError(f"default {self.default} is not within {self.minimum} to {self.maximum}")
        return self


class Manifest(BaseModel):
    """What the module is: docs/abi.md has the keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    abi: Annotated[int, Field(ge=1, le=1)]
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
    spec: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}/[1-9][0-9]{0,8}$")]
    request_bytes: Annotated[int, Field(ge=1, le=_MAX_REQUEST_BYTES)]
    options: Annotated[tuple[Option, ...], Field(max_length=_MAX_OPTIONS)] = ()
    unicode: Annotated[str, Field(pattern=r"^[0-9]{1,4}(\.[0-9]{1,4}){0,2}$")] | None = None
    """Version of Unicode that the module's tables are from."""
    sample: Annotated[str, Field(max_length=512)] | None = None
    """An input on which to show the fuel."""

    functions: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=64)], ...], Field(max_length=256)] = ()
    """The functions that expressions may call, for people and prompts."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [option.name for option in self.options]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"option {name!r} is listed twice")
        if self.max_input_bytes < 1:
            raise ValueError(
                f"request_bytes {self.request_bytes} leaves no byte for the input after {len(names)} options"
            )
        return self

    @property
    def max_input_bytes(self) -> int:
        """The most input bytes that fit the request buffer and the option of that name."""
        room = self.request_bytes - 4 * len(self.options)
        declared = [option.maximum for option in self.options if option.name == "max_input_bytes"]
        return min([room, *declared])


def read_manifest(module: bytes) -> Manifest:
    """The manifest of a module.

    Raises:
        FormatError: the bytes are no module.
        ManifestError: there is no manifest, more than one, or one that breaks the rules.
    """
    found = [s for s in sections(module) if s.number == CUSTOM and s.name == MANIFEST_SECTION]
    if not found:
        raise ManifestError(f"there is no custom section {MANIFEST_SECTION!r}")
    if len(found) > 1:
        raise ManifestError(f"there are {len(found)} custom sections {MANIFEST_SECTION!r}, not one")
    text = module[found[0].start : found[0].end]
    if len(text) > _MAX_MANIFEST_BYTES:
        raise ManifestError(f"has {len(text)} bytes, the limit is {_MAX_MANIFEST_BYTES}")
    try:
        json.loads(text.decode(), object_pairs_hook=_without_duplicates)
        return Manifest.model_validate_json(text)
    except ManifestError:
        raise
    except UnicodeDecodeError as error:
        raise ManifestError(f"is not UTF-8 at byte {error.start}") from None
    except ValidationError as error:
        item = error.errors(include_url=False, include_context=False)[0]
        path = ".".join(str(part) for part in item["loc"])
        raise ManifestError(f"{path + ': ' if path else ''}{item['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"is not JSON: {error}") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON leaves a repeated key open; two readers of one manifest must not see two things."""
    read: dict[str, Any] = {}
    for key, value in pairs:
        if key in read:
            raise ManifestError(f"the key {key[:64]!r} is there twice")
        read[key] = value
    return read
