"""Pictures as SVG and HTML text: layered graphs, bars and tables, from plain texts and numbers.

The names are listed in ``__init__.pyi``, once, and loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
