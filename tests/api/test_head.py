"""The last layer of a network as a convex problem: its value is the network's mean loss."""

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import boundlab as bl
from boundlab.case import build_problem
from boundlab.errors import MissingExtraError, SpecError

torch = pytest.importorskip("torch", reason="a network needs torch")
nn = torch.nn
SAMPLES = torch.arange(24.0).reshape(6, 4).sin()
LABELS = [0, 1, 2, 1, 0, 2]


def network(*last: Any, outputs: int = 3, bias: bool = True) -> Any:
    torch.manual_seed(1)
    body = (nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.5))
    return nn.Sequential(*body, nn.Linear(5, outputs, bias=bias), *last)


@pytest.mark.parametrize("bias", [True, False])
def test_its_value_at_the_weights_of_the_layer_is_the_mean_cross_entropy(bias: bool) -> None:
    net = network(bias=bias)
    problem = bl.problem_from_head(net, SAMPLES, LABELS, clients=1, nu=0)
    head = net[-1]
    parts = [head.weight.T, *([head.bias[None]] if bias else [])]
    weights = torch.cat(parts).detach().double().numpy()
    net.eval()
    loss = nn.functional.cross_entropy(net(SAMPLES), torch.tensor(LABELS)).item()
    assert problem.d == weights.size
    assert problem.value(weights.ravel()) == pytest.approx(loss, rel=1e-6)


@pytest.mark.parametrize(
    ("loss", "targets"), [("logistic", [0, 1, 1, 0, 1, 0]), ("least-squares", [0.5, 1, 2, 3, 1, 0])]
)
def test_a_layer_of_one_output_has_losses_of_its_margin(loss: str, targets: list[float]) -> None:
    net = network(outputs=1)
    problem = bl.problem_from_head(net, SAMPLES.numpy(), np.array(targets), loss, by=["10", "9", "9", "10", "9", "10"])
    with torch.no_grad():
        rows = net[:-1].eval()(SAMPLES).double()
    same = build_problem(
        loss, {"features": rows.tolist(), "targets": targets, "owners": [1, 0, 0, 1, 0, 1], "bias": True}
    )
    assert problem.spec() == same.spec()
    assert problem.n == 2


def test_the_network_stays_as_it_was_and_the_problem_holds_no_part_of_it() -> None:
    net = network()
    net[1].eval()
    before = {name: one.clone() for name, one in net.state_dict().items()}
    problem = bl.problem_from_head(net, SAMPLES, LABELS, clients=2)
    assert [one.training for one in net] == [True, False, True, True, True]
    assert all(torch.equal(one, before[name]) for name, one in net.state_dict().items())
    assert not any(one._forward_hooks for one in net.modules())
    letter = pickle.dumps(problem)
    assert b"torch" not in letter
    assert pickle.loads(letter).spec() == problem.spec()  # noqa: S301


def test_many_samples_go_through_the_network_in_parts() -> None:
    net, X = network(), torch.randn(2500, 4, generator=torch.Generator().manual_seed(2))
    problem = bl.problem_from_head(net, X, np.arange(2500) % 3, by=[0] * 2500)
    with torch.no_grad():
        assert np.allclose(problem.X[:, :-1], net[:-1].eval()(X).numpy(), rtol=1e-5, atol=1e-6)  # type: ignore[attr-defined]


def test_a_linear_layer_alone_is_its_own_head() -> None:
    problem = bl.problem_from_head(nn.Linear(4, 3).double(), SAMPLES.tolist(), torch.tensor(LABELS), clients=2)
    assert problem.d == 15


class Twice(nn.Module):
    """Goes through its only layer two times."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.layer(torch.tanh(self.layer(x)))


class Other(nn.Linear):
    """Is called a linear layer, and squares."""

    def forward(self, x: Any) -> Any:
        return super().forward(x) ** 2


class Chance(nn.Module):
    """Draws in evaluation mode, too."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        return self.layer(nn.functional.dropout(x, 0.5, training=True))


ENDS = "must end in a torch.nn.Linear whose output is the network's, unchanged"


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (lambda: network(nn.Softmax(1)), {}, ENDS),
        (lambda: network(nn.ReLU(inplace=True)), {}, ENDS),
        (lambda: nn.Sequential(nn.Linear(4, 3), Other(3, 3)), {}, ENDS),
        (lambda: nn.Sequential(nn.Flatten()), {}, ENDS),
        (lambda: nn.LSTM(4, 3), {}, ENDS),
        (Twice, {"y": [0, 1, 2, 3, 0, 1]}, "depends on the layer's own weights, or on chance"),
        (Chance, {}, "depends on the layer's own weights, or on chance"),
        (lambda: nn.Linear(4, 3), {"X": torch.ones(6, 2, 4)}, "has shape (6, 2, 4); it needs one row a sample"),
        (lambda: nn.Linear(5, 3), {}, "cannot be called on X: mat1 and mat2"),
        (network, {"y": [0, 1, 0, 1, 0, 1]}, "has 3 outputs; softmax needs 2 outputs, one for each class of y"),
        (network, {"loss": "logistic"}, "has 3 outputs; logistic needs 1 output"),
        (network, {"loss": "sofmax"}, "did you mean softmax?"),
        (network, {"loss": "quadratic"}, "is no problem on data"),
        (network, {"y": [0, 1]}, "a row for each entry of y, got shapes (6, 4) and (2,)"),
        (network, {"X": [[1.0], [1.0, 2.0]]}, "X and y must be tensors, or what becomes one"),
        (network, {"by": ["a"]}, "one client number 0, 1, … for each of 6 samples"),
        (network, {"by": ["a"] * 6, "clients": 2}, "clients=2, but owners names 1 clients"),
        (network, {"X": SAMPLES * float("nan")}, "must be a finite number"),
        (lambda: None, {}, "must be a torch.nn.Module, got a NoneType"),
    ],
)
def test_a_network_without_such_a_layer_is_refused(
    make: Callable[[], Any], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(SpecError) as caught:
        bl.problem_from_head(make(), **{"X": SAMPLES, "y": LABELS, **options})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_torch_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'boundlab\[torch\]'"):
        bl.problem_from_head(None, [], [])  # type: ignore[arg-type]


def test_samples_stay_as_they_were_where_a_layer_writes_into_them() -> None:
    given = SAMPLES.clone()
    bl.problem_from_head(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 3)), given, LABELS, clients=2)
    assert torch.equal(given, SAMPLES)
