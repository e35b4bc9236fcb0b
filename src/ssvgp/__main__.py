"""`python -m ssvgp` is the command `ssvgp`."""

from ssvgp.cli.main import main

if __name__ == "__main__":
    main()
