"""Options of problems on data: what is rebuilt, how data are split over clients, what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from problem_makers import from_text, make

from boundlab.errors import DataError, SpecError
from boundlab.problems.samples import PARTITIONS, Partition, dirichlet, split
from boundlab.randomness import Streams

SEEDS = st.integers(0, 10_000)


@given(st.sampled_from(PARTITIONS), st.integers(1, 12), st.integers(0, 500))
def test_every_partition_gives_every_client_a_sample(how: Partition, n: int, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 4, size=200)
    owners = split(how, labels, n, seed, a=0.2)
    assert sorted(set(owners.tolist())) == list(range(n))
    assert np.array_equal(owners, split(how, labels, n, seed, a=0.2))


def test_iid_clients_have_equal_sizes_and_class_clients_few_labels() -> None:
    labels = np.repeat(np.arange(10), 20)
    assert np.bincount(split("iid", labels, 10, 0)).tolist() == [20] * 10
    owners = split("class", labels, 10, 0, shards=2)
    assert np.bincount(owners).tolist() == [20] * 10
    assert max(len(set(labels[owners == i].tolist())) for i in range(10)) <= 2
    assert min(len(set(labels[split("iid", labels, 10, 0) == i].tolist())) for i in range(10)) > 2


def test_a_large_dirichlet_parameter_is_even_and_a_small_one_is_not() -> None:
    labels = np.repeat(np.arange(10), 100)

    def spread(a: float) -> float:
        owners = split("dirichlet", labels, 10, 0, a=a)
        table = np.zeros((10, 10))
        np.add.at(table, (labels, owners), 1.0)
        return float((table / 100).max(axis=1).mean())

    assert spread(1e5) < 0.12
    assert spread(0.1) > 0.5


@given(st.floats(0.01, 20), SEEDS)
@settings(max_examples=20)
def test_dirichlet_rows_have_the_right_mean_and_never_underflow(a: float, seed: int) -> None:
    rows = dirichlet(np.full((600, 4), a), Streams(seed), 5)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    # Variance of a component: (1/4)(3/4)/(4a + 1); six standard deviations of the mean of 600.
    limit = 6 * np.sqrt(3 / 16 / (4 * a + 1) / 600)
    assert np.abs(rows.mean(axis=0) - 0.25).max() < limit
    spread = 3 / 16 / (4 * a + 1)
    assert rows.var(axis=0).mean() == pytest.approx(spread, rel=0.35)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("logistic:clients=0", SpecError, "clients must be ≥ 1, got 0"),
        ("logistic:clients=1000", SpecError, "1000 clients need at least 1000 samples, the data has 569"),
        ("softmax:samples=12,clients=10,partition=class", SpecError, "at least 20 samples"),
        ("softmax:samples=100,clients=95,partition=dirichlet,a=0.01", SpecError, "take a larger a"),
        ("softmax:samples=99999", SpecError, "samples=99999, but digits has 1797"),
        ("softmax:partition=random", SpecError, "partition must be one of"),
        ("softmax:a=0.5", SpecError, "add partition=dirichlet"),
        ("softmax:partition=dirichlet,a=0", SpecError, "a must be ≥ 0.001"),
        ("softmax:batch=-1", SpecError, "batch must be between 0 and 1000000, got -1"),
        ("softmax:batch=1.5", SpecError, "batch must be an integer"),
        ("softmax:nu=-1", SpecError, "nu must be ≥ 0"),
        ("softmax:weights=none", SpecError, "weights must be one of equal, size, paper"),
        ("softmax:data=digit", SpecError, "did you mean digits?"),
        ("softmax:data=diabetes", DataError, "they are values, not classes"),
        ("softmax:positive=3", SpecError, "has no option 'positive'"),
        ("hinge:positive=77", SpecError, "'77' is not a class of digits"),
        ("hinge:positive=[0,1,2,3,4,5,6,7,8,9]", DataError, "has a single class"),
        ("hinge:owners=[0,1]", SpecError, "owners goes with features"),
        ("hinge:x0=[1,2]", SpecError, "x0 has 2 entries, the problem has dimension 65"),
        ("logistic:bach=3", SpecError, "did you mean batch?"),
    ],
)
def test_bad_options_are_answered_in_one_line(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        from_text(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": [1.0]}, "3 rows of features, but 1 targets"),
        ({"owners": [0, 0, 2]}, "client 1 owns no sample"),
        ({"owners": [0, 1]}, "for each of 3 samples"),
        ({"owners": [0, 0.5, 1]}, "one client number"),
        ({"partition": "iid"}, "owners or a partition, not both"),
        ({"data": "digits"}, "give data or features and targets, not both"),
        ({"clients": 3}, "clients=3, but owners names 2 clients"),
        ({"features": [[1.0], [2.0], ["x"]]}, "must be a number, got 'x'"),
    ],
)
def test_bad_inline_data_are_refused(changes: dict[str, Any], message: str) -> None:
    inline = {"features": [[1.0], [2.0], [3.0]], "targets": [0.0, 1.0, 0.0], "owners": [0, 0, 1]}
    with pytest.raises(SpecError) as caught:
        make("logistic", **(inline | changes))
    assert message in str(caught.value)
