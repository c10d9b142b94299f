"""The client: one attribute per chapter of the reference, one method per call."""

from __future__ import annotations

import ssl
from types import TracebackType

from .generated.resources import Resources
from .retries import Policy
from .session import Session
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
