"""Server models as averages of results of local passes, read off tapes as affine forms over what Descend gives."""

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import pytest

from boundlab.delays import read_policy
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events, events_of
from boundlab.execute import Combine, Update, own_numbers, rows
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import Initial, RecordAt

X0 = -1  # the symbol of the start; row j of Descend is the symbol j


@dataclass(frozen=True)
class Form:
    """Σ coefficient·symbol."""

    parts: dict

    def depth(self, depths):
        return max((depths[symbol] for symbol, coef in self.parts.items() if coef), default=0)


def combine(terms, registers):
    parts = {}
    for coef, register in terms:
        for symbol, own in registers[register].parts.items():
            parts[symbol] = parts.get(symbol, 0.0) + coef * own
    return Form(parts)


def shown_forms(tape):
    """Return the form of every record, and how many passes lie behind each symbol."""
    registers = [Form({X0: 1.0}) if one == Initial.START else Form({}) for one in tape.initial]
    depths, shown = {X0: 0}, []
    for row in rows(tape, own_numbers(tape)):
        if isinstance(row, Combine):
            registers[row.dst] = combine(row.terms, registers)
        elif isinstance(row, Update):
            depths[row.row] = 1 + registers[row.src].depth(depths)
            registers[row.dst] = Form({row.row: 1.0})
        else:
            shown.append(registers[row.src])
    return shown, depths


def parameters_of(name, **options):
    algorithm = lookup("algorithms", name)
    return algorithm, algorithm.read(Options(name, {"alpha": 0.1, **options}))


def event_lists(name, length, clients=2, **options):
    """Give every event list of so many iterations."""
    if name == "incremental":
        for orders in product(permutations(range(clients)), repeat=length):
            yield events_of(np.arange(1.0, len(orders) + 1.0), [(SERVER, *order) for order in orders])
        return
    actors = [*range(clients)]
    if name == "area" and "count" not in options:
        actors.append(SERVER)
    if name == "gd" and options.get("sampling", "all") == "all":
        actors = [SERVER]
    for actor in product(actors, repeat=length):
        yield Events(np.arange(1.0, length + 1.0), np.array(actor, dtype=np.int32))


CASES = [
    ("area", {"start": "analysis"}),
    ("area", {"start": "algorithm"}),
    ("area", {"start": "analysis", "count": 1}),
    ("area", {"start": "analysis", "count": 1, "reply": "post"}),
    ("area", {"start": "algorithm", "count": 1, "reply": "post"}),
    ("area", {"start": "algorithm", "count": 2, "reply": "post"}),
    ("gd", {"sampling": "uniform"}),
    ("gd", {"sampling": "all", "M": 2}),
    ("incremental", {"order": "shuffled"}),
]
LENGTH = 6


@pytest.mark.sweep(11)
@pytest.mark.parametrize("average", [False, True], ids=["iterates", "average iterates"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_every_model_is_a_convex_combination_of_x0_and_passes_no_deeper_than_said(name, options, average):
    algorithm, parameters = parameters_of(name, **options)
    averages = algorithm.averages(parameters, 2)
    length = 4 if name == "incremental" else LENGTH
    ks = np.arange(int(average), length + 1)
    said = averages.mean_depth(ks) if average else averages.depth(ks)
    per_pass = 2 if name == "incremental" else 1  # there a pass is one row of Descend a client
    deepest = np.zeros(len(ks))
    for events in event_lists(name, length, **options):
        tape = algorithm.schedule(parameters, events, 2, RecordAt(ks, average), length)
        shown, depths = shown_forms(tape)
        assert len(shown) == len(ks)
        for place, form in enumerate(shown):
            coefficients = np.array(list(form.parts.values()))
            assert coefficients.min() >= -1e-15
            assert coefficients.sum() == pytest.approx(1.0, abs=1e-12)
            mean = sum(coef * depths[symbol] for symbol, coef in form.parts.items()) / per_pass
            deep = mean if average else form.depth(depths) / per_pass
            assert deep <= said[place] + 1e-12
            deepest[place] = max(deepest[place], deep)
    if not average and "count" not in options:
        assert (deepest == said).all()  # no smaller number would do


def test_the_registers_of_area_are_differences_that_only_the_identity_turns_into_an_average():
    algorithm, parameters = parameters_of("area", start="algorithm")
    model = lookup("delays", "iid").build(Options("delays", {"p_s": "0.3"}), 3)
    events = algorithm.sample(parameters, model, read_policy(None, model), Streams(3), 3, 300)
    tape = algorithm.schedule(parameters, events, 3, RecordAt(np.arange(301)), 300)
    shown, _ = shown_forms(tape)
    for form in shown:
        coefficients = np.array([coef for coef in form.parts.values() if abs(coef) > 1e-12])
        assert coefficients.min() > 0.0
        assert coefficients.sum() == pytest.approx(1.0)


def test_the_mean_depth_is_the_mean_of_the_depths():
    for name, options in CASES:
        algorithm, parameters = parameters_of(name, **options)
        averages = algorithm.averages(parameters, 2)
        for k in range(1, 30):
            assert averages.mean_depth(np.array([k]))[0] == pytest.approx(averages.depth(np.arange(k)).mean())


def test_the_step_size_is_the_largest_of_the_run():
    algorithm = lookup("algorithms", "area")
    parameters = algorithm.read(Options("area", {"c": 1, "d": 4}))
    assert algorithm.averages(parameters, 2).step_size == 0.25
    events = Events(np.arange(1.0, 6.0), np.array([0, 1, SERVER, 0, 1], dtype=np.int32))
    tape = algorithm.schedule(parameters, events, 2, RecordAt(np.arange(6)), 5)
    assert tape.descend.step_size.max() <= 0.25


def test_algorithms_that_add_changes_to_the_model_do_not_claim_to_average():
    for name in ("fedbuff", "fedasync", "async_sgd", "rennala", "ringmaster", "heavy-ball"):
        try:
            algorithm = lookup("algorithms", name)
        except SpecError:
            continue
        assert algorithm.averages(None, 2) is None
