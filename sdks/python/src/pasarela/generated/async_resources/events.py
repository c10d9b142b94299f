"""Events.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from ...calls import Call
from ...pages import AsyncPage
from ...session import AsyncSession
from .. import models


class AsyncEvents:
    """What happened, numbered per account and mode without gaps, so that a receiver that was down can catch up with
    certainty: `GET /v1/events?after=SEQUENCE`.
    """

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def list(
        self,
        *,
        after: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> AsyncPage[models.Event]:
        """List events from a number on.

        Needs the scope `read`.

        Args:
            after: The last sequence that you know; 0 is the beginning.
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/events",
            query={"after": after, "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.page(call, models.Event.from_json)

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Event:
        """Read an event.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/events/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.Event.from_json)
