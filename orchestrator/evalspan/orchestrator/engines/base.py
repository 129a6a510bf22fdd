"""What a grammar engine is to the matcher: it compiles the grammar's text and follows one output in it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from evalspan.orchestrator.backend import Tokenizer
from evalspan.orchestrator.errors import GrammarError
from evalspan.orchestrator.grammar import MARKS
from evalspan.orchestrator.masks import Mask

__all__ = [
    "ENGINES",
    "Allowed",
    "Engine",
    "EngineGrammar",
    "EngineName",
    "EngineState",
    "MaskTable",
    "check_engine",
    "engine_identity",
    "spellings",
]

_KNOWN = 256  # masks; a vocabulary has from 30 to 260 KB of them each, and most texts come to a few dozen


class Allowed(NamedTuple):
    """What may come next."""

    tokens: Mask
    marks: Mask
    """Shape `(MARKS,)`."""


class MaskTable:
    """The masks of a vocabulary, each of them once: what is the same comes as the same arrays, so that who has made
    something of them can know it again."""

    def __init__(self, vocabulary: int) -> None:
        """`vocabulary` is how many tokens the model has; behind them come the marks."""
        self._vocabulary = vocabulary
        self._known: dict[bytes, Allowed] = {}

    def allowed(self, bits: NDArray[np.int32]) -> Allowed:
        """The masks that these bits spell, a bit a token from the lowest on."""
        spelt = bits.tobytes()
        found = self._known.get(spelt)
        if found is None:
            whole = np.unpackbits(bits.view(np.uint8), bitorder="little").view(np.bool_)
            whole.flags.writeable = False
            found = Allowed(whole[: self._vocabulary], whole[self._vocabulary : self._vocabulary + MARKS])
            if len(self._known) >= _KNOWN:
                self._known.clear()  # others may look in meanwhile, and would not find out what is the oldest
            self._known[spelt] = found
        return found


EngineName = Literal["llguidance", "xgrammar"]
"""Who keeps an output in its grammar."""

ENGINES: tuple[EngineName, ...] = get_args(EngineName)


class EngineState(Protocol):
    """One output in its grammar. A token that the grammar does not allow puts it in error for good."""

    def allowed(self) -> Allowed:
        """The tokens that may come next."""
        ...

    def take(self, tokens: Sequence[int]) -> bool:
        """Take tokens of the output; false where the grammar does not allow them."""
        ...

    def allows(self, tokens: Sequence[int]) -> bool:
        """Whether `take` would take all of these; nothing changes."""
        ...

    def take_back(self, count: int) -> None:
        """Forget the last tokens that were taken, all of which were allowed.

        Raises:
            DecodeError: the engine cannot.
        """
        ...

    def accepting(self) -> bool:
        """Whether the output may end here."""
        ...

    def error(self) -> str:
        """What went wrong, for good; empty where nothing did."""
        ...

    def copy(self) -> EngineState:
        """The same state, to be changed apart from this one."""
        ...


class EngineGrammar(Protocol):
    """A compiled grammar."""

    def start(self) -> EngineState:
        """A new output."""
        ...


class Engine(Protocol):
    """A grammar engine with one vocabulary, the model's and the marks behind it."""

    @property
    def identity(self) -> str:
        """The engine's name and version, which what it compiles depends on."""
        ...

    def compile(self, lark: str) -> EngineGrammar:
        """A grammar as `Compilation.lark` has it.

        Raises:
            GrammarError: the engine does not take it.
        """
        ...


_XGRAMMAR = "0.2.9"  # the library is used without its package, and its functions change between such releases


def check_engine(name: EngineName) -> None:
    """Whether an engine can be used here; it is not loaded.

    Raises:
        GrammarError: there is none of this name, or it is not installed, or not in the release that is known here.
    """
    if name not in ENGINES:
        raise GrammarError(f"there is no grammar engine {name!r}; there are {', '.join(ENGINES)}")
    if name == "xgrammar":
        missing = any(find_spec(package) is None for package in ("xgrammar", "tvm_ffi"))
        if missing or version("xgrammar") != _XGRAMMAR:
            state = "not installed" if missing else f"{version('xgrammar')} here, and {_XGRAMMAR} is needed"
            raise GrammarError(
                f"the grammar engine xgrammar is {state}: pip install --no-deps xgrammar=={_XGRAMMAR} apache-tvm-ffi "
                "(or 'evalspan[xgrammar]', which brings torch), or use llguidance"
            )


def engine_identity(name: EngineName) -> str:
    """An engine's name and version.

    Raises:
        GrammarError: as `check_engine`.
    """
    check_engine(name)
    return f"{name} {version(name)}"


def spellings(tokenizer: Tokenizer, control: str, mark: str) -> list[bytes]:
    """The bytes of every token, the marks behind the model's own.

    Control tokens and marks get a spelling by these patterns, which have a place for their number.
    """
    tokens = [*tokenizer.pieces, *((mark % number).encode("latin-1") for number in range(MARKS))]
    for token in tokenizer.special_ids | tokenizer.eos_ids:
        tokens[token] = (control % token).encode("latin-1")
    return tokens
