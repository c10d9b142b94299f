"""Health.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from ...calls import Call
from ...session import AsyncSession
from .. import models


class AsyncHealth:
    """For load balancers and supervisors."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.GetHealthResult:
        """Whether the process lives."""
        call = Call(
            "GET",
            "/healthz",
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.GetHealthResult.from_json)

    async def get_readiness(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.GetReadinessResult:
        """Whether requests are served."""
        call = Call(
            "GET",
            "/readyz",
            uses_key=False,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.GetReadinessResult.from_json)
