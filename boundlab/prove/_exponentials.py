"""Symbols that stand for e^v: what is known of them is that exp is convex, increasing, and 1 at 0."""

import math
from dataclasses import replace
from fractions import Fraction

from boundlab.prove._context import FIRST, Context, Range
from boundlab.prove._errors import refused
from boundlab.prove._facts import Fact
from boundlab.prove._kernel import Kernel
from boundlab.prove._scalars import Number, Scalar, scalar, variable
from boundlab.prove._terms import expr
from boundlab.recheck import kernel as core


def exponential(kernel: Kernel, name: str, value: Number, index: str | None = None) -> Scalar:
    """Declare a symbol that stands for e^value, and return it; with an index a family, for all index ≥ 0.

    Parameters
    ----------
    value
        The exponent. A number with |value| ≤ 1 gives the symbol an enclosure of width below 10⁻¹⁵ as its range.
    index
        A symbol that the exponent depends on, whose range begins at 0.

    Raises
    ------
    ProofError
        If the exponent is not shown to have a value.
    """
    own, here = scalar(value), kernel.context
    constant = own.constant
    if constant is not None:
        low, high = enclosure(Fraction(constant))
        known = Range(low=scalar(low), high=scalar(high))
    else:
        positive = here.nonnegative(own)
        known = Range(low=scalar(1 if positive else 0), above=not positive or here.positive(own))
    if index is None:
        here.declare(name, known, exponent=own)
        return variable(name)
    here.declare(name, replace(known, arity=1, guarded=True), exponent=own.put({index: FIRST}))
    return variable(name, variable(index))


def exponent(kernel: Kernel, of: Number) -> Scalar:
    """Return v of a product of powers of such symbols, which is e^v.

    Raises
    ------
    ProofError
        If it is none.
    """
    own = scalar(of)
    with kernel.trial():
        return core.exponent_of(kernel.replay, own, kernel.context.checked)


def tangent(kernel: Kernel, of: Number, context: Context | None = None) -> Fact:
    """Return e^v ≥ 1 + v."""
    own = scalar(of)
    return kernel.make(expr(own) >= expr(1 + exponent(kernel, own)), context or kernel.context, "exp tangent", of=own)


def monotone(kernel: Kernel, small: Number, large: Number, context: Context | None = None) -> Fact:
    """Return e^v ≤ e^w, where v ≤ w is shown."""
    one, other = scalar(small), scalar(large)
    return kernel.make(expr(one) <= expr(other), context or kernel.context, "exp monotone", small=one, large=other)


def chord(kernel: Kernel, of: Number, share: Number, end: Number, context: Context | None = None) -> Fact:
    """Return e^(q·s) ≤ 1 − q + q·e^s, where 0 ≤ q ≤ 1 is shown: exp lies below its chord from 0 to s."""
    own, q, other = scalar(of), scalar(share), scalar(end)
    claim = expr(own) <= expr(1 - q + q * other)
    return kernel.make(claim, context or kernel.context, "exp chord", of=own, share=q, end=other)


def enclosure(value: Fraction) -> tuple[Fraction, Fraction]:
    """Return numbers between which e^value lies, for |value| ≤ 1."""
    with refused():
        low, high = core.enclosure(value)
    # A few digits suffice, and keep later products short.
    unit = 10**15
    return Fraction(math.floor(low * unit), unit), Fraction(math.ceil(high * unit), unit)
