"""Checks for packages that bring algorithms, problems, delay laws, theorems or metrics of their own."""

from boundlab.testing import conform as conform
