"""Fuzzing the host: what evalspan itself reads, from registries to the replies of a server, each in a child process."""

from evalspan.conformance.fuzz.host.subject import Disagreement, Subject
from evalspan.conformance.fuzz.host.subjects import HOST, SUBJECTS

__all__ = ["HOST", "SUBJECTS", "Disagreement", "Subject"]
