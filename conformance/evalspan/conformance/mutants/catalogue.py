"""The mutants. Each is a fault that a tool of this kind has had, or could have."""

from __future__ import annotations

from evalspan.conformance.mutants.mutant import Edit, Mutant

__all__ = ["MUTANTS"]

_GENERATING = "evalspan.orchestrator.generating"
_MACHINE = "evalspan.orchestrator.machine"
_STARTING = "evalspan.orchestrator.starting"
_MATCHER = "evalspan.orchestrator.matcher"
_PREPARATION = "evalspan.orchestrator.preparation"
_SAMPLING = "evalspan.orchestrator.sampling"
_BATCH = "evalspan.orchestrator.batch"
_BLOCKS = "evalspan.orchestrator.blocks"
_RECEIPT = "evalspan.orchestrator.receipts.model"
_VERIFY = "evalspan.orchestrator.receipts.verify"
_RESUME = "evalspan.orchestrator.resume"
_RESTORED = "evalspan.evaluators.restored"
_BOUND = "evalspan.evaluators.bound"
_KEYWORDS = "evalspan.orchestrator.json.keywords"
_JSON_ENGINE = "evalspan.orchestrator.json.engine"

_MASK = "        allowed = self._matcher.mask(place)\n"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "character-only-masking",
        "a token is allowed where its first byte is",
        (
            Edit(
                _MACHINE,
                _MASK,
                _MASK
                + "        pieces = self._tokenizer.pieces\n"
                + "        first = {piece for piece, yes in zip(pieces, allowed) if yes and len(piece) == 1}\n"
                + "        allowed = allowed | [piece[:1] in first for piece in pieces]\n",
            ),
        ),
        ("EVS-MSK-JSON-KEY", "EVS-MSK-SENTENCE"),
    ),
    Mutant(
        "premature-eos",
        "the end is allowed everywhere",
        (
            Edit(
                _MACHINE,
                _MASK,
                _MASK + "        allowed = allowed.copy()\n        allowed[list(self._tokenizer.eos_ids)] = True\n",
            ),
        ),
        ("EVS-GRM-02", "EVS-MSK-SENTENCE"),
    ),
    Mutant(
        "invalid-escapes",
        "a JSON string may have escapes of code points, in which one text has two spellings",
        (Edit(_JSON_ENGINE, """'bfnrt\\\\"'""", """'bfnrtu\\\\"'"""),),
        ("EVS-GRM-07",),
    ),
    Mutant(
        "ignored-keywords",
        "keywords of a schema that nothing enforces are passed over",
        (
            Edit(
                _KEYWORDS,
                'if keyword in REFUSED and not (keyword == "uniqueItems" and value is False):',
                "if False:",
            ),
            Edit(
                _KEYWORDS,
                'if keyword in ANNOTATIONS or keyword == "uniqueItems":',
                "if keyword in ANNOTATIONS or keyword in REFUSED:",
            ),
        ),
        ("EVS-GRM-04",),
    ),
    Mutant(
        "foreign-state-reuse",
        "the memory of an evaluator is not restored before the next evaluation",
        (Edit(_RESTORED, "        view[:dirty] = self._image[:dirty]\n", ""),),
        ("EVS-EVL-04",),
    ),
    Mutant(
        "fuel-not-reset",
        "an evaluation has the fuel that the one before it has left",
        (
            Edit(
                _RESTORED,
                "        api.set_fuel(context, self._fuel)\n",
                "        api.set_fuel(context, getattr(self, '_left', self._fuel))\n",
            ),
            Edit(_RESTORED, "        left = frame.fuel.value\n", "        self._left = left = frame.fuel.value\n"),
        ),
        ("EVS-EVL-05",),
    ),
    Mutant(
        "missing-renormalization",
        "the ledger has the model's probability where the share of the allowed tokens belongs",
        (Edit(_SAMPLING, "renormalized = probability / mass if mass > 0 else drawn", "renormalized = probability"),),
        ("EVS-PRB-02", "EVS-SMP-04"),
    ),
    Mutant(
        "late-mask",
        "filters look at tokens that the mask forbids",
        (
            Edit(
                _SAMPLING,
                "        ids, probabilities = self.distribution(logits)\n",
                "        ids, probabilities = self.distribution(unmasked)\n"
                "        kept = np.ones(len(ids), bool) if allowed is None else allowed[ids]\n"
                "        ids, probabilities = ids[kept], probabilities[kept] / probabilities[kept].sum()\n",
            ),
            Edit(
                _SAMPLING,
                "        if allowed is not None:\n            logits = np.fmin",
                "        unmasked = logits\n        if allowed is not None:\n            logits = np.fmin",
            ),
        ),
        ("EVS-PRB-02", "EVS-PRB-03"),
    ),
    Mutant(
        "seed-ignored",
        "every generation draws the same",
        (Edit(_SAMPLING, "np.random.PCG64(params.seed)", "np.random.PCG64(0)"),),
        ("EVS-SMP-02",),
    ),
    Mutant(
        "forged-result",
        "a result that the model writes passes for one of the engine's",
        (Edit(_MACHINE, "        if tag in self._plan.results:\n", "        if False:\n"),),
        ("EVS-FRG-03",),
    ),
    Mutant(
        "result-tag-through-two-lexemes",
        "two terminals of a grammar may spell a result's tag",
        (
            Edit(
                _PREPARATION,
                "guard=self._guard(plan, plan.unwritable(part.spans)) if guarded else None",
                "guard=None",
            ),
        ),
        ("EVS-FRG-05", "EVS-MSK-GUARD"),
    ),
    Mutant(
        "overshoot-kept",
        "what a token has past a close tag reaches the model",
        (
            Edit(
                _MACHINE,
                "return self._close(self.text[start:], tokens, replaces=used < len(data))",
                "return self._close(self.text[start:], tokens, replaces=False)",
            ),
        ),
        ("EVS-OVR-01",),
    ),
    Mutant(
        "off-by-one-overshoot",
        "one byte past a close tag stays",
        (
            Edit(
                _MACHINE, "            self.text += data[used:end]\n", "            self.text += data[used : end + 1]\n"
            ),
        ),
        ("EVS-OVR-01",),
    ),
    Mutant(
        "result-not-fed",
        "a result is told and not fed to the model",
        (Edit(_GENERATING, "            self._pending.extend(action.tokens)\n", ""),),
        ("EVS-INJ-03",),
    ),
    Mutant(
        "half-a-result-begun",
        "a result is begun although it does not fit",
        (
            Edit(
                _MACHINE,
                "        if block.cost > self.remaining:\n"
                '            return self.stop("length")\n'
                "        self._outcomes[rule.name] = outcome\n",
                "        self._outcomes[rule.name] = outcome\n",
            ),
        ),
        ("EVS-INJ-06",),
    ),
    Mutant(
        "open-span-evaluated",
        "a span that is open at the end is evaluated",
        (
            Edit(
                _MACHINE,
                "            self._events.append(UnclosedSpan(self._rule.name, content))\n",
                "            self._events.append(UnclosedSpan(self._rule.name, content))\n"
                "            outcome = self._outcome(self._rule, content.encode())\n"
                "            self._events.append(told(self._rule, content.encode(), *outcome))\n",
            ),
        ),
        ("EVS-INJ-07",),
    ),
    Mutant(
        "stale-cache",
        "the mask of the token before is used again",
        (
            Edit(
                _MATCHER,
                "        shown, self._shown, self._filled = self._shown, None, None\n",
                "        shown, self._shown = self._shown, None\n",
            ),
        ),
        ("EVS-MSK-SENTENCE", "EVS-GRM-01"),
    ),
    Mutant(
        "cache-without-tokenizer",
        "a grammar that is compiled for one vocabulary serves another",
        (
            Edit(
                _PREPARATION,
                "        self._grammars: dict[tuple[str, Compilation], CompiledGrammar] = {}\n",
                "        self._grammars = globals().setdefault('_EVERY_GRAMMAR', {})\n",
            ),
        ),
        ("EVS-GRM-05",),
    ),
    Mutant(
        "prompt-triggers",
        "a span that is open in the prompt is closed by the output",
        (
            Edit(
                _STARTING,
                "return Generating(index, prompt, machine, sampler, request)",
                "machine.advance_bytes(spell(self.backend.tokenizer, prompt), 0)\n"
                "        return Generating(index, prompt, machine, sampler, request)",
            ),
        ),
        ("EVS-PRM-02",),
    ),
    Mutant(
        "prompt-evaluated",
        "spans in the prompt of a request engine are evaluated",
        (
            Edit(
                _STARTING,
                "        return Resuming(index, machine, prompt, ",
                "        machine.advance_bytes(prompt.text, 0)\n        return Resuming(index, machine, prompt, ",
            ),
        ),
        ("EVS-PRM-01",),
    ),
    Mutant(
        "error-swallowed",
        "an expression without a value has an empty result",
        (
            Edit(
                _BLOCKS,
                'block = self.block(rule.name, "error", f"{rule.error.open}{body}{rule.error.close}", context, forced)',
                'block = self.block(rule.name, "result", f"{rule.result.open}{rule.result.close}", context, forced)',
            ),
        ),
        ("EVS-INJ-02", "EVS-XBK-01"),
    ),
    Mutant(
        "tags-in-results",
        "a value may hold tags",
        (Edit(_BOUND, "            objection = self._objection(outcome.text)\n", "            objection = None\n"),),
        ("EVS-FRG-04",),
    ),
    Mutant(
        "limits-off",
        "fuel and forced tokens have no limit",
        (
            Edit(_RESTORED, "        self._fuel = limits.fuel + 1\n", "        self._fuel = 10**12\n"),
            Edit(_BLOCKS, "        if forced + spelling.count > self._max_tokens:\n", "        if False:\n"),
        ),
        ("EVS-BUD-02", "EVS-BUD-04", "EVS-EVL-06"),
    ),
    Mutant(
        "spans-not-counted",
        "a generation has as many spans as it likes",
        (Edit(_MACHINE, "        if self.spans > self._limits.max_spans:\n", "        if False:\n"),),
        ("EVS-BUD-01",),
    ),
    Mutant(
        "last-token-not-resent",
        "a completion is resumed without the token that closed the span",
        (
            Edit(
                _RESUME,
                "if isinstance(action, Continue) or (isinstance(action, Force) and not action.replaces_token):\n",
                "if isinstance(action, Continue):\n",
            ),
        ),
        ("EVS-RES-02",),
    ),
    Mutant(
        "held-text-lost",
        "text that was held back for a tag that does not come is not told",
        (Edit(_MACHINE, "        self._release(final=True)\n", ""),),
        ("EVS-STR-02",),
    ),
    Mutant(
        "slot-leaks",
        "a generation that is left keeps its place in the engine",
        (Edit(_BATCH, "        self._engine.close(sequence)\n", ""),),
        ("EVS-LIF-01",),
    ),
    Mutant(
        "receipt-hash-without-identities",
        "the digest of a receipt does not cover what the generation ran on",
        (
            Edit(
                _RECEIPT,
                'if name not in ("digest", "unverified")',
                'if name not in ("digest", "unverified", "identity")',
            ),
        ),
        ("EVS-RCT-03",),
    ),
    Mutant(
        "receipt-identities-trusted",
        "a verifier believes what a receipt says that the generation ran on",
        (Edit(_VERIFY, "problems = list(self._foreign(receipt))", "problems = []"),),
        ("EVS-RCT-03",),
    ),
)
"""All of them."""
