"""What a plot of a comparison shows: all of it, apart, in mathematics, and beside its legend."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_makers import result_of

import boundlab as bl
from boundlab.compare.trials import trial_events
from boundlab.metrics import METRICS
from boundlab.pages.plots import new_figure, plain

LAD = ("lad:x0=3", "iid:p_s=0.5")
AT = {"iterations": [3, 6, 12], "M": 50}


@pytest.fixture(scope="module")
def curve() -> Any:
    return bl.compare("area.theorem8", *LAD, **AT)


@pytest.fixture(scope="module")
def repaired() -> Any:
    return bl.compare("area.theorem8.repaired", *LAD, **AT)


@pytest.fixture(scope="module")
def run() -> Any:
    there = ("huber:c=[[0],[1]],w=1,delta=1,x0=0.1667", "deterministic:rates=[1,0.2]")
    return bl.compare("fedcompass.window.b.noiseless", *there, iterations=200, trials=2, Qmin=1, Qmax=5, eta=0.0005)


def drawn(result: Any, **options: Any) -> tuple[Any, Any, Any]:
    figure, (axes, below) = new_figure(9.6, 5.6, panel=True)
    assert result.plot((axes, below), **options) is axes
    figure.canvas.draw()
    return figure, axes, below


@pytest.mark.nightly
def test_plots_of_every_result_draw_on_the_axes_that_are_given() -> None:
    for one in (*map(result_of, ("comparison", "horizons", "run", "rate")), result_of("worst case").function):
        figure, axes = new_figure()
        assert one.plot(ax=axes) is axes
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        assert axes.get_title()
        figure.canvas.draw()


def test_the_lower_panel_is_mean_over_bound_with_a_line_at_one(curve: Any) -> None:
    below = drawn(curve)[2]
    lines = [line.get_ydata() for line in below.get_lines()]
    ratios = [one.ratio[-1] for one in curve.comparisons]
    assert any(len(line) == 3 and np.allclose(line, ratios) for line in lines)
    assert any(np.array_equal(line, [1, 1]) for line in lines)
    assert below.get_ylim()[1] > max(ratios) > 1


@pytest.mark.nightly
def test_no_two_lines_look_alike_in_grey(curve: Any, repaired: Any, run: Any) -> None:
    for axes in (drawn(curve, others=[repaired])[1], drawn(run, terms=True)[1]):
        looks = [(one._dash_pattern, one.get_linewidth(), one.get_marker()) for one in axes.get_lines()]
        assert all(one != other for one, other in combinations(looks, 2))


def test_the_bound_is_the_broadest_line_and_lies_below_the_others(run: Any) -> None:
    lines = drawn(run, terms=True)[1].get_lines()
    assert lines[0].get_label() == "bound"
    assert all(one.get_linewidth() < lines[0].get_linewidth() for one in lines[1:])


@pytest.mark.nightly
def test_mean_and_bound_are_inside_the_axes_also_where_a_band_reaches_down_to_zero(curve: Any, run: Any) -> None:
    shown = ((curve, [one.bound[-1] for one in curve.comparisons]), (run, run.bound[run.plan.ks > 0]))
    for result, bound in shown:
        low, high = drawn(result, terms=True)[1].get_ylim()
        assert low < min(bound)
        assert max(bound) < high


def test_an_error_that_is_0_but_for_rounding_squashes_nothing() -> None:
    _, axes, below = drawn(bl.compare("classics.gd.convex", "huber:x0=10", iterations=200))
    assert axes.get_ylim()[0] > 0.05  # the bound falls to 0.12
    assert below.get_yscale() == "linear"
    assert below.get_xlabel() == "iteration $k$ (server updates)"


@pytest.mark.nightly
def test_the_legend_stands_below_the_data_which_have_the_whole_width(curve: Any, repaired: Any, run: Any) -> None:
    for figure, axes, below in (drawn(curve, others=[repaired]), drawn(run, terms=True), drawn(curve.comparisons[1])):
        legend, name = below.get_legend().get_window_extent(), below.xaxis.label.get_window_extent()
        assert figure.bbox.y0 <= legend.y0 <= legend.y1 <= name.y0
        assert figure.bbox.x0 <= legend.x0 <= legend.x1 <= figure.bbox.x1
        assert axes.get_window_extent().width > 0.85 * figure.bbox.width


def test_the_factor_of_a_mean_is_written_before_its_sum(run: Any) -> None:
    assert drawn(run)[1].get_ylabel().startswith(r"$(1/T)\,\sum")


def test_the_repaired_theorem_has_a_mean_of_its_own_where_its_run_is_another(curve: Any, repaired: Any) -> None:
    named = " ".join(text.get_text() for text in drawn(curve, others=[repaired])[2].get_legend().get_texts())
    assert "bound of\narea.theorem8.repaired" in named
    assert "mean under\narea.theorem8.repaired" in named
    assert "mean under" not in " ".join(
        text.get_text() for text in drawn(curve, others=[curve])[2].get_legend().get_texts()
    )


def test_the_bound_of_another_theorem_is_drawn_where_it_speaks(curve: Any) -> None:
    fewer = bl.compare("area.theorem8.repaired", *LAD, iterations=[3, 6], M=50)
    lines = {one.get_label(): one for one in drawn(curve, others=[fewer])[1].get_lines()}
    assert lines["bound of\narea.theorem8.repaired"].get_xdata().tolist() == [3, 6]
    assert lines["bound"].get_xdata().tolist() == [3, 6, 12]


def test_a_single_horizon_is_a_point_in_both_panels(curve: Any) -> None:
    _, axes, below = drawn(curve.comparisons[1])
    assert [tick.get_text() for tick in below.get_xticklabels()] == ["$K = 6$"]
    assert "1.18" in [one.get_text() for one in below.texts]
    assert axes.get_ylim()[1] > curve.comparisons[1].band.mean[-1]


def test_every_left_side_can_be_set_as_mathematics() -> None:
    for metric in METRICS.values():
        figure, axes = new_figure()
        axes.set_ylabel(f"${metric.latex}$")
        figure.canvas.draw()


def test_no_text_of_a_user_is_read_as_mathematics() -> None:
    figure, axes = new_figure()
    axes.set_title(plain(r"mine: $\nothing{ and $x_"))
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("spec", "far", "gap"), [("quadratic:A=[[[2]]],b=[[1]],x0=4", 3.0, 9.0), ("lad:x0=0", 0.0, 0.0)]
)
def test_a_plot_of_a_function_names_the_curve_and_the_start(spec: str, far: float, gap: float) -> None:
    figure, axes = new_figure()
    assert bl.problem(spec).plot(axes) is axes
    figure.canvas.draw()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["f(x) − f*", f"x₀: f(x₀) − f* = {gap:g}"]
    curve, start = axes.get_lines()[:2]
    assert (start.get_xdata()[0], start.get_ydata()[0]) == pytest.approx((far, gap))
    assert curve.get_ydata().min() == pytest.approx(0.0, abs=1e-2)


# ---- over time --------------------------------------------------------------------------------------------------


def points(axes: Any) -> np.ndarray:
    """Return where the mean is drawn."""
    (found,) = (line.get_xdata() for line in axes.get_lines() if line.get_label().startswith(("mean of ", "value on ")))
    return np.asarray(found)


@pytest.mark.nightly
def test_over_time_an_iteration_stands_where_it_ends() -> None:
    # A client with rate 2 ends iteration k at k/2; two of them fill buffers of three at 1, 3/2, 5/2 and 3.
    one = ("fedbuff.rf1", "huber:clients=1,x0=2", "deterministic:rates=[2]")
    found = bl.compare(*one, iterations=20, trials=2, eta_l=0.01)
    _, axes, below = drawn(found, axis="time")
    assert points(axes).tolist() == [k / 2 for k in found.plan.ks]
    assert "time" in below.get_xlabel()
    assert points(drawn(found)[1]).tolist() == found.plan.ks.tolist()
    two = ("fedbuff.rf1", "huber:clients=2,x0=2", "deterministic:rates=[2,2]")
    found = bl.compare(*two, iterations=4, trials=2, eta_l=0.01, count=3)
    assert found.plan.ks.tolist() == [1, 2, 3, 4]
    assert points(drawn(found, axis="time")[1]).tolist() == [1, 1.5, 2.5, 3]


@pytest.mark.nightly
def test_over_time_clocks_are_averaged_over_the_trials() -> None:
    found = bl.compare("fedbuff.rf1", "huber:clients=2,x0=2", "exponential", iterations=9, trials=3, eta_l=0.01)
    times = [trial_events(found.plan, found.seed, trial).time for trial in range(3)]
    expected = np.mean([[one[k - 1] for k in found.plan.ks] for one in times], axis=0)
    assert points(drawn(found, axis="time")[1]) == pytest.approx(expected)
    each = {"iterations": [2, 8], "eta_l": 0.01}
    curve = bl.compare("fedbuff.rf1", "huber:clients=2,x0=2", "deterministic:rates=[4,4]", **each)
    assert points(drawn(curve, axis="time")[1]).tolist() == [0.25, 1]


def test_over_time_what_is_ignored_takes_its_time() -> None:
    # Gradients take 1 and 5/2. A batch of three is full at 5/2; client 0 comes in vain at 3, and counts at 4 and 5.
    rennala = Path(__file__).parents[2] / "benchmarks" / "literature" / "theorems" / "tyurin-2023.rennala.toml"
    there = ("huber:c=[0,0],x0=2", "deterministic:rates=[1,0.4]")
    found = bl.compare(rennala, *there, iterations=2, trials=2, settings={"eps": 100, "count": 3})
    assert points(drawn(found, axis="time")[1]).tolist() == [2.5, 5]
