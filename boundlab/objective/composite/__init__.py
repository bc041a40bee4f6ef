"""Composite objectives F = f + h: the clients of any problem, and a simple convex h in proximal steps."""

from boundlab.objective.composite._on_set import AlongRun as AlongRun
from boundlab.objective.composite._problem import Composite as Composite
