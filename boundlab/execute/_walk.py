"""A tape executed by one loop, for Numba to compile; with ``proved`` an error of each register goes along.

How far the floats of a register are at most from the vector without rounding: of a combination the errors of its terms
and what rounding adds; of local steps as :class:`boundlab.objective.StepBounds` says. The difference of a result and of
the register where its steps began is the sum of these steps, whose error is that of the gradients alone: without that,
errors would double with every update. Where another difference is taken the loop gives up, and
:mod:`boundlab.execute.enclosed`, which looks further, is asked.
"""

import math
from typing import Any, NamedTuple

from boundlab.arithmetic.compiled import (
    ABSOLUTE,
    BALL,
    BATCHES,
    BOX,
    GAUSSIAN,
    HINGE,
    HUBER,
    L1,
    LOGISTIC,
    NOTHING,
    POISSON,
    PSEUDO_HUBER,
    QUADRATIC,
    QUANTILE,
    SEPARABLE,
    SIGNS,
    SOFTMAX,
    SQUARED_HINGE,
    Clients,
)
from boundlab.execute.enclosed import EPS, TINY, UP
from boundlab.objective import step_growth, step_moved, step_rounding
from boundlab.tape import Op

_AFFINE, _DESCEND = int(Op.AFFINE), int(Op.DESCEND)
DONE, DRAW, SHOW, GAVE_UP = range(4)  # why the loop stops: at the end, for random numbers, for room, for good
# Where the loop is: instruction, combination, row of local steps, record; the first row with random numbers and the row
# after the last one; the first record that is shown; how many values were written.
NOW, COMBINATION, ROW, RECORD, DRAWN, UNTIL, SHOWN, VALUES = range(8)


class Listing(NamedTuple):
    """The columns of a tape, numbers in the type of the registers."""

    op: Any
    dst: Any
    start: Any
    src: Any
    coef: Any
    to: Any
    begin: Any
    client: Any
    steps: Any
    size: Any
    local: Any
    shows: Any


class Errors(NamedTuple):
    """Errors of all registers, and what local steps do to them.

    Parameters
    ----------
    off, norm
        How far a register is off, and its norm from above.
    value, began, moved
        Which value it holds, which one its local steps began at, and how far their sum is off.
    mu, L, offset, slope, proximal
        One a client: its :class:`boundlab.objective.StepBounds`.
    shown
        How far records are off.
    ulp
        The precision of the registers.
    steep
        Shape (2, rows), (2, 0) where nobody asks: each row's largest ‖g‖ as computed, and one from above.
    """

    off: Any
    norm: Any
    value: Any
    began: Any
    moved: Any
    mu: Any
    L: Any
    offset: Any
    slope: Any
    proximal: Any
    shown: Any
    ulp: float
    steep: Any


def walk(
    program: Listing,
    clients: Clients,
    registers: Any,
    noise: Any,
    batch: Any,
    shown: Any,
    work: Any,
    at: Any,
    proved: bool,
    errors: Errors,
) -> int:
    """Go on from ``at`` until something is missed.

    Parameters
    ----------
    noise, batch
        Random numbers of the next rows of local steps: shape (B, steps, d or 1), and row numbers, (B, steps, b), −1
        where there are fewer; the one that is not drawn is empty.
    shown
        Shape (records, d): records are written there.
    work
        Shape (3, d or more): room to work in.
    at
        Where it is: a column of whole numbers, by :data:`NOW` … :data:`VALUES`.
    """
    for now in range(at[NOW], len(program.op)):
        at[NOW] = now
        op = program.op[now]
        if op == _AFFINE:
            if proved and not _prove_combination(program, errors, at):
                return GAVE_UP
            _combine(program, registers, work, at[COMBINATION])
            if proved:
                dst = program.dst[at[COMBINATION]]
                errors.norm[dst] = _norm(registers[dst]) + errors.off[dst]
            at[COMBINATION] += 1
        elif op == _DESCEND:
            row = at[ROW]
            if row >= at[UNTIL]:
                return DRAW
            _descend(program, clients, registers, noise, batch, work, row, row - at[DRAWN], proved, errors, at)
            at[ROW] += 1
        else:
            place = at[RECORD] - at[SHOWN]
            if place >= len(shown):
                return SHOW
            source = program.shows[at[RECORD]]
            for j in range(registers.shape[1]):
                shown[place, j] = registers[source, j]
            if proved:
                errors.shown[place] = errors.off[source]
            at[RECORD] += 1
    at[NOW] = len(program.op)
    return DONE


def _combine(program: Listing, registers: Any, work: Any, row: int) -> None:
    """Write a linear combination of registers."""
    d, dst, first, last = registers.shape[1], program.dst[row], program.start[row], program.start[row + 1]
    again = False
    for term in range(first + 1, last):
        again = again or program.src[term] == dst
    out = work[0] if again else registers[dst]
    if first == last:
        for j in range(d):
            out[j] = 0.0
    else:
        source, coef = registers[program.src[first]], program.coef[first]
        if coef != 1.0:
            for j in range(d):
                out[j] = coef * source[j]
        elif again or program.src[first] != dst:
            for j in range(d):
                out[j] = source[j]
    for term in range(first + 1, last):
        source, coef = registers[program.src[term]], program.coef[term]
        for j in range(d):
            out[j] += coef * source[j]
    if again:
        for j in range(d):
            registers[dst, j] = out[j]


def _descend(
    program: Listing,
    clients: Clients,
    registers: Any,
    noise: Any,
    batch: Any,
    work: Any,
    row: int,
    place: int,
    proved: bool,
    errors: Errors,
    at: Any,
) -> None:
    """Do the local steps of a row."""
    d, src, dst, client = registers.shape[1], program.begin[row], program.to[row], program.client[row]
    x = registers[dst]
    off, moved, before = 0.0, 0.0, 0.0
    if proved:
        off, before = errors.off[src], _norm(registers[src])
        began = errors.value[src]
    if src != dst:
        for j in range(d):
            x[j] = registers[src, j]
    for q in range(program.steps[row]):
        size = program.size[row]
        if len(program.local):
            size = size * program.local[q]
        _step(clients, x, client, size, noise, batch, place, q, work)
        if proved:
            after = _norm(x)
            lost = size * (errors.offset[client] + errors.slope[client] * (before + after))
            proximal = errors.proximal[client]
            rounding = step_rounding(before, after, lost, len(x), errors.ulp, proximal) + TINY
            growth = step_growth(size, errors.mu[client], errors.L[client])
            if errors.steep.shape[1]:
                norm, more = _norm(work[1, :d]), lost / size + errors.L[client] * off
                errors.steep[0, row] = max(errors.steep[0, row], norm)
                errors.steep[1, row] = max(errors.steep[1, row], (norm + more) * UP)
            lipschitz = step_moved(size, errors.L[client], growth, proximal)
            moved += lipschitz * off + rounding
            off = (growth * off + rounding) * UP
            before = after
    if proved:
        errors.off[dst], errors.norm[dst], errors.moved[dst] = (
            off,
            before + off,
            moved * (UP + 1e-15 * program.steps[row]),
        )
        errors.began[dst] = began
        at[VALUES] += 1
        errors.value[dst] = at[VALUES]


def _step(
    clients: Clients, x: Any, client: int, size: float, noise: Any, batch: Any, place: int, q: int, work: Any
) -> None:
    """Do x ← prox_{size·h}(x − size·g_client(x))."""
    d, kind = len(x), clients.kind
    slope = work[1]
    if kind == SEPARABLE:
        for j in range(d):
            slope[j] = clients.a[client, j] * _slope(clients.loss, x[j] - clients.b[client, j], clients.width)
    elif kind == QUADRATIC:
        slope[:] = 0.0
        for k in range(d):
            away = x[k] - clients.b[client, k]
            for j in range(d):
                slope[j] += clients.a[client * d + k, j] * away
    else:
        _of_samples(clients, x, client, batch, place, q, slope, work[2])
    if clients.drawn == GAUSSIAN:
        for j in range(d):
            slope[j] += noise[place, q, j]
    elif clients.drawn == SIGNS:
        for j in range(d):
            slope[j] += noise[place, q, 0] * clients.vector[j]
    for j in range(d):
        x[j] -= size * slope[j]
    if clients.simple != NOTHING:
        _project(clients, x, size)


def _slope(loss: int, r: float, width: float) -> float:
    """Return φ'(r) of the losses of :mod:`boundlab.problems.clients`, 0 at a kink."""
    if loss == HUBER:
        return _clip(r, -width, width)
    if loss == PSEUDO_HUBER:
        t = r / width
        square = 1.0 + t * t
        return r / (math.sqrt(square) if square < math.inf else abs(t))
    if loss == ABSOLUTE:
        return 1.0 if r > 0.0 else -1.0 if r < 0.0 else r * 0.0
    if loss == QUANTILE:
        return 1.0 - width if r > 0.0 else -width if r < 0.0 else r * 0.0
    if loss == HINGE:
        return -1.0 if r < 1.0 else 0.0
    if loss == SQUARED_HINGE:
        return -2.0 * _clip(1.0 - r, 0.0, width)
    if loss == LOGISTIC:
        return 0.5 * (math.tanh(0.5 * r) - 1.0)
    return r


def _of_samples(
    clients: Clients, x: Any, client: int, batch: Any, place: int, q: int, slope: Any, margins: Any
) -> None:
    """Write w_i·(the mean over drawn rows of the losses' gradients + ν·x) into ``slope``."""
    d, width, first, count = len(x), clients.classes, clients.first[client], clients.size[client]
    if clients.drawn == BATCHES:
        count = 0
        while count < batch.shape[2] and batch[place, q, count] >= 0:
            count += 1
    slope[:] = 0.0
    features = d // width
    for one in range(count):
        row = batch[place, q, one] if clients.drawn == BATCHES else first + one
        for k in range(width):
            margins[k] = 0.0
        for p in range(features):
            entry = clients.a[row, p]
            for k in range(width):
                margins[k] += entry * x[p * width + k]
        _margin_slopes(clients, row, margins)
        heft = clients.relative[row if len(clients.relative) > 1 else 0]
        for p in range(features):
            entry = heft * clients.a[row, p]
            for k in range(width):
                slope[p * width + k] += entry * margins[k]
    factor = clients.factor[client]
    for j in range(d):
        slope[j] = factor * (slope[j] / count + clients.nu[j] * x[j])


def _margin_slopes(clients: Clients, row: int, margins: Any) -> None:
    """Turn margins into the derivatives of a row's loss."""
    if clients.loss == SOFTMAX:
        top, total = margins[0], 0.0
        for k in range(clients.classes):
            top = max(top, margins[k])
        for k in range(clients.classes):
            margins[k] = math.exp(margins[k] - top)
            total += margins[k]
        for k in range(clients.classes):
            margins[k] /= total
        margins[int(clients.b[row, 0])] -= 1.0
    elif clients.loss == POISSON:
        margins[0] = math.exp(_clip(margins[0], -math.inf, clients.b[row, 1])) - clients.b[row, 0]
    elif clients.loss == HINGE or clients.loss == LOGISTIC or clients.loss == SQUARED_HINGE:
        target = clients.b[row, 0]
        margins[0] = target * _slope(clients.loss, target * margins[0], clients.width)
    else:
        margins[0] = _slope(clients.loss, margins[0] - clients.b[row, 0], clients.width)


def _project(clients: Clients, x: Any, size: float) -> None:
    """Do x ← prox_{size·h}(x)."""
    if clients.simple == L1:
        threshold = size * clients.high
        for j in range(len(x)):
            x[j] -= _clip(x[j], -threshold, threshold)
    elif clients.simple == BOX:
        for j in range(len(x)):
            x[j] = _clip(x[j], clients.low, clients.high)
    elif clients.simple == BALL:
        total = 0.0
        for j in range(len(x)):
            total += float(x[j]) * float(x[j])
        norm = math.sqrt(total)
        if norm > clients.high:
            for j in range(len(x)):
                x[j] *= clients.high / norm


def _clip(r: float, low: float, high: float) -> float:
    """Return the nearest number to r in [low, high]; what is no number stays so."""
    return low if r < low else high if r > high else r


def _norm(x: Any) -> float:
    """Return the norm from above."""
    total = 0.0
    for j in range(len(x)):
        total += float(x[j]) * float(x[j])
    return math.sqrt(total) * (1.0 + (len(x) + 8) * EPS)


def _prove_combination(program: Listing, errors: Errors, at: Any) -> bool:
    """Write how far a combination will be off; return whether that is known well enough."""
    row = at[COMBINATION]
    dst, first, last = program.dst[row], program.start[row], program.start[row + 1]
    if last == first + 1 and program.coef[first] == 1.0:  # the same value in another register
        src = program.src[first]
        errors.off[dst], errors.value[dst] = errors.off[src], errors.value[src]
        errors.began[dst], errors.moved[dst] = errors.began[src], errors.moved[src]
        return True
    off, sizes, whole = 0.0, 0.0, last == first + 2  # of two terms the shares may differ
    term = first
    while term < last:
        weight, src = abs(program.coef[term]), program.src[term]
        sizes += weight * errors.norm[src]
        paired = term + 1 < last and (program.coef[term] < 0.0) != (program.coef[term + 1] < 0.0)
        if paired:
            plus = term if program.coef[term] > 0.0 else term + 1
            minus = 2 * term + 1 - plus
            result, start = program.src[plus], program.src[minus]
            equal = whole or program.coef[plus] == -program.coef[minus]
            paired = equal and errors.began[result] == errors.value[start]
        if paired:  # a result less the register where its steps began
            share = min(program.coef[plus], -program.coef[minus])
            off += share * errors.moved[result] + (program.coef[plus] - share) * errors.off[result]
            off += (-program.coef[minus] - share) * errors.off[start]
            sizes += abs(program.coef[term + 1]) * errors.norm[program.src[term + 1]]
            term += 2
        elif program.coef[term] < 0.0:
            return False
        else:
            off += weight * errors.off[src]
            term += 1
    terms = last - first
    off = (off + (terms + 2) * errors.ulp * sizes + TINY) * (UP + 1e-15 * terms)
    at[VALUES] += 1
    errors.off[dst], errors.value[dst], errors.began[dst], errors.moved[dst] = off, at[VALUES], -1, math.inf
    return True
