"""What AREA's Table 3 prints."""

from collections.abc import Mapping

RATES = ("uniform", "non-uniform")  # those of Table 3
NAMES = {"sfedavg": "S-FedAvg", "asfedavg": "AS-FedAvg", "fedbuff": "FedBuff", "area": "AREA"}

# Table 3: (method, alpha) → for uniform and non-uniform rates (rho, accuracy, its range, loss, its range);
# a rho of None stands for "> 1". Means and ranges of ten trials.
Cell = tuple[float | None, float, float, float, float, float, float]
PAPER: Mapping[tuple[str, float], tuple[Cell, Cell]] = {
    ("sfedavg", 1e1): (
        (None, 61.16, 52.75, 66.46, 1.56, 1.41, 1.78),
        (None, 42.23, 19.07, 55.31, 2.22, 1.72, 3.55),
    ),
    ("sfedavg", 1e2): (
        (0.80, 74.06, 41.21, 85.20, 1.69, 0.90, 5.55),
        (None, 60.36, 9.65, 78.08, 2.78, 1.16, 9.48),
    ),
    ("asfedavg", 1e2): (
        (0.28, 84.14, 79.15, 87.89, 0.89, 0.74, 1.09),
        (0.28, 84.40, 70.04, 88.96, 0.89, 0.71, 1.56),
    ),
    ("asfedavg", 1e3): (
        (0.30, 79.83, 66.79, 88.70, 8.19, 5.27, 11.91),
        (0.33, 70.20, 20.91, 88.59, 16.29, 4.80, 76.90),
    ),
    ("fedbuff", 1e0): (
        (0.46, 85.38, 84.74, 86.21, 0.81, 0.79, 0.82),
        (0.48, 85.21, 83.82, 86.15, 0.81, 0.79, 0.85),
    ),
    ("fedbuff", 1e1): (
        (0.06, 78.56, 61.01, 89.78, 3.79, 1.74, 8.06),
        (0.05, 78.57, 65.32, 88.88, 3.51, 1.66, 9.69),
    ),
    ("area", 1e2): (
        (0.29, 87.38, 87.07, 87.92, 0.74, 0.73, 0.75),
        (0.55, 84.37, 81.83, 86.11, 0.84, 0.79, 0.93),
    ),
    ("area", 1e3): (
        (0.09, 87.54, 79.38, 91.41, 0.59, 0.47, 0.91),
        (0.09, 87.53, 81.46, 90.43, 0.64, 0.55, 1.01),
    ),
}
