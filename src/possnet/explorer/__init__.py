"""A local web page on which a network is explored: evidence by clicks, marginals as bars, tables to edit.

`explore` serves it on this machine only; ``possnet explore NET`` is the same as a command. It needs the extra
``possnet[web]``. The page asks the server for every number, and the server asks `possnet.Inference`: nothing is
computed here.

- ``session``: the network, its engine and the steps so far, as values that replace each other;
- ``evidence_answers``, ``table_pages``: what is asked of a session, and edits of its tables;
- ``insight_answers``, ``interventions``, ``network_comparison``: why, what matters, what if, and what differs;
- ``uploaded_table``, ``row_evidence``: a table of rows; ``background_job``, ``job_worker``, ``job_tasks``: what reads it,
  learns from it and checks it, in a process of its own;
- ``card_layout``, ``network_page``: where the cards are, and the network as the page draws it;
- ``request_types``: what requests may hold; ``routes``: what a route is; ``core_routes``, ``file_routes``: tables of them;
- ``app``: the paths; ``explorer_state``: what they share;
- ``request_guard``, ``access_token``: who may ask, and how much, and how errors are answered;
- ``serve`` and ``uvicorn_server``: sockets, time limits, signals and the end;
- ``page``: the files that the browser gets; a tab of its dock registers itself in ``tabs.js``.
"""

from possnet.explorer.serve import explore

__all__ = ["explore"]
