"""The routes of the explorer's first questions: marginals, tables, readings, edits and history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from possnet.explorer import evidence_answers as answers, request_types as types, session as sessions, table_pages
from possnet.explorer.routes import Change, Inquiry, LookUp

if TYPE_CHECKING:
    from possnet.explorer.routes import Route

ROUTES: Final[tuple[Route, ...]] = (
    Inquiry("answer", types.AnswerRequest, answers.answer_evidence),
    Inquiry("questions", types.QuestionsRequest, answers.rank_questions),
    LookUp("reading", types.ReadingRequest, answers.read_number),
    LookUp("table", types.TableRequest, table_pages.read_table_page),
    LookUp("normalise", types.NormaliseRequest, table_pages.normalise_rows),
    Change("edit", types.EditRequest, table_pages.edit_table),
    Change("reset", types.ResetRequest, table_pages.reset_tables),
    Change("history", types.HistoryRequest, sessions.step_history),
)
