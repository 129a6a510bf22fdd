"""The process of one mutant: make it, ask the requirements that must notice it, and print what they answered.

`python -m evalspan.conformance.mutants.child NAME`, or `-` for the code as it is; the answer is a line of JSON.
"""

from __future__ import annotations

import json
import sys

from evalspan.conformance.mutants.catalogue import MUTANTS
from evalspan.conformance.mutants.mutant import MutantError, install

__all__ = ["main"]


def main(name: str, wanted: list[str]) -> dict[str, object]:
    """What the requirements of these ids answer, by id: the status and the detail."""
    finder = None
    missing: set[str] = set()
    if name != "-":
        mutant = next(mutant for mutant in MUTANTS if mutant.name == name)
        finder = install(mutant)
        missing = {edit.module for edit in mutant.edits}
    from evalspan.conformance.suite.backends import open_subject
    from evalspan.conformance.suite.requirements import REQUIREMENTS
    from evalspan.conformance.suite.runner import ask

    subject = open_subject("scripted", None)
    answers: dict[str, object] = {}
    for requirement in REQUIREMENTS:
        if requirement.id in wanted:
            outcome = ask(requirement, subject)
            answers[requirement.id] = [outcome.status, outcome.detail]
    subject.close()
    if finder is not None and (unused := missing - finder.made):
        raise MutantError(f"{min(unused)} was never imported, so nothing was tested")
    return answers


if __name__ == "__main__":
    try:
        told: dict[str, object] = {"answers": main(sys.argv[1], sys.argv[2:])}
    except MutantError as error:
        told = {"error": str(error)}
    sys.stdout.write(json.dumps(told) + "\n")
