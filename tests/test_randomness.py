"""Counter-based random numbers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.errors import SpecError
from boundlab.randomness import Stream, Streams, philox4x32

# Known answers published with Random123 (kat_vectors, philox 4x32 10).
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_philox_gives_the_published_answers(counter, key, answer):
    words = philox4x32(tuple(np.array([word], dtype=np.uint64) for word in counter), key)
    assert tuple(int(word[0]) for word in words) == answer


@given(st.integers(0, 2**64 - 1), st.integers(1, 40), st.integers(1, 30), st.integers(0, 39))
def test_a_number_depends_on_its_key_alone_and_not_on_what_is_drawn_with_it(seed, rows, count, row):
    row %= rows
    together = Streams(seed).uniforms(Stream.BATCH, 3, np.arange(rows), count)
    alone = Streams(seed).uniforms(Stream.BATCH, 3, row, count + 5)
    assert np.array_equal(together[row], alone[0, :count])


def test_long_rows_are_the_same_whatever_the_chunk():
    long = Streams(7).uniforms(Stream.NOISE, 0, 5, 100_000)[0]
    assert np.array_equal(long[:10], Streams(7).uniforms(Stream.NOISE, 0, 5, 10)[0])
    assert np.unique(long).size == long.size


def test_uniforms_lie_in_the_open_interval_and_have_the_right_moments():
    u = Streams(1, trial=4).uniforms(Stream.DELAY, np.arange(1000), 0, 200)
    assert u.min() > 0.0
    assert u.max() < 1.0
    # 2e5 numbers: five standard errors of the mean are 5·sqrt(1/12/2e5) = 0.0032.
    assert abs(u.mean() - 0.5) < 0.0033
    assert abs(np.corrcoef(u[:, 0], u[:, 1])[0, 1]) < 0.16


def test_streams_clients_updates_and_trials_are_all_different():
    base = Streams(5, 1).uniforms(Stream.DELAY, 2, 3, 4)
    others = [
        Streams(6, 1).uniforms(Stream.DELAY, 2, 3, 4),
        Streams(5, 2).uniforms(Stream.DELAY, 2, 3, 4),
        Streams(5, 1).uniforms(Stream.BATCH, 2, 3, 4),
        Streams(5, 1).uniforms(Stream.DELAY, 3, 3, 4),
        Streams(5, 1).uniforms(Stream.DELAY, 2, 4, 4),
    ]
    assert all(not np.any(base == other) for other in others)


@pytest.mark.parametrize(("seed", "trial"), [(-1, 0), (2**64, 0), (0, -1), (0, 2**32)])
def test_a_seed_outside_its_range_is_refused(seed, trial):
    with pytest.raises(SpecError, match="must be an integer in"):
        Streams(seed, trial)
