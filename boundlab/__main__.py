"""The entry point: ``boundlab``, and ``python -m boundlab``."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is being imported ends as any other does."""
    try:
        from boundlab.cli import main as run

        run()
    except KeyboardInterrupt:
        from boundlab.verdict import ExitCode

        sys.stderr.write("boundlab: interrupted\n")
        sys.exit(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    main()
