"""``possnet`` and ``python -m possnet``: a signal ends it quietly, also while the command is loaded or ends.

Too little memory ends it with a sentence.
"""

import gc
import sys

from possnet.signals import received_signal, stop_watching, watch_signals

__all__ = ["run"]

_LOADED = 110 << 20  # address space that numpy, click and the commands take, measured


def run() -> None:
    """Run the command line."""
    try:
        from possnet.limits import require_address_space, spare_address_space, take_work_space

        short = spare_address_space()  # before there is a thread, which takes a heap of its own
        watch_signals()
        if short:
            require_address_space(_LOADED, "possnet")
        from possnet.cli import main, spare_letters

        spare_letters()
        if short:
            take_work_space()
        main(prog_name="possnet")
    except KeyboardInterrupt:
        sys.exit(130)
    except (MemoryError, ImportError, OSError, RuntimeError, SyntaxError, SystemError) as error:
        sys.exit(_explain_shortage(error))
    finally:
        gc.freeze()  # the program ends: nothing need be searched for garbage
        number = received_signal()
        stop_watching()
        if number is not None:  # also if the exception that it raised was lost on its way
            sys.exit(128 + number)


def _explain_shortage(error: Exception) -> str:
    """One sentence for too little memory to load the commands; other errors are raised again."""
    from possnet.errors import PossnetError
    from possnet.limits import describe_shortage

    if isinstance(error, PossnetError):
        return f"Error: {error}"
    finding = describe_shortage(error)
    if finding is None:
        raise error
    return f"Error: {finding}; allow more memory (free it, or ulimit -v)"


if __name__ == "__main__":
    run()
