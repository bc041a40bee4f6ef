"""A process of its own that asks z3: one question a line on standard input, one answer a line on standard output.

A question is {"variables": count, "terms": [[powers, numerator, denominator], …], "limit": count}, and asks whether a
polynomial can be negative where all variables are ≥ 0. The answer is {"answer": "unsat", "sat" or "unknown", "count":
what was used of the limit}. z3 counts its own steps and stops at the limit: no clock is asked, so that a busy machine
answers as an idle one does. It imports nothing of boundlab, and runs by its path.
"""

import json
import sys

_MEGABYTES = 512


def main() -> None:
    """Answer until there are no more questions."""
    import z3  # type: ignore[import-untyped,unused-ignore]

    z3.set_param("memory_max_size", _MEGABYTES)
    for line in sys.stdin:
        question = json.loads(line)
        # A context of its own: what was asked before leaves no trace in the count.
        context = z3.Context()
        variables = [z3.Real(f"v{index}", context) for index in range(question["variables"])]
        total = z3.RealVal(0, context)
        for powers, numerator, denominator in question["terms"]:
            part = z3.Q(numerator, denominator, context)
            for variable, power in zip(variables, powers, strict=True):
                for _ in range(power):
                    part = part * variable
            total = total + part
        # The bare procedure: z3's own mixture of methods gives each its share of seconds.
        solver = z3.Then("simplify", "nlsat", ctx=context).solver()
        solver.set("rlimit", question["limit"])
        solver.add(*(variable >= 0 for variable in variables), total < 0)
        try:
            found = str(solver.check())
        except z3.Z3Exception:  # out of memory
            found = "unknown"
        sys.stdout.write(json.dumps({"answer": found, "count": _count(solver)}) + "\n")
        sys.stdout.flush()


def _count(solver: "z3.Solver") -> int:  # type: ignore[name-defined,unused-ignore]  # noqa: F821
    statistics = solver.statistics()
    return next((int(statistics[index][1]) for index in range(len(statistics)) if "rlimit" in statistics[index][0]), 0)


if __name__ == "__main__":
    main()
