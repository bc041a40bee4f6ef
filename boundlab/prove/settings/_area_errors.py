"""Vectors with names of their own, of which AREA's Appendix B takes norms: errors of registers and of passes.

Each is defined by vectors of the setting; the registers among them change as their definitions do.
"""

from collections.abc import Callable, Mapping
from typing import Any

from boundlab.prove._chance import Law, Register, mixture
from boundlab.prove._errors import ProofError
from boundlab.prove._facts import Fact, VectorFact
from boundlab.prove._hygiene import calling
from boundlab.prove._norms import NORM
from boundlab.prove._scalars import Number, Scalar, scalar, variable
from boundlab.prove._terms import Expr, Lin, Vec, vector_sum
from boundlab.prove._vectors import Known, Slope


class AreaErrors:
    """The vectors, with what they are.

    Parameters
    ----------
    setting
        Whose registers they are made of.
    """

    def __init__(self, setting: Any) -> None:
        self.setting, self.kernel = setting, setting.kernel
        s, vectors = setting, setting.kernel.vectors
        M, i, k, m = s.M, s.i, s.k, s.m
        of = s.step
        self.kernel.vectors.declare_function(NORM, 0)
        for name, slope in (("u", "gu"), ("v", "gv")):
            # Two points, of which nothing is known.
            vectors.declare(name, Known(0))
            vectors.declare(slope, Known(1))
            vectors.declare_slope(slope, Slope(("i",), "f", (s.i,), Vec(name)))
            s.more_letters = {**s.more_letters, name: "any vector"}
        j = self.j = s.index("j")
        h, d, g, e = s.vec("h", i), s.d(i, k), s.g(i, k, m), s.e(i, k, m)
        target = s.star - h * (of(j) * M)
        early, late = (lambda *at: (at[-1],)), (lambda *at: (at[-1], M))
        self._meaning: dict[str, tuple[tuple[str, ...], Lin]] = {}
        ijk, ik, ikm = ("i", "j", "k"), ("i", "k"), ("i", "k", "m")
        # Of registers: to x*, and to x* − step[j]·M·∇f_i(x*).
        self._define("se", ("k",), s.xs(k) - s.star, early)
        self._define("me", ("k",), s.mean_vector(lambda one: s.y(one, k)) - s.star, early)
        self._define("xe", ijk, s.x(i, k) - target, early)
        self._define("ye", ijk, s.y(i, k) - target, early)
        self._define("ze", ijk, s.z(i, k, M) - target, late)
        # Of passes: what local steps and noise add to one long step, and how far a pass has come.
        self._define("ed", ik, vector_sum("m", 1, M, d - g), late)
        self._define("eg", ik, -vector_sum("m", 0, M, e), late)
        self._define("sh", ik, s.xs(k) - d * (of(k) * M) - s.star + h * (of(k) * M), early)
        self._define("dg", ikm, d - g, _last_two)
        self._define("de", ikm, s.z(i, k, m) - s.xs(k), _last_two)
        self._define("dn", ikm, s.z(i, k, m) - g * of(k) - s.xs(k), _last_two)
        self._define("dt", ikm, s.z(i, k, m) - g * of(k) - s.xs(k) + d * of(k), _last_two)
        self._define("ue", ik, s.xs(k) - s.vec("ustar", i), early)
        self._define("zu", ("i",), s.star - s.vec("ustar", i), None)
        self.law = Law(
            p=s.p,
            p_s=s.p_s,
            clients=s.n,
            index="i",
            registers={
                **s.law.registers,
                "xe": self._register("client", "xe", "ze", "x"),
                "ye": self._register("client", "ye", "xe", "y"),
                "se": self._register("server", "se", "me", "xs"),
            },
            axioms=s.law.axioms,
        )

    def _define(
        self, name: str, symbols: tuple[str, ...], value: Lin, clock: Callable[..., tuple[Scalar, ...]] | None
    ) -> None:
        self.kernel.vectors.declare(name, Known(len(symbols), clock=clock))
        self._meaning[name] = symbols, value
        own = f"{name}[{', '.join(symbols)}]"
        self.setting.more_letters = {**self.setting.more_letters, own: str(value)}

    def _register(self, owner: str, name: str, branch: str, base: str) -> Register:
        """Return how an error changes: as its register does, which is compared."""
        s = self.setting
        symbols, value = self._meaning[name]
        own = s.law.registers[base].branch(*(variable(one) for one in symbols if one != "j"))
        before = s.vec(base, *(variable(one) for one in symbols if one != "j"))
        if not (value - before + own - self._meaning[branch][1]).zero:
            raise ProofError(f"{name} does not become {branch} where {base} changes")
        return Register("client" if owner == "client" else "server", lambda *at: s.vec(branch, *at))

    def definition(self, name: str, *at: Number) -> VectorFact:
        """Return what a vector is."""
        symbols, value = self._meaning[name]
        values: Mapping[str, Scalar] = dict(zip(symbols, map(scalar, at), strict=True))
        for one in at:
            self.kernel.need(one, self.kernel.context, "an index is at least 0")
        with calling(self.kernel, AreaErrors.definition, self, name, *at):
            fact: VectorFact = self.kernel.make_vector(
                self.setting.vec(name, *at), value.put(values), self.kernel.context, "axiom", axioms=["algorithm"]
            )
        return fact

    def event(self, value: Expr, k: Number) -> Fact:
        """Return the mean of q(registers and errors after event k) over who acts."""
        return mixture(self.kernel, self.law, value, k)


def _last_two(*at: Scalar) -> tuple[Scalar, ...]:
    return at[-2:]
