"""Statements.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from ...calls import Call
from ...model import DATE, encode
from ...session import Session
from .. import models


class Statements:
    """What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs to the new day.
    `opening` and all columns add up to `closing`, which is the next day's `opening`. Holds and the reserve are not
    in it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(
        self,
        *,
        currency: Literal["VES", "COP", "USDT"],
        from_: date | str,
        to: date | str,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Statement:
        """A statement by days.

        Needs the scope `read`.

        Args:
            from_: The first day.
            to: The last day; 400 days at most. Days to come are left out.
        """
        call = Call(
            "GET",
            "/v1/statements",
            query={"currency": currency, "from": DATE.encode(from_), "to": DATE.encode(to)},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Statement.from_json)
