"""Symbols that stand for a root of any degree, one number or a family of them."""

from boundlab.prove._context import FIRST, Range
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Number, scalar, variable
from boundlab.prove._terms import equal, expr


def power_root(
    kernel: Kernel,
    name: str,
    of: Number,
    degree: int,
    index: str | None = None,
    low: Number = 0,
    high: Number | None = None,
) -> Fact:
    """Return symbol^degree = value for a new symbol ≥ 0, with an index for a family of them, for all index ≥ 0.

    Parameters
    ----------
    low, high
        Ends of its range, at least 0; that the value lies between their powers is shown.

    Raises
    ------
    ProofError
        If the value may be negative, or outside.
    """
    value, here = scalar(of), kernel.context
    if degree < 1:
        raise ProofError("the degree of a root is at least 1")
    here.defined(value)
    ends = scalar(low), None if high is None else scalar(high)
    kernel.need(value, here, f"{name} is the root of what may be negative")
    kernel.need(ends[0], here, f"the range of {name} begins below 0")
    kernel.need(value - ends[0] ** degree, here, f"{name} may be below its range")
    if ends[1] is not None:
        kernel.need(ends[1], here, f"the range of {name} ends below 0")
        kernel.need(ends[1] ** degree - value, here, f"{name} may be above its range")
    above = ends[0].zero and bool(here.positive(value))
    if index is None:
        here.declare(name, Range(*ends, above=above))
        here.narrowed.add(name)
        here.meaning[name] = value.names()
        symbol = variable(name)
        kernel.keep_root(name, value, degree)
    else:
        its = here.find(index)
        if its is None or its.low is None or not its.low.zero or its.high is not None or not its.integer:
            raise ProofError(f"{index} is to run through all whole numbers ≥ 0")
        kernel.unmoved(index, value.names(), here)
        if any(end is not None and index in here.closure(end.names()) for end in ends):
            raise ProofError(f"the range of {name} depends on {index}")
        here.declare(name, Range(*ends, above=above, arity=1, guarded=True))
        here.meaning[name] = value.names() - {index}
        symbol = variable(name, variable(index))
        kernel.keep_root(name, value.put({index: FIRST}), degree)
    return kernel.make(
        equal(expr(symbol**degree), value), here, "power root", name=name, index=index, value=value, degree=degree
    )
