"""The sampler draws from the distribution that its parameters describe."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import finished, play

from evalspan.orchestrator import DecodeError, RequestError, SamplingParams, Step
from evalspan.orchestrator.sampling import FILTERS, Filter, Sampler

LOGITS = np.log(np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32))


SHAPED_AFTER = [0, 4 / 29, 9 / 29, 16 / 29]
"""Top-p 0.75 keeps three of the unshaped probabilities; with temperature first it would keep two."""


def frequencies(params: SamplingParams, allowed: list[bool] | None = None, draws: int = 20_000) -> np.ndarray:
    sampler = Sampler(params)
    mask = None if allowed is None else np.array(allowed)
    drawn = [sampler.sample(LOGITS, mask) for _ in range(draws)]
    return np.bincount(drawn, minlength=4) / draws


@pytest.mark.parametrize(
    ("params", "allowed", "expected"),
    [
        (SamplingParams(1.0), None, [0.1, 0.2, 0.3, 0.4]),
        (SamplingParams(1.0), [True, True, False, False], [1 / 3, 2 / 3, 0, 0]),
        (SamplingParams(0.5), None, [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
        (SamplingParams(1.0, top_k=2), None, [0, 0, 3 / 7, 4 / 7]),
        (SamplingParams(1.0, top_p=0.7), None, [0, 0, 3 / 7, 4 / 7]),
        (SamplingParams(1.0, top_p=0.71), None, [0, 2 / 9, 3 / 9, 4 / 9]),
        (SamplingParams(1.0, min_p=0.6), None, [0, 0, 3 / 7, 4 / 7]),
        (SamplingParams(1.0, logit_bias=((0, float(np.log(4))), (3, -50.0))), None, [4 / 9, 2 / 9, 3 / 9, 0]),
        (SamplingParams(0.5, top_p=0.6), None, [0, 0, 9 / 25, 16 / 25]),
        (SamplingParams(0.5, top_p=0.75, order=("top_p", "temperature", "top_k", "min_p")), None, SHAPED_AFTER),
    ],
)
def test_frequencies_fit_the_theory(params: SamplingParams, allowed: list[bool] | None, expected: list[float]) -> None:
    found = frequencies(params, allowed)
    for seen, probability in zip(found, expected, strict=True):
        # Five standard deviations of a binomial frequency; the seed is fixed, so this never flickers.
        assert abs(seen - probability) <= 5 * np.sqrt(probability * (1 - probability) / 20_000)


def test_greedy_takes_the_largest_allowed_and_the_lowest_id_of_equals() -> None:
    sampler = Sampler(SamplingParams())
    assert sampler.sample(LOGITS) == 3
    assert sampler.sample(LOGITS, np.array([True, True, True, False])) == 2
    assert sampler.sample(np.zeros(4, dtype=np.float32)) == 0


def test_a_seed_repeats_and_another_differs() -> None:
    def draws(seed: int) -> list[int]:
        sampler = Sampler(SamplingParams(1.0, seed=seed))
        return [sampler.sample(LOGITS) for _ in range(50)]

    assert draws(7) == draws(7) != draws(8)


@pytest.mark.parametrize("logits", [[np.nan, 1.0], [np.inf, 1.0], [-np.inf, -np.inf]])
def test_logits_that_are_no_numbers_fail_closed(logits: list[float]) -> None:
    with pytest.raises(DecodeError):
        Sampler(SamplingParams(1.0)).sample(np.array(logits, dtype=np.float32))


def test_an_empty_mask_fails_closed() -> None:
    with pytest.raises(DecodeError, match="no token is allowed"):
        Sampler(SamplingParams()).sample(LOGITS, np.zeros(4, dtype=bool))


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -1},
        {"temperature": float("nan")},
        {"top_k": -1},
        {"top_p": 0},
        {"top_p": 1.1},
        {"seed": -1},
        {"min_p": 2},
        {"repetition_penalty": 0},
    ],
)
def test_parameters_out_of_range_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(RequestError, match=next(iter(wrong))):
        SamplingParams(**wrong)  # type: ignore[arg-type]


@given(
    st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=40),
    st.floats(0.05, 5),
    st.integers(0, 50),
    st.floats(0.01, 1),
    st.floats(0, 1),
    st.permutations(FILTERS),
    st.data(),
)
def test_probabilities_add_up_to_one_over_allowed_tokens(
    logits: list[float],
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    order: list[Filter],
    data: st.DataObject,
) -> None:
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(logits), max_size=len(logits))))
    if not mask.any():
        mask[0] = True
    masked = np.where(mask, np.array(logits, dtype=np.float32), np.float32(-np.inf))
    params = SamplingParams(temperature, top_k, top_p, min_p, order=tuple(order))
    ids, probabilities = Sampler(params).distribution(masked)
    assert abs(probabilities.sum() - 1) < 1e-9
    assert mask[ids].all()
    assert np.exp(float(masked.max() - masked[ids].max()) / temperature) < 1 + 1e-6  # the most probable is kept


def test_the_penalty_weakens_what_was_said() -> None:
    sampler = Sampler(SamplingParams(repetition_penalty=2.0))
    logits = np.array([3.0, 2.0, -1.0, -1.1], dtype=np.float32)
    assert sampler.sample(logits) == 0
    sampler.observe([0])
    assert sampler.sample(logits) == 1
    sampler.observe([1, 2])
    assert sampler.sample(logits, np.array([False, False, True, True])) == 3


def test_an_order_that_leaves_a_filter_out_is_refused() -> None:
    with pytest.raises(RequestError, match="each of"):
        SamplingParams(order=("temperature", "top_k"))


def test_the_account_of_a_draw_adds_up() -> None:
    allowed = np.array([True, True, False, True])
    drawn = Sampler(SamplingParams(1.0, top_k=2, seed=1)).explain(LOGITS, allowed)
    assert drawn.token in (1, 3)
    assert abs(drawn.masked_mass - 0.3) < 1e-6
    assert abs(drawn.probability - (0.2 if drawn.token == 1 else 0.4)) < 1e-6
    assert abs(drawn.renormalized - drawn.probability / 0.7) < 1e-6
    assert abs(drawn.drawn - drawn.probability / 0.6) < 1e-6


def test_the_ledger_has_a_step_for_each_sampled_token() -> None:
    events = play(["a", "<calc>", "1+1", "</calc>", "b"], ledger=True)
    steps = [event for event in events if isinstance(event, Step)]
    assert len(steps) == finished(events).sampled_tokens
    assert all(0 < step.renormalized <= 1 and 0 <= step.masked_mass < 1 for step in steps)
    closing = steps[3]  # under the mask of a span most of the vocabulary is forbidden
    assert closing.masked_mass > 0.5
