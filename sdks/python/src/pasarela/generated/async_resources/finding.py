"""Finding things.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from ...calls import Call
from ...session import AsyncSession
from .. import models


class AsyncFinding:
    """One text leads to everything that it names, and a request's id to what became of the request."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def search(
        self,
        q: str,
        *,
        people: bool | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.FoundList:
        """Search by one text.

        By an id of anything, a reference of your own or of a bank, a transaction's hash, the id of a request, a
        document or a phone of a payer or seller: always the whole text. An account whose searches for documents and
        phones found nobody 30 times in 10 minutes has to wait: 429.

        Needs the scope `read`.

        Args:
            q: An id in any case, or a text as it was sent; a document or a phone in any form in which people type
                them, such as `V-12.345.678` or `0414-1234567`.
            people: Whether documents and phones are looked for, which counts; yes if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `too_many_attempts`.
        """
        call = Call(
            "GET",
            "/v1/search",
            query={"q": q, "people": people},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.FoundList.from_json)

    async def get_request(
        self,
        request_id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> models.LoggedRequest:
        """Read what became of a request.

        Of 30 days, as far as `[requests] bytes_max` allows; of several requests with one id the newest. Bodies are
        not kept.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/requests/{requestId}",
            parts=(request_id,),
            timeout=timeout,
            max_retries=max_retries,
        )
        return await self._session.model(call, models.LoggedRequest.from_json)
