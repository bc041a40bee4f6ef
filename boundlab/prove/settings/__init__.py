"""How runs move, for each algorithm that proofs know: generated statements, of runs that are in its class."""

from collections.abc import Callable

from boundlab.classes import CLIENTS, outside
from boundlab.errors import SpecError
from boundlab.prove._scalars import ProofError
from boundlab.prove.setting import Setting, chosen
from boundlab.prove.settings import _instances as exact
from boundlab.prove.settings.area import AreaSetting, DelayedSetting, GdSetting, Proximal
from boundlab.prove.settings.buffered import BufferSetting, PrintedBuffers, StationarySetting
from boundlab.prove.settings.tapes import AflDgaSetting, FedCompassSetting, FedFaSetting, PrintedFedCompass
from boundlab.theorems import Theorem


def _composite(theorem: Theorem) -> bool:
    """Return whether a theorem is about F = f + h; raise where its constants are those on a set alone."""
    if "bounded-domain" in theorem.core.assumed:
        raise SpecError(f"{theorem.id}: proofs know constants of functions on all of R^d, not those on a set alone")
    return "composite" in theorem.core.assumed


def _gd(theorem: Theorem) -> Setting:
    if not _composite(theorem):
        instances = exact.SMOOTH if "smooth" in theorem.core.assumed else exact.LIPSCHITZ
        return GdSetting(theorem, "gd_diminishing" if "c" in theorem.step else "gd", instances)
    if "c" in theorem.step:
        raise SpecError(f"{theorem.id}: proofs about proximal steps know one size of them, alpha")
    return Proximal(theorem, "proximal_gradient" if "one-function" in theorem.core.assumed else "projected_drawn")


def _nesterov(theorem: Theorem) -> Setting:
    plain = "fista" if _composite(theorem) else "nesterov"
    return Setting(theorem, "nesterov_strong" if "q" in theorem.step else plain)


def _area(theorem: Theorem) -> Setting:
    if "alpha" in theorem.step:
        return AreaSetting(theorem, "area", exact.LIPSCHITZ)
    return AreaSetting(theorem, "area_diminishing", exact.DIMINISHING)


def _fedcompass(theorem: Theorem) -> Setting:
    if theorem.of_paper:
        return PrintedFedCompass(theorem, "printed_fedcompass", exact.FEDCOMPASS)
    return FedCompassSetting(theorem, "fedcompass", exact.FEDCOMPASS)


def _fedfa(theorem: Theorem) -> Setting:
    mode = "fedfa_delta" if theorem.core.value("mode") == "delta" else "fedfa_param"
    return FedFaSetting(theorem, "printed_fedfa" if theorem.of_paper else mode, exact.FEDFA)


def _buffered(theorem: Theorem) -> Setting:
    if theorem.of_paper:
        return PrintedBuffers(theorem, "printed_buffers", exact.PRINTED)
    if "stationary-participation" in theorem.core.assumed:
        return StationarySetting(theorem, "stationary", exact.STATIONARY)
    # Weights that follow the staleness are those of FedStaleWeight.
    fits = [
        one
        for one in exact.BUFFERED
        if theorem.algorithm == "fedstaleweight" or {"scale", "window", "include"}.isdisjoint(dict(one.options))
    ]
    return BufferSetting(theorem, "buffers", tuple(fits))


_SETTINGS: dict[str, Callable[[Theorem], Setting]] = {
    "gd": _gd,
    "area": _area,
    "async_sgd": lambda theorem: DelayedSetting(theorem, "async_sgd", exact.DELAYED),
    "fedcompass": _fedcompass,
    "fedfa": _fedfa,
    "proximal_point": lambda theorem: Setting(theorem, "proximal_point"),
    "incremental": lambda theorem: Setting(theorem, "incremental"),
    "heavy_ball": lambda theorem: Setting(theorem, "heavy_ball"),
    "nesterov": _nesterov,
    "afl_dga": lambda theorem: AflDgaSetting(theorem, "afl_dga", exact.AFL_DGA),
    "fedbuff": _buffered,
    "fedstaleweight": _buffered,
}


def setting_of(theorem: Theorem) -> Setting:
    """Return the setting of a theorem.

    Raises
    ------
    SpecError
        If its algorithm is not one that proofs know, or it is about gradients with errors.
    ProofError
        If the algorithm's own runs are not in the class that proofs about it speak of.
    """
    if theorem.left.in_seconds:
        raise SpecError(f"{theorem.id}: proofs know no clock, and its left side is within so many seconds")
    if not theorem.core.unbiased:
        raise SpecError(f"{theorem.id} is about gradients with errors, and proofs know only those without")
    if theorem.algorithm in _SETTINGS:
        if why := outside(theorem.algorithm):
            raise ProofError(f"proofs about {theorem.algorithm} say of its runs what is not so: {why}")
        return _SETTINGS[theorem.algorithm](theorem)
    n = theorem.symbols["n"].symbol
    about_n = [one for one in theorem.conditions if one.quantity.free_symbols | one.limit.free_symbols == {n}]
    clients = tuple(
        i for i in CLIENTS if all(one.meets(one.quantity.subs(n, i), one.limit.subs(n, i)) for one in about_n)
    )
    if why := outside(theorem.algorithm, chosen(theorem), clients):
        raise SpecError(
            f"{theorem.id}: no proof applies. An algorithm that no proof names needs updates of one local step of "
            f"weight 1 (docs/prove.md, Which runs a proof speaks of), and {theorem.algorithm} does not have them: {why}"
        )
    return DelayedSetting(theorem, "delayed", exact.DELAYED)
