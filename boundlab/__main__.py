"""The entry point: ``boundlab``, and ``python -m boundlab``."""

import gc
import sys

# Formulas and facts are many small objects that stay: to look for cycles whenever there are 700 more takes a fifth of
# the time of a proof.
_MORE = 20_000


def main() -> None:
    """Run the command line; an interrupt while it is being imported ends as any other does."""
    gc.set_threshold(_MORE)
    try:
        from boundlab.cli import main as run

        run()
    except KeyboardInterrupt:
        from boundlab.verdict import ExitCode

        sys.stderr.write("boundlab: interrupted\n")
        sys.exit(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    main()
