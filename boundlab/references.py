"""Where papers are found: the DOI or the arXiv number of each that a theorem or an algorithm here is from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Reference:
    """The numbers of a paper; one that it does not have, or that is not known here, is empty.

    ``version`` is that of arXiv which was read; empty where the text at hand does not state it.
    """

    doi: str = ""
    arxiv: str = ""
    version: str = ""

    def words(self) -> str:
        """Return what is shown behind a title.

        Examples
        --------
        >>> Reference("10.1137/080716542", "").words()
        'doi:10.1137/080716542'
        >>> Reference("", "2405.10123", "v3").words()
        'arXiv:2405.10123v3'
        """
        named = (("doi", self.doi), ("arXiv", self.arxiv and self.arxiv + self.version))
        return ", ".join(f"{name}:{one}" for name, one in named if one)

    def as_dict(self) -> dict[str, str]:
        """Return the numbers that there are."""
        return {name: one for name, one in asdict(self).items() if one}


NONE = Reference()
_AREA = (
    "Iakovidou and Kim, Asynchronous Federated Stochastic Optimization for Heterogeneous Objectives Under Arbitrary "
    "Delays (AREA)"
)
_DGA = "Li and Gong, Anarchic Federated Learning with Delayed Gradient Averaging (AFL-DGA)"
_STALE = "Ma et al., FedStaleWeight"
_MISHCHENKO = "Mishchenko, Bach, Even and Woodworth, Asynchronous SGD beats minibatch SGD under arbitrary delays (2022)"
_FEDASYNC = "Xie, Koyejo and Gupta, Asynchronous federated optimization (2019)"
_FEDBUFF = "Nguyen et al., Federated learning with buffered asynchronous aggregation (2022)"
_FEDAVG = "McMahan et al., Communication-efficient learning of deep networks from decentralized data (2017)"
_HEAVY = "Polyak, Some methods of speeding up the convergence of iteration methods (1964)"
_BOOK = "Nesterov, Lectures on Convex Optimization (2018)"
_INCREMENTAL = "Nedić and Bertsekas, Incremental subgradient methods for nondifferentiable optimization (2001)"
_OGM = "Kim and Fessler, Optimized first-order methods for smooth convex minimization (2016)"
_RENNALA = (
    "Tyurin and Richtárik, Optimal time complexities of parallel stochastic optimization methods under a fixed "
    "computation model (2023)"
)
_RINGMASTER = "Maranjyan, Tyurin and Richtárik, Ringmaster ASGD (2025)"
_PPA = "Rockafellar, Monotone operators and the proximal point algorithm (1976)"
_ZINKEVICH = "Zinkevich, Online convex programming and generalized infinitesimal gradient ascent (2003)"
_LSVRG = "Kovalev, Horváth and Richtárik, Don't jump through hoops and remove those loops (2020)"
_PROXSKIP = "Mishchenko, Malinovsky, Stich and Richtárik, ProxSkip (2022)"
# By the paper, as theorems name it.
REFERENCES: Mapping[str, Reference] = MappingProxyType(
    {
        _AREA: Reference("", "2405.10123", "v3"),
        "Li et al., FedCompass": Reference("", "2309.14675", "v2"),
        "Xu et al., FedFa": Reference("10.24963/ijcai.2024/584", "2404.11015"),
        _STALE: Reference("", "2406.02877"),
        _MISHCHENKO: Reference("", "2206.07638"),
        _FEDASYNC: Reference("", "1903.03934"),
        _FEDBUFF: Reference("", "2106.06639"),
        _FEDAVG: Reference("", "1602.05629"),
        _HEAVY: Reference("10.1016/0041-5553(64)90137-5"),
        _BOOK: Reference("10.1007/978-3-319-91578-4"),
        _INCREMENTAL: Reference("10.1137/S1052623499362111"),
        _OGM: Reference("10.1007/s10107-015-0949-3", "1406.5468"),
        _PPA: Reference("10.1137/0314056"),
        _RENNALA: Reference("", "2305.12387"),
        _RINGMASTER: Reference("", "2501.16168"),
        _LSVRG: Reference("", "1901.08689"),
        _PROXSKIP: Reference("", "2202.09357"),
        "Drori and Teboulle, Performance of first-order methods for smooth convex minimization (2014)": Reference(
            "10.1007/s10107-013-0653-0", "1206.3209"
        ),
        "Beck, First-Order Methods in Optimization (2017)": Reference("10.1137/1.9781611974997"),
        "Teboulle and Vaisbourd, An elementary approach to tight worst case complexity analysis (2023)": Reference(
            "10.1007/s10107-022-01899-0"
        ),
        "Kim and Fessler, Optimizing the efficiency of first-order methods for decreasing the gradient (2021)":
            Reference("10.1007/s10957-020-01770-2", "1803.06600"),
        "Taylor, Hendrickx and Glineur, Exact worst-case convergence rates of the proximal gradient method (2018)":
            Reference("10.1007/s10957-018-1298-1", "1705.04398"),
        "Polyak, Gradient methods for the minimisation of functionals (1963)": Reference(
            "10.1016/0041-5553(63)90382-3"
        ),
        "Beck and Teboulle, A fast iterative shrinkage-thresholding algorithm (2009)": Reference("10.1137/080716542"),
        "Ghadimi, Feyzmahdavian and Johansson, Global convergence of the Heavy-ball method (2015)": Reference(
            "", "1412.7457"
        ),
        "Bubeck, Convex Optimization: Algorithms and Complexity (2015)": Reference(
            "10.1561/2200000050", "1405.4980"
        ),
        "Zamani and Glineur, Exact convergence rate of the last iterate in subgradient methods (2023)": Reference(
            "", "2307.11134"
        ),
        "Taylor, Hendrickx and Glineur, Exact worst-case performance of first-order methods (2017)": Reference(
            "10.1137/16M108104X", "1512.07516"
        ),
        "Nemirovski, Juditsky, Lan and Shapiro, Robust stochastic approximation (2009)": Reference("10.1137/070704277"),
        "Bottou, Curtis and Nocedal, Optimization Methods for Large-Scale Machine Learning (2018)": Reference(
            "10.1137/16M1080173", "1606.04838"
        ),
        "Dekel, Gilad-Bachrach, Shamir and Xiao, Optimal distributed online prediction using mini-batches (2012)":
            Reference("", "1012.1367"),
        "Ghadimi and Lan, Stochastic first- and zeroth-order methods for nonconvex programming (2013)": Reference(
            "10.1137/120880811", "1309.5549"
        ),
        "Gower, Loizou, Qian, Sailanbayev, Shulgin and Richtárik, SGD: General analysis (2019)": Reference(
            "", "1901.09401"
        ),
        "Khaled, Mishchenko and Richtárik, Tighter theory for local SGD on identical and heterogeneous data (2020)":
            Reference("", "1909.04746"),
        "Yuan, Zaheer and Reddi, Federated composite optimization (2021)": Reference("", "2011.08474"),
        "Stich and Karimireddy, The error-feedback framework: SGD with delayed gradients (2020)": Reference(
            "", "1909.05350"
        ),
        "Hazan, Agarwal and Kale, Logarithmic regret algorithms for online convex optimization (2007)": Reference(
            "10.1007/s10994-007-5016-8"
        ),
        "Rakhlin, Shamir and Sridharan, Making gradient descent optimal for strongly convex stochastic optimization "
        "(2012)": Reference("", "1109.5647"),
        "Lacoste-Julien, Schmidt and Bach, A simpler approach to obtaining an O(1/t) convergence rate for the "
        "projected stochastic subgradient method (2012)": Reference("", "1212.2002"),
    }
)  # fmt: skip
# Papers of which no number is known here, and why.
WITHOUT: Mapping[str, str] = MappingProxyType(
    {
        _DGA: "the text names none",
        "Polyak, Introduction to Optimization (1987)": "a book without one",
        _ZINKEVICH: "proceedings without one",
    }
)
# By the algorithm: the paper that it is from.
PAPERS: Mapping[str, str] = MappingProxyType(
    {
        "afl_dga": _DGA,
        "area": _AREA,
        "asfedavg": _AREA,
        "async_sgd": _MISHCHENKO,
        "fedasync": _FEDASYNC,
        "fedbuff": _FEDBUFF,
        "fedcompass": "Li et al., FedCompass",
        "fedfa": "Xu et al., FedFa",
        "fedstaleweight": _STALE,
        "gd": _BOOK,
        "heavy_ball": _HEAVY,
        "incremental": _INCREMENTAL,
        "lsvrg": _LSVRG,
        "nesterov": _BOOK,
        "ogm": _OGM,
        "proximal_point": _PPA,
        "rennala": _RENNALA,
        "ringmaster": _RINGMASTER,
        "scaffnew": _PROXSKIP,
        "sfedavg": _FEDAVG,
    }
)


def reference(paper: str) -> Reference:
    """Return the numbers of a paper, none where none is known."""
    return REFERENCES.get(paper, NONE)
