"""possnet: possibilistic networks, and learning them from data whose cells are sets.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> asia.table("smoke")
    array([1., 1.])

The public names are listed in ``__init__.pyi``, once, and loaded when they are first used (SPEC 1 of Scientific Python),
so that ``possnet --help`` need not wait for numpy.
"""

import sys
from os.path import basename

if sys.orig_argv[1:3] == ["-m", "possnet"] or basename("".join(sys.orig_argv[1:2])) == "possnet":  # noqa: PTH119
    # The program possnet starts. Until it watches for signals by itself (see `possnet.signals`), an interrupt shall end it
    # without a traceback; the module signal takes long to load, which is when people interrupt.
    import _signal

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
