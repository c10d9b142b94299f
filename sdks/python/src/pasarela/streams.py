"""Many calls over one connection (`POST /v1/stream`), each with its own key, answer and fate.

One thread sends and reads by turns, as the sockets let it. What has no answer when a connection is cut, or when the server
stops, is sent again on the next one, under the same keys: nothing is done twice.
"""

from __future__ import annotations

import asyncio
import random
import selectors
import socket
import ssl
import time
import uuid
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Union

from .calls import error_of
from .errors import ApiError, ConnectionFailed, class_of
from .generated import shared
from .model import Model, read_json, write_json
from .retries import Policy
from .transport import Answer, NoAnswer

PATH = "/v1/stream"
# The server has as many under way, and reads no more meanwhile.
AHEAD_MAX = 1024
# A line that says nothing, but that we live: the server ends a connection that is silent for a minute.
SIGN_SECONDS = 20.0
# A connection that says nothing for so long while calls wait for their answers is given up.
SILENCE_SECONDS = 60.0
LOOK_SECONDS = 0.5
PIECE_BYTES = 64 * 1024


@dataclass(frozen=True)
class StreamCall:
    """A call of a stream. A POST without a `key` gets a new Idempotency-Key."""

    path: str
    body: Any = None
    method: str = "POST"
    key: str | None = None


@dataclass(frozen=True)
class StreamOutcome:
    """What became of a call: status and body as its own answer would have them, with exact numbers."""

    line: int  # the number of the call, from 1
    key: str | None
    status: int
    replayed: bool
    wal_seq: int | None
    body: Any

    @property
    def error(self) -> ApiError | None:
        """The error that a call of its own would raise; None if it was not refused."""
        if self.status < 400:
            return None
        return class_of(self.status)(self.status, self.body, retry_after=None, request_id=None, idempotency_key=self.key)


#: What is taken for a call.
Streamed = Union[StreamCall, Mapping[str, Any]]


#: Opens a connection that does not block, and says what the request line and its headers are.
Open = Callable[[str], tuple[socket.socket, bytes]]


class Cut(Exception):
    """The connection is over, and not everything was answered."""


def line_of(call: Streamed) -> tuple[str | None, bytes]:
    """The key and the line of a call."""
    members: dict[str, Any]
    if isinstance(call, StreamCall):
        members = {"key": call.key, "method": call.method, "path": call.path, "body": call.body}
    else:
        members = dict(call)
    if str(members.get("method") or "POST") == "POST" and members.get("key") is None:
        members["key"] = str(uuid.uuid4())
    if isinstance(members.get("body"), Model):
        members["body"] = members["body"].to_json()
    line = write_json({name: value for name, value in members.items() if value is not None})
    return members.get("key"), line.encode() + b"\n"


class Stream:
    """The calls of one `stream`, over as many connections as it takes."""

    def __init__(self, calls: Iterable[Streamed], open: Open, policy: Policy, patience: float) -> None:
        self._calls, self._open, self._policy, self._patience = iter(calls), open, policy, patience
        self._taken = 0
        self._is_exhausted = False
        # Calls to be sent again, and those of this connection that are not answered, by their line in it.
        self._again: deque[tuple[int, bytes]] = deque()
        self._under_way: dict[int, tuple[int, bytes]] = {}
        self._tries = 0
        self._went_on = time.monotonic()
        self.is_closed = False

    def outcomes(self) -> Iterator[StreamOutcome]:
        while True:
            try:
                yield from self._connection()
                return
            except (Cut, NoAnswer, OSError) as cut:
                self._again.extendleft(reversed(self._under_way.values()))
                self._under_way.clear()
                if self.is_closed:
                    return
                if time.monotonic() - self._went_on > self._patience:
                    text = shared.FAILED_CALL.format(method="POST", path=PATH, reason=cut)
                    raise ConnectionFailed(text, outcome_unknown=True, idempotency_key=None) from cut
                time.sleep(self._wait())

    def _wait(self) -> float:
        """Exponential backoff with jitter, until something goes on."""
        self._tries += 1
        longest = min(self._policy.longest_wait, self._policy.first_wait * 2.0 ** min(self._tries - 1, 10))
        return longest * (0.5 + random.random() / 2)

    def _next(self, is_resting: bool) -> tuple[int, bytes] | None:
        """The call to be sent next."""
        if is_resting or len(self._under_way) >= AHEAD_MAX:
            return None
        if self._again:
            return self._again.popleft()
        if self._is_exhausted:
            return None
        try:
            call = next(self._calls)
        except StopIteration:
            self._is_exhausted = True
            return None
        self._taken += 1
        return self._taken, line_of(call)[1]

    def _connection(self) -> Iterator[StreamOutcome]:
        sock, out = self._open(PATH)
        selector = selectors.DefaultSelector()
        selector.register(sock, selectors.EVENT_READ)
        try:
            reading, sent, signed, resting = Reading(), 0, time.monotonic(), 0.0
            heard = signed
            is_ended = False
            while True:
                now = time.monotonic()
                while not is_ended and len(out) < PIECE_BYTES and (call := self._next(now < resting)):
                    sent += 1
                    self._under_way[sent] = call
                    out += chunk(call[1])
                    signed = now
                if self._is_exhausted and not self._again and not self._under_way and not is_ended:
                    is_ended = True
                    out += b"0\r\n\r\n"
                elif not out and now - signed > SIGN_SECONDS and not is_ended:
                    out += chunk(b"\n")
                    signed = now
                if self.is_closed:
                    raise Cut("closed")
                out = out[pushed(sock, selector, out) :]
                data = pulled(sock)
                if data or not self._under_way:
                    heard = time.monotonic()
                elif now - heard > SILENCE_SECONDS:
                    raise Cut("the server says nothing")
                for line in reading.lines(data):
                    if "end" in line:
                        if line["end"] and is_ended:
                            return
                        raise Cut(f"the server ended the stream ({line.get('code')})")
                    number, sent_line = self._under_way.pop(line["line"])
                    if is_open(line):
                        self._again.append((number, sent_line))
                        resting = max(resting, time.monotonic() + self._wait()) if resting <= now else resting
                        continue
                    self._tries, self._went_on = 0, time.monotonic()
                    yield StreamOutcome(number, line["key"], line["status"], line["replayed"], line["walSeq"], line["body"])
        finally:
            selector.close()
            sock.close()


def is_open(line: Mapping[str, Any]) -> bool:
    """Nothing came of the call yet: it is sent again."""
    return line["status"] in (429, 503) or line["status"] == 409 and line["body"]["error"] == "idempotency_in_progress"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def pushed(sock: socket.socket, selector: selectors.BaseSelector, data: bytes) -> int:
    """How much of it was sent; at most half a second is waited until something can be read or sent."""
    if not (isinstance(sock, ssl.SSLSocket) and sock.pending()):
        selector.modify(sock, selectors.EVENT_READ | (selectors.EVENT_WRITE if data else 0))
        selector.select(LOOK_SECONDS)
    if not data:
        return 0
    try:
        return sock.send(data)
    except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
        return 0


def pulled(sock: socket.socket) -> bytes:
    """What has come."""
    try:
        data = sock.recv(PIECE_BYTES)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return b""
    if not data:
        raise Cut("the connection was cut")
    return data


class Reading:
    """The answer: its head, then chunks with lines in them."""

    def __init__(self) -> None:
        self._raw, self._text = b"", b""
        self._head: tuple[int, dict[str, str]] | None = None

    def lines(self, data: bytes) -> Iterator[dict[str, Any]]:
        self._raw += data
        if self._head is None and not self._read_head():
            return
        self._unchunk()
        while (end := self._text.find(b"\n")) >= 0:
            line, self._text = self._text[:end], self._text[end + 1 :]
            yield read_json(line)

    def _read_head(self) -> bool:
        head, found, rest = self._raw.partition(b"\r\n\r\n")
        if not found:
            return False
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        status = int(first.split(" ")[1])
        if status == 100:
            self._raw = rest
            return self._read_head()
        if status != 200:
            self._refused(status, headers, rest)
            return False
        self._head, self._raw = (status, headers), rest
        return True

    def _refused(self, status: int, headers: dict[str, str], body: bytes) -> None:
        if len(body) < int(headers.get("content-length", "0")):
            return
        error = error_of(Answer(status, headers, body), None)
        if status in (408, 429) or status >= 500:
            raise Cut(str(error))
        raise error

    def _unchunk(self) -> None:
        while True:
            size, found, rest = self._raw.partition(b"\r\n")
            if not found:
                return
            length = int(size.split(b";")[0], 16)
            if len(rest) < length + 2:
                return
            self._text += rest[:length]
            self._raw = rest[length + 2 :]
            if length == 0:
                return


async def awaited(calls: Iterable[Streamed] | AsyncIterable[Streamed], make: Callable[[Iterable[Streamed]], Stream]) -> AsyncIterator[StreamOutcome]:
    """The outcomes of a stream that runs in a thread of its own; the calls come from the event loop, if they have to."""
    loop = asyncio.get_running_loop()
    stream = make(bridged(calls, loop) if isinstance(calls, AsyncIterable) else calls)
    outcomes = stream.outcomes()
    thread = ThreadPoolExecutor(1, thread_name_prefix="pasarela-stream")
    try:
        while (outcome := await loop.run_in_executor(thread, next, outcomes, None)) is not None:
            yield outcome
    finally:
        stream.is_closed = True
        thread.shutdown(wait=False)


def bridged(calls: AsyncIterable[Streamed], loop: asyncio.AbstractEventLoop) -> Iterator[Streamed]:
    source = calls.__aiter__()

    async def following() -> Streamed | None:
        try:
            return await source.__anext__()
        except StopAsyncIteration:
            return None

    while (call := asyncio.run_coroutine_threadsafe(following(), loop).result()) is not None:
        yield call
