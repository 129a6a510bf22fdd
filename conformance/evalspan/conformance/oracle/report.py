"""What the oracle found: how much was compared, and every disagreement with what is needed to understand it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["Disagreement", "OracleReport", "Status", "Verdict"]

Verdict = Literal["allowed", "forbidden"]

Status = Literal["pass", "fail", "unsupported"]
"""`unsupported`: the grammar engine refuses the grammar when it is compiled, which is its right."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A place where the oracle and the masker differ. `token` is None where it is about the engine's own text."""

    prefix: bytes
    path: tuple[int, ...]
    """The tokens that led there."""
    token: int | None
    piece: bytes
    """The bytes of the token; of an end token or an empty one there are none."""
    what: str
    """What the token is: `token`, `end`, `control`, `empty`; or `forced`, `error`."""
    oracle: str
    masker: str
    state: str
    """The machine's state, for people."""

    def __str__(self) -> str:
        token = "" if self.token is None else f" {self.token} {self.piece!r}"
        return (
            f"{self.what}{token} after {self.prefix!r}\n"
            f"  oracle  {self.oracle}\n  masker  {self.masker}\n  state   {self.state}\n  path    {list(self.path)}"
        )


@dataclass(frozen=True, slots=True)
class OracleReport:
    """One language on one engine. Counts are of what was compared; a comparison is one token at one prefix."""

    case: str
    statement: str
    engine: str
    unsupported: str | None = None
    """Why the engine does not take the grammar."""
    documents: int | None = None
    """None: the language has no end."""
    prefixes: int = 0
    ways: int = 0
    exhaustive: bool = False
    """Whether every way to cut every prefix into tokens was walked."""
    masks: int = 0
    comparisons: int = 0
    forced: int = 0
    """Forced texts that were compared."""
    disagreements: tuple[Disagreement, ...] = ()
    more: int = 0
    """Disagreements beside those that are listed."""

    @property
    def status(self) -> Status:
        """What came of it."""
        if self.unsupported is not None:
            return "unsupported"
        return "fail" if self.disagreements else "pass"

    def as_json(self) -> dict[str, Any]:
        """As JSON; bytes in it are Python's spelling of them."""
        facts = asdict(self)
        for disagreement in facts["disagreements"]:
            for key in ("prefix", "piece"):
                disagreement[key] = repr(disagreement[key])
        return {"status": self.status, **facts}
