"""Bytes to values and back: networks, data and counts in files.

`read_network`, `write_network`, `read_data`, `scan_data` and `write_data` find the format of a file by its suffix among
`NETWORK_FORMATS` and `DATA_FORMATS`, two registries to which programs can add formats of their own. The names are listed
in ``__init__.pyi``, once, and loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
