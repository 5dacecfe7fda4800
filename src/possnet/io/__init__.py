"""Bytes to values and back: networks, data and counts in files.

The names are listed in ``__init__.pyi``, once, and each format is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
