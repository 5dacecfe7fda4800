"""File formats of networks, one module each, whose ``FORMAT`` is an entry of `possnet.io.NETWORK_FORMATS`."""
