"""The clients: one attribute per chapter of the reference, one method per call."""

from __future__ import annotations

import ssl
from types import TracebackType

from .async_transport import AsyncTransport, ThreadTransport
from .generated.async_resources import AsyncResources
from .generated.resources import Resources
from .retries import Policy
from .session import AsyncSession, Session
from .transport import HttpTransport, Transport


class Pasarela(Resources):
    """A client of one account in one mode: the key says which. May be used by many threads.

        client = Pasarela("pk_test_demo", base_url="http://127.0.0.1:8080")
        client.balance.get().available_ves

    Every POST bears an Idempotency-Key: yours (`idempotency_key=`) or a new one. Lost answers, 429 and the 503 that
    pass are tried again under the same key, `max_retries` times, after a wait that grows.
    """

    def __init__(
        self,
        key: str,
        *,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        policy: Policy | None = None,
        ssl_context: ssl.SSLContext | None = None,
        transport: Transport | None = None,
    ) -> None:
        self._address = base_url
        self._session = Session(key, transport or HttpTransport(base_url, ssl_context), policy or Policy(max_retries=max_retries), timeout)
        super().__init__(self._session)

    def __enter__(self) -> Pasarela:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept."""
        self._session.close()

    def __repr__(self) -> str:
        return f"Pasarela(base_url={self._address!r})"  # never the key


class AsyncPasarela(AsyncResources):
    """The same client for programs with an event loop: every method is awaited.

        async with AsyncPasarela("pk_test_demo", base_url="http://127.0.0.1:8080") as client:
            (await client.balance.get()).available_ves

    Up to `max_connections` requests are under way at once, each in a thread of the client's own; the others wait. Who
    cancels a task takes back nothing that was sent: a call that must not be lost says its `idempotency_key` itself.
    """

    def __init__(
        self,
        key: str,
        *,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        policy: Policy | None = None,
        ssl_context: ssl.SSLContext | None = None,
        max_connections: int = 100,
        transport: AsyncTransport | None = None,
    ) -> None:
        self._address = base_url
        transport = transport or ThreadTransport(HttpTransport(base_url, ssl_context), max_connections)
        self._session = AsyncSession(key, transport, policy or Policy(max_retries=max_retries), timeout)
        super().__init__(self._session)

    async def __aenter__(self) -> AsyncPasarela:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections that are kept."""
        await self._session.close()

    def __repr__(self) -> str:
        return f"AsyncPasarela(base_url={self._address!r})"  # never the key
