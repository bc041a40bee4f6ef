"""Run the command line as ``python -m boundlab``."""

from boundlab.cli import main

if __name__ == "__main__":
    main()
