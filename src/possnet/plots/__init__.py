"""Figures from values. Drawings of networks need nothing more; the others need matplotlib (``possnet[plot]``).

The names are listed in ``__init__.pyi``, once, and loaded when they are first used: a drawing loads no learners.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
