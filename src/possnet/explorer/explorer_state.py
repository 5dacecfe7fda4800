"""What the paths share: the session as it is now, the folder, and the turn to compute."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException

from possnet.errors import PossnetError
from possnet.explorer.request_guard import json_response, read_message
from possnet.explorer.session import summarise_session
from possnet.explorer.workspace import write_autosave

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from possnet.explorer.session import Session

Value = TypeVar("Value")


class Explorer:
    """What the paths do; ``session`` is replaced as a whole, and only here.

    Attributes
    ----------
    session
        The session as it is now.
    folder
        The folder below which files are opened and saved.
    shelf
        What features keep beside the session, such as rows or a running job, each under a name of its own.
    autosave
        Whether every change is written beside the file.
    endings
        What is called when the explorer ends, such as the end of a job.
    """

    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.shelf: dict[str, Any] = {}
        self.autosave = False
        self._autosaved: str | None = None
        self._trouble: str | None = None
        self.endings: list[Callable[[], object]] = []
        self.lock = asyncio.Lock()

    async def look_up(self, kind: Any, read: Callable[[Session, Any], dict[str, Any]], request: Request) -> Response:
        """What a function reads from the session for a message, at once."""
        return json_response(read(self.session, await read_message(request, kind)))

    async def send_answer(
        self, kind: Any, answer: Callable[[Session, Any], dict[str, Any]], request: Request
    ) -> Response:
        """What a function answers to a message, in its turn."""
        message = await read_message(request, kind)
        return json_response(await self.run_exclusively(request, partial(answer, self.session, message)))

    async def change_session(self, kind: Any, change: Callable[[Session, Any], Session], request: Request) -> Response:
        """Replace the session by its successor; status 409 if another window has replaced it meanwhile."""
        message = await read_message(request, kind)
        return await self.replace_session(request, message.revision, partial(_apply_change, change, message))

    async def replace_session(self, request: Request, revision: int, change: Callable[[Session], Session]) -> Response:
        """Replace the session of a revision by its successor, and summarise that; 409 if it has been replaced meanwhile."""
        old = self.session
        if revision == old.revision:
            new = await self.run_exclusively(request, partial(self._make_change, change, old))
            if new is not None:
                return json_response({**summarise_session(new), **self.describe_saving()})
        raise HTTPException(409, "the network was edited in another window meanwhile; look at it again first")

    def _make_change(self, change: Callable[[Session], Session], old: Session) -> Session | None:
        """Replace the session by its successor, unless another one came first; whoever computes has the turn alone."""
        if self.session is not old:
            return None
        self.session = change(old)
        self.keep_autosave(self.session)
        return self.session

    def keep_autosave(self, session: Session) -> None:
        """Write the network beside its file if that was asked for; what goes wrong is told with the next summary."""
        self._trouble = None
        if self.autosave:
            try:
                written = write_autosave(session, self.folder)
            except PossnetError as error:
                self._trouble = str(error)
            else:
                self._autosaved = self._autosaved if written is None else written.name

    def describe_saving(self) -> dict[str, Any]:
        """Whether changes are written beside the file, where, and what went wrong with it."""
        return {
            "autosave": self.autosave,
            "autosaved": self._autosaved if self.autosave else None,
            "trouble": self._trouble,
        }

    async def run_exclusively(self, request: Request, work: Callable[[], Value]) -> Value:
        """The result of some work, done in a thread; one at a time, and not at all for a client that has gone."""
        async with self.lock:
            if await request.is_disconnected():
                raise HTTPException(408, "client disconnected before its turn")
            return await run_in_thread(work)

    def close(self) -> None:
        """End what features have begun."""
        while self.endings:
            self.endings.pop()()


def _apply_change(change: Callable[[Session, Any], Session], message: Any, session: Session) -> Session:
    return change(session, message)


async def run_in_thread(work: Callable[[], Value]) -> Value:
    """The result of some work in a daemon thread, which does not keep the command from ending as a pool's would."""
    done: Future[Value] = Future()
    done.set_running_or_notify_cancel()  # so that nobody cancels what is being done

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)
