"""``possnet`` and ``python -m possnet``: an interrupt ends quietly, even while the command is still being loaded."""

import sys

__all__ = ["run"]


def run() -> None:
    """Run the command line."""
    try:
        from possnet.cli import main

        main(prog_name="possnet")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
