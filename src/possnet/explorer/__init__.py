"""A local web page on which a network is explored: evidence by clicks, marginals as bars, tables to edit.

`explore` serves it on this machine only; ``possnet explore NET`` is the same as a command. It needs the extra
``possnet[web]``. The page asks the server for every number, and the server asks `possnet.Inference`: nothing is
computed here.

- ``session``: the current network, its engine and the edits, as values that replace each other;
- ``card_layout``: where the cards are;
- ``request_types``: what requests may hold;
- ``app``: the paths; ``request_guard``: who may ask, and how much, and how errors are answered;
- ``serve`` and ``uvicorn_server``: sockets, time limits, signals and the end;
- ``page``: the files that the browser gets.
"""

from possnet.explorer.serve import explore

__all__ = ["explore"]
