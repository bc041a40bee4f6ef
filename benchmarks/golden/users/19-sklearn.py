"""A user of scikit-learn asks for the constants of LogisticRegression(C=1) on his data, and compares x*."""

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler

import boundlab as bl

warnings.simplefilter("ignore")
X, y = load_breast_cancer(return_X_y=True)
X = MinMaxScaler().fit_transform(X)
n, C = len(y), 1.0
for intercept in (False, True):
    theirs = LogisticRegression(C=C, fit_intercept=intercept, tol=1e-12, max_iter=20000).fit(X, y)
    w = theirs.coef_.ravel()
    if intercept:
        w = np.append(w, theirs.intercept_)
    problem = bl.problem(
        f"logistic:data=breast_cancer,clients=1,nu={1 / (C * n)!r},bias={'yes' if intercept else 'no'}"
    )
    print("intercept", intercept, "constants", type(problem.constants), "optimum", type(problem.optimum))
    o = problem.optimum() if callable(problem.optimum) else problem.optimum
    print([a for a in dir(o) if not a.startswith("_")])
    x = np.asarray(getattr(o, "x", getattr(o, "point", None)), dtype=float).ravel()
    print(
        "distance of x* from theirs",
        np.linalg.norm(x - w) if x.size == w.size else (x.shape, w.shape),
        "norm",
        np.linalg.norm(w),
    )
    c = problem.constants() if callable(problem.constants) else problem.constants
    print(c if not hasattr(c, "items") else {k: c[k] for k in list(c)[:12]})
