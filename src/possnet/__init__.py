"""possnet: possibilistic networks, and learning them from data whose cells are sets.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> asia.table("smoke")
    array([1., 1.])

The public names are listed in ``__init__.pyi``, once, and loaded when they are first used (SPEC 1 of Scientific Python),
so that ``possnet --help`` need not wait for numpy.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
