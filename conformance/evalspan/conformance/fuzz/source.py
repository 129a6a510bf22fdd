"""Where inputs come from: a grammar, a generator, the corpus, a dictionary, and noise."""

from __future__ import annotations

from collections.abc import Mapping

from evalspan.conformance.fuzz.pool import Pool
from evalspan.conformance.fuzz.vocabulary import Vocabulary
from evalspan.conformance.generators import Chance, Sample
from evalspan.conformance.generators.derivation import Derivation
from evalspan.conformance.generators.library import MAX_INPUT_BYTES, fitted
from evalspan.conformance.generators.mutation import mutated, noise, spliced, stretched

__all__ = ["Source"]

_DEFAULT_BYTES = 512
"""What an input has by default; most of those that are made long are made as long as that."""


class Source:
    """Inputs without end: a function of the seed and of what the pool keeps."""

    def __init__(self, vocabulary: Vocabulary, pool: Pool, seed: int, start: int = 0) -> None:
        """`start` is how many inputs a run before this one has asked."""
        self._vocabulary = vocabulary
        self._pool = pool
        self._chance = Chance()
        self._chance.restart(seed, start)
        self._options = [{**vocabulary.base, **options} for options in vocabulary.options]
        self._bombs = list(vocabulary.dictionary)
        self._last_bomb: int | None = None
        self._seeds = list(vocabulary.seeds)
        self.derivation = None if vocabulary.grammar is None else Derivation(vocabulary.grammar)
        """What counts the productions, where there is a grammar."""
        self.new_production = False
        """Whether the last input used a production for the first time."""

    def draw(self) -> Sample:
        """The next input."""
        chance, pool = self._chance, self._pool
        self.new_production = False
        self._last_bomb = None
        options = chance.pick(self._options)
        if self._seeds:
            return Sample(self._seeds.pop(), options)
        way = chance.random()
        if way < 0.45 and pool.entries:
            return self._from_corpus(options)
        if way < 0.88:
            data = self._sentence()
            if chance.one_in(8):
                data = mutated(data, chance, self._vocabulary.fragments)
        elif way < 0.94:
            data = self._bomb()
        else:
            data = noise(chance, self._vocabulary.fragments)
        return Sample(data, self._roomy(data, options))

    def _roomy(self, data: bytes, options: Mapping[str, int]) -> Mapping[str, int]:
        """The options, or others where they would only say that the input is too long: one such in eight is enough."""
        if len(data) <= options.get("max_input_bytes", _DEFAULT_BYTES) or self._chance.one_in(8):
            return options
        return max(self._options, key=lambda each: each.get("max_input_bytes", _DEFAULT_BYTES))

    def drop_bomb(self) -> None:
        """Never draw the last input again if it came from the dictionary as it is: it costs a time limit each time."""
        if self._last_bomb is not None:
            del self._bombs[self._last_bomb]
            self._last_bomb = None

    def _from_corpus(self, options: Mapping[str, int]) -> Sample:
        chance, pool = self._chance, self._pool
        kept = pool.pick(chance)
        way = chance.random()
        if way < 0.55:
            data = mutated(kept.data, chance, self._vocabulary.fragments)
        elif way < 0.85:
            other = self._sentence() if chance.one_in(4) else pool.pick(chance).data
            data = spliced(kept.data, other, chance)
        else:
            most = MAX_INPUT_BYTES if chance.one_in(6) else _DEFAULT_BYTES
            data = stretched(kept.data, chance, most)
        data = data[:MAX_INPUT_BYTES]
        return Sample(data, self._roomy(data, kept.options if chance.one_in(2) else options))

    def _sentence(self) -> bytes:
        chance, derivation, text = self._chance, self.derivation, self._vocabulary.text
        if derivation is not None and (text is None or chance.random() < 0.5):
            before = derivation.covered
            data = derivation.sentence(chance)
            self.new_production = derivation.covered > before
            return data
        if text is not None:
            return text(chance).encode()
        return noise(chance, self._vocabulary.fragments)

    def _bomb(self) -> bytes:
        chance = self._chance
        if not self._bombs:
            return noise(chance, self._vocabulary.fragments)
        index = chance.below(len(self._bombs))
        most = MAX_INPUT_BYTES if chance.one_in(4) else _DEFAULT_BYTES
        data = fitted(self._bombs[index], most)
        if chance.one_in(3):
            return mutated(data, chance, self._vocabulary.fragments)
        self._last_bomb = index
        return data
