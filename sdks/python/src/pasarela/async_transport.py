"""What carries the requests of the asynchronous client: by itself the other client's transport, each request in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from .generated import shared
from .transport import Answer, NoAnswer, Transport, begun


class AsyncTransport(Protocol):
    """What carries requests in an event loop. Bring your own to use the HTTP client that your program has, or to test without a server."""

    async def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, timeout: float) -> Answer:
        """The answer, or NoAnswer. `target` is the path with its query. Called by several tasks at once."""

    async def close(self) -> None:
        """Gives back what is held."""


class ThreadTransport:
    """A transport whose requests wait in threads: as many at once as there may be, the others in their order.

    The threads are its own, so that neither requests which wait for a bank nor the program's other work in threads
    hold each other up.
    """

    def __init__(self, inner: Transport, threads_max: int) -> None:
        self._inner, self._threads_max = inner, threads_max
        self._lock = threading.Lock()
        self._threads = self._made()

    async def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, timeout: float) -> Answer:
        """The answer. The timeout counts from here: what waits for a thread until then is never sent."""
        asked = time.monotonic()

        def sent() -> Answer:
            left = timeout - (time.monotonic() - asked)
            if left <= 0:
                raise NoAnswer(shared.NO_CONNECTION.format(reason=shared.NO_THREAD), was_sent=False)
            return self._inner.send(method, target, headers, body, left)

        queued = self._pool().submit(sent)
        answered = asyncio.wrap_future(queued)
        try:
            done, _ = await asyncio.wait({answered}, timeout=timeout)
            if not done and queued.cancel():
                raise NoAnswer(shared.NO_CONNECTION.format(reason=shared.NO_THREAD), was_sent=False)
            return await answered  # a request under way has its own timeout
        except asyncio.CancelledError:
            answered.cancel()  # what still waits for a thread is not sent
            raise

    def begin(self, target: str, headers: Mapping[str, str], timeout: float) -> tuple[socket.socket, bytes]:
        """As of the transport within, if that can."""
        return begun(self._inner, target, headers, timeout)

    async def close(self) -> None:
        """Closes the connections that rest. A request under way comes to its end, and its thread too."""
        self._inner.close()
        with self._lock:
            self._threads.shutdown(wait=False)
            self._threads = self._made()

    def _made(self) -> ThreadPoolExecutor:
        self._process = os.getpid()
        return ThreadPoolExecutor(self._threads_max, thread_name_prefix="pasarela")

    def _pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._process != os.getpid():  # after a fork: threads are the parent's
                self._threads = self._made()
            return self._threads
