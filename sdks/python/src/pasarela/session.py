"""The two ways to wait for a call: in the thread that makes it, or in an event loop."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeVar

from .async_transport import AsyncTransport
from .calls import Call, Caller, Logger, Request, Steps, at, raw_result, result_of, with_key
from .checks import check_timeout
from .pages import AsyncPage, Page
from .retries import Policy
from .streams import Stream, Streamed, StreamOutcome, awaited
from .transport import Answer, NoAnswer, Transport, begun

T = TypeVar("T")


def streamed(caller: Caller, transport: object, calls: Iterable[Streamed], patience: float) -> Stream:
    """A stream of calls, which opens its connections itself."""
    check_timeout(patience)
    headers = caller.stream_headers()

    def open(target: str) -> tuple[socket.socket, bytes]:
        return begun(transport, target, headers, caller.timeout)

    return Stream(calls, open, caller.policy, patience)


class Session(Caller):
    """The calls of a client that waits."""

    def __init__(self, key: str, transport: Transport, policy: Policy, timeout: float, logger: Logger | None = None) -> None:
        super().__init__(key, policy, timeout, logger)
        self._transport = transport
        self._sleep: Callable[[float], None] = time.sleep

    def close(self) -> None:
        self._transport.close()

    def download(self, call: Call) -> bytes:
        return self._send(call).body

    def raw(self, call: Call) -> Any:
        call = with_key(call)
        return raw_result(call, self._send(call))

    def model(self, call: Call, read: Callable[[Any], T]) -> T:
        call = with_key(call)
        return result_of(call, self._send(call), read)

    def page(self, call: Call, read: Callable[[Any], T]) -> Page[T]:
        def fetch(cursor: str) -> Page[T]:
            return self.page(at(call, cursor), read)

        return self.model(call, lambda data: Page([read(item) for item in data["items"]], data.get("nextCursor"), fetch))

    def stream(self, calls: Iterable[Streamed], patience: float) -> Iterator[StreamOutcome]:
        return streamed(self, self._transport, calls, patience).outcomes()

    def _send(self, call: Call) -> Answer:
        steps: Steps = self.steps(call)
        said: Answer | NoAnswer | None = None
        while True:
            try:
                step = steps.send(said)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            if isinstance(step, Request):
                try:
                    said = self._transport.send(step.method, step.target, step.headers, step.body, step.timeout)
                except NoAnswer as lost:
                    said = lost
            else:
                self._sleep(step)
                said = None


class AsyncSession(Caller):
    """The calls of a client that lets others go on while it waits."""

    def __init__(self, key: str, transport: AsyncTransport, policy: Policy, timeout: float, logger: Logger | None = None) -> None:
        super().__init__(key, policy, timeout, logger)
        self._transport = transport
        self._sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def close(self) -> None:
        await self._transport.close()

    async def download(self, call: Call) -> bytes:
        return (await self._send(call)).body

    async def raw(self, call: Call) -> Any:
        call = with_key(call)
        return raw_result(call, await self._send(call))

    async def model(self, call: Call, read: Callable[[Any], T]) -> T:
        call = with_key(call)
        return result_of(call, await self._send(call), read)

    async def page(self, call: Call, read: Callable[[Any], T]) -> AsyncPage[T]:
        async def fetch(cursor: str) -> AsyncPage[T]:
            return await self.page(at(call, cursor), read)

        return await self.model(call, lambda data: AsyncPage([read(item) for item in data["items"]], data.get("nextCursor"), fetch))

    def stream(self, calls: Iterable[Streamed] | AsyncIterable[Streamed], patience: float) -> AsyncIterator[StreamOutcome]:
        return awaited(calls, lambda calls: streamed(self, self._transport, calls, patience))

    async def _send(self, call: Call) -> Answer:
        steps: Steps = self.steps(call)
        said: Answer | NoAnswer | None = None
        while True:
            try:
                step = steps.send(said)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            if isinstance(step, Request):
                try:
                    said = await self._transport.send(step.method, step.target, step.headers, step.body, step.timeout)
                except NoAnswer as lost:
                    said = lost
            else:
                await self._sleep(step)
                said = None
