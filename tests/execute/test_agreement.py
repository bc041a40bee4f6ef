"""Two executors agree until a slope jumps: the first step that they take from different pieces is found."""

import pytest
from run_makers import tape_of

from boundlab.case import problem_from
from boundlab.tape import Tape

torch = pytest.importorskip("torch", reason="torch is not installed: pip install boundlab[torch]")

from benchmarks.speed.agreement import agreement  # noqa: E402
from boundlab.simulate.tensors import tensors_of  # noqa: E402

CPU = torch.device("cpu")
KINKED = (
    "lad:clients=3,dimension=3,sigma=0.2,x0=2",
    "lad:clients=4,dimension=5,x0=1",
    "max-affine:clients=3,dimension=3,sigma=0.1,x0=1",
    "hinge:data=breast_cancer,clients=3,batch=5,nu=0.1",
    "lad-regression:data=diabetes,clients=3,batch=4",
    "quantile-regression:data=diabetes,clients=3,batch=4,quantile=0.3,sample_weight=bmi,scale=range",
)


def tapes_of(algorithm: str, settings: dict[str, str], clients: int, iterations: int) -> list[Tape]:
    words = (algorithm, settings, clients, iterations, "exponential:spread=3")
    return [tape_of(*words, seed=7, trial=trial) for trial in range(3)]


@pytest.mark.nightly
@pytest.mark.parametrize("spec", KINKED)
def test_slopes_are_of_the_same_pieces_for_thousands_of_steps(spec: str) -> None:
    problem = problem_from(spec)
    tapes = tapes_of("fedbuff", {"eta_l": "0.0137", "M": "3"}, problem.n, 700)
    for one in agreement(tapes, problem, tensors_of(problem, CPU, torch.float64), 7, CPU):
        assert one.steps > 2000
        assert one.parted is None, one.words
        assert one.difference < 1e-10


def test_the_first_slope_of_another_piece_is_told() -> None:
    # |x − 0.3| from 1 by steps of 1/10: in exact numbers the seventh ends on the kink, in floats beside it, and there
    # the two executors are put on either side by moving the kink by one part in 10^15 for one of them.
    problem, moved = problem_from("lad:c=[0.3],x0=1"), problem_from("lad:c=[0.300000000000001],x0=1")
    tapes = tapes_of("gd", {"alpha": "0.1"}, 1, 20)
    same = agreement(tapes, problem, tensors_of(problem, CPU, torch.float64), 7, CPU)
    assert {one.parted for one in same} == {None}
    other = agreement(tapes, problem, tensors_of(moved, CPU, torch.float64), 7, CPU)
    assert {one.parted for one in other} == {7}
    assert all(one.difference < 1e-14 for one in other)
    assert other[0].words.startswith(f"slope 8 of {other[0].steps} is the first from another piece")


def test_smooth_problems_have_no_other_piece() -> None:
    problem = problem_from("huber:clients=3,dimension=4,sigma=0.1,x0=2")
    tapes = tapes_of("fedcompass", {"eta": "0.01", "Qmin": "2", "Qmax": "6"}, 3, 50)
    for one in agreement(tapes, problem, tensors_of(problem, CPU, torch.float64), 7, CPU):
        assert one.parted is None
        assert one.difference < 1e-12
