"""Dates and times as numbers: seconds since 1970, with a time zone (then in UTC) or without one.

Only ISO 8601 is read: ``2024-05-31``, ``2024-05-31T14:30``, ``2024-05-31 14:30:05.25+02:00``, ``2024-05-31T12:30Z``.
Numbers that stand for dates say so by their unit, one of `DATE_UNITS`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

LOCAL_DATE: Final = "ISO date"
UTC_DATE: Final = "ISO date, UTC"
DATE_UNITS: Final = (LOCAL_DATE, UTC_DATE)
"""Units of bins whose numbers are seconds since 1970: without a time zone, and in UTC."""
DAY: Final = 86_400.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?"
DATE_PATTERN: Final = rf"\d{{4}}-\d{{2}}-\d{{2}}{_TIME}"
_DATE = re.compile(DATE_PATTERN)


def parse_date(text: str) -> tuple[float, float, str] | None:
    """The first second of a date, the first one after it, and the unit; None if the text is no date.

    A date without a time is the whole day; a date with one is a moment.

    >>> parse_date("1970-01-02"), parse_date("1970-01-01T02:00+01:00"), parse_date("1970-02-30")
    ((86400.0, 172800.0, 'ISO date'), (3600.0, 3600.0, 'ISO date, UTC'), None)
    """
    if not _DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))
    except ValueError:
        return None
    unit = LOCAL_DATE if moment.tzinfo is None else UTC_DATE
    seconds = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
    return seconds, seconds + (DAY if len(text) == 10 else 0.0), unit


def date_text(seconds: float, unit: str) -> str:
    """A number of a unit of dates as people write it.

    >>> date_text(86400.0, LOCAL_DATE), date_text(1.5, LOCAL_DATE), date_text(3600.0, UTC_DATE)
    ('1970-01-02', '1970-01-01T00:00:01.500000', '1970-01-01T01:00:00Z')
    """
    try:
        moment = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    except (OverflowError, ValueError):
        return repr(seconds)
    if unit == UTC_DATE:
        return f"{moment.isoformat()}Z"
    return moment.date().isoformat() if seconds % DAY == 0 else moment.isoformat()
