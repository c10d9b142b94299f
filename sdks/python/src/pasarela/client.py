"""The clients: one attribute per chapter of the reference, one method per call."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from .async_transport import AsyncTransport, ThreadTransport
from .calls import KeyedOptions, Logger, raw_call
from .generated import shared
from .generated.async_resources import AsyncResources
from .generated.resources import Resources
from .retries import Policy
from .session import AsyncSession, Session
from .streams import Streamed, StreamOutcome
from .transport import HttpTransport, Transport


T = TypeVar("T")


def chosen(transport: T | None, proxy: str | None, own: Callable[[], T]) -> T:
    """The caller's transport, or our own, which a proxy is set of."""
    if transport is None:
        return own()
    if proxy is not None:
        raise ValueError(shared.PROXY_AND_TRANSPORT.format(name="transport"))
    return transport


class Shown:
    """What is shown of a client: never the key."""

    _address: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._address!r})"


class Pasarela(Shown, Resources):
    """A client of one account in one mode: the key says which. May be used by many threads.

        client = Pasarela("pk_test_demo", base_url="http://127.0.0.1:8080")
        client.balance.get().available_ves

    Every POST takes an Idempotency-Key: yours (`idempotency_key=`) or a new one. Lost answers, 429 and transient 503 are
    retried under the same key, up to `max_retries` times, with exponential backoff. Each try is logged to `logger`, or to
    the logger `pasarela` of the standard library. `proxy` is such as `http://user:password@proxy:3128`.
    """

    def __init__(
        self,
        key: str,
        *,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        policy: Policy | None = None,
        logger: Logger | None = None,
        proxy: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        transport: Transport | None = None,
    ) -> None:
        self._address = base_url
        carrier = chosen(transport, proxy, lambda: HttpTransport(base_url, ssl_context, proxy))
        self._session = Session(key, carrier, policy or Policy(max_retries=max_retries), timeout, logger)
        super().__init__(self._session)

    def request(
        self,
        method: str,
        path: str,
        *,
        parts: Sequence[str] = (),
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        accept: str = "application/json",
        idempotency_key: str | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Any:
        """A call by its method and path, such as `request("GET", "/v1/payments/{id}", parts=[payment_id])`, with the same key,
        retries and errors as every other: for what this version of the library has no method for. The path is logged as it
        stands here: ids and references belong in `parts`. An Idempotency-Key goes with a POST under /v1/. Answers JSON with
        exact numbers, as dict or list; None where there is no body; bytes if `accept` is no JSON. With `dry_run` nothing is done,
        and the answer shows what the call would do.
        """
        options: KeyedOptions = {"idempotency_key": idempotency_key, "timeout": timeout, "max_retries": max_retries, "request_id": request_id}
        return self._session.raw(raw_call(method, path, parts, body=body, query=query, accept=accept, dry_run=dry_run, **options))

    def stream(self, calls: Iterable[Streamed], *, patience: float = 300.0) -> Iterator[StreamOutcome]:
        """Makes many calls over one connection; yields what became of each, as it becomes certain. They are decided in their
        order. A refused call is an outcome with `error`, and the others go on. The iterable is asked as fast as the server
        takes calls, and at most some thousand ahead of their outcomes.

        After a cut or a failover it goes on by itself, under the same keys; 429, 503 and a key that is under way are sent
        again with exponential backoff. ConnectionFailed if nothing went on for `patience` seconds.

            for outcome in client.stream(StreamCall("/v1/payments/credit", payout, key=payout["externalRef"]) for payout in payouts):
                print(outcome.line, outcome.status)
        """
        return self._session.stream(calls, patience)

    def __enter__(self) -> Pasarela:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept."""
        self._session.close()


class AsyncPasarela(Shown, AsyncResources):
    """The same client for programs with an event loop: every method is awaited.

        async with AsyncPasarela("pk_test_demo", base_url="http://127.0.0.1:8080") as client:
            (await client.balance.get()).available_ves

    Up to `max_connections` requests are under way at once, each in a thread of the client's own; the others wait, which
    counts towards their timeout. Cancelling a task takes back nothing that was sent: set the `idempotency_key` of a call
    that must not be lost.
    """

    def __init__(
        self,
        key: str,
        *,
        base_url: str,
        timeout: float = 60.0,
        max_retries: int = 2,
        policy: Policy | None = None,
        logger: Logger | None = None,
        proxy: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        max_connections: int = 100,
        transport: AsyncTransport | None = None,
    ) -> None:
        self._address = base_url
        carrier = chosen(transport, proxy, lambda: ThreadTransport(HttpTransport(base_url, ssl_context, proxy), max_connections))
        self._session = AsyncSession(key, carrier, policy or Policy(max_retries=max_retries), timeout, logger)
        super().__init__(self._session)

    async def request(
        self,
        method: str,
        path: str,
        *,
        parts: Sequence[str] = (),
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        accept: str = "application/json",
        idempotency_key: str | None = None,
        dry_run: bool = False,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Any:
        """The same as `Pasarela.request`, awaited."""
        options: KeyedOptions = {"idempotency_key": idempotency_key, "timeout": timeout, "max_retries": max_retries, "request_id": request_id}
        return await self._session.raw(raw_call(method, path, parts, body=body, query=query, accept=accept, dry_run=dry_run, **options))

    def stream(self, calls: Iterable[Streamed] | AsyncIterable[Streamed], *, patience: float = 300.0) -> AsyncIterator[StreamOutcome]:
        """The same as `Pasarela.stream`, for `async for`. The calls may come from an asynchronous iterable; a plain one is asked
        in a thread of the stream's own.
        """
        return self._session.stream(calls, patience)

    async def __aenter__(self) -> AsyncPasarela:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections that are kept."""
        await self._session.close()
