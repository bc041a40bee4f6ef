"""Rational twins of the families that have one, made by :meth:`boundlab.objective.Problem.rational`."""

from boundlab.problems.rational.least_squares import RationalLeastSquares as RationalLeastSquares
from boundlab.problems.rational.max_affine import RationalMaxAffine as RationalMaxAffine
from boundlab.problems.rational.quadratic import RationalQuadratic as RationalQuadratic
from boundlab.problems.rational.separable import RationalSeparable as RationalSeparable
