"""Textbook theorems whose proof `boundlab prove ID --search` has found, by the potential that falls."""

from boundlab.prove import Script
from boundlab.prove.potentials import written_by

_POTENTIALS = {
    "classics.gd.convex": ("two", "distance", "both ways and x*"),
    "classics.gd.convex.book": ("two", "distance", "both ways and x*"),
    "classics.gd.ergodic": ("mean", "distance", "distance and descent"),
    "classics.gd.gradient": ("two", "distance", "both ways and x*"),
    "classics.gd.gradient-gap": ("last", "value", "both ways"),
    "classics.gd.nonconvex": ("mean", "value", "descent"),
    "classics.gd.pl": ("contraction", "value", "domination"),
    "classics.gd.strongly-convex": ("contraction", "distance", "contraction"),
    "classics.sgd.convex": ("mean", "distance", "convexity"),
    "classics.sgd.distance": ("contraction", "distance", "contraction"),
    "classics.sgd.gap": ("contraction", "value", "domination"),
    "classics.sgd.heterogeneous": ("contraction", "distance", "own minimisers"),
    "classics.sgd.nonconvex": ("mean", "value", "descent"),
    "classics.sgd.projected": ("mean", "distance", "bounded subgradients"),
    "classics.subgradient": ("mean", "distance", "bounded subgradients"),
    "classics.subgradient.fixed-step": ("mean", "distance", "bounded subgradients"),
    "classics.subgradient.projected": ("mean", "distance", "bounded subgradients"),
}


def _by_potential(name: str, words: tuple[str, str, str]) -> Script:
    summary = f"by a potential: {words[0]}, {words[1]}"
    return Script(name, summary, "found by boundlab prove --search", written_by(*words), name)


PROOFS = tuple(_by_potential(name, words) for name, words in _POTENTIALS.items())
