"""Twins of problems, in rational numbers (:meth:`boundlab.objective.Problem.rational`) or in balls alone."""

from boundlab.problems.rational.least_squares import RationalLeastSquares as RationalLeastSquares
from boundlab.problems.rational.max_affine import RationalMaxAffine as RationalMaxAffine
from boundlab.problems.rational.quadratic import RationalQuadratic as RationalQuadratic
from boundlab.problems.rational.separable import RationalSeparable as RationalSeparable
