"""File formats of data, one module each, whose ``FORMAT`` is an entry of `possnet.io.DATA_FORMATS`."""
