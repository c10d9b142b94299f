"""HTTP/1.1 over the standard library: connections that are kept, a time-out, no redirects."""

from __future__ import annotations

import base64
import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

from .generated import shared

# The server closes a connection after 75 idle seconds. One that is older here is not used: a request on a connection
# that is just being closed is one whose outcome nobody knows.
IDLE_SECONDS_MAX = 45.0


@dataclass(frozen=True)
class Answer:
    """An answer as it came. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """No whole answer came. `was_sent`: whether the server may have got the request."""

    def __init__(self, reason: str, was_sent: bool) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


class Transport(Protocol):
    """What carries requests. Bring your own to use another HTTP client, or to test without a server."""

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, timeout: float) -> Answer:
        """The answer, or NoAnswer. `target` is the path with its query. Called by several threads at once."""

    def close(self) -> None:
        """Gives back what is held."""


class HttpTransport:
    """Connections to one address, each used by one thread at a time. Through a proxy, if one is given: https in a tunnel."""

    def __init__(self, base_url: str, context: ssl.SSLContext | None = None, proxy: str | None = None) -> None:
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname or address.query or address.fragment or address.username:
            raise ValueError(shared.BASE_URL.format(name="base_url"))
        self._host, self._port = address.hostname, address.port
        self._prefix = address.path.rstrip("/")
        self._proxy = None if proxy is None else proxy_of(proxy)
        self._origin = f"{address.scheme}://{address.netloc}" if self._proxy else ""
        self._context = (context or ssl.create_default_context()) if address.scheme == "https" else None
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, timeout: float) -> Answer:
        connection = self._connection(timeout)
        try:
            try:
                if connection.sock is None:
                    connection.connect()
                connection.sock.settimeout(timeout)
            except (OSError, http.client.HTTPException) as failure:
                raise NoAnswer(shared.NO_CONNECTION.format(reason=reason_of(failure)), was_sent=False) from failure
            try:
                if self._proxy and self._context is None:  # the proxy itself is asked, and told for whom
                    target, headers = self._origin + self._prefix + target, {**headers, **self._proxy.headers}
                else:
                    target = self._prefix + target
                connection.request(method, target, body, dict(headers))
                response = connection.getresponse()
                answer = Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
            except (OSError, http.client.HTTPException) as failure:
                raise NoAnswer(shared.NO_ANSWER.format(reason=reason_of(failure)), was_sent=True) from failure
        except BaseException:
            connection.close()
            self.close()  # the others may be as dead: a server that was started anew knows none of them
            raise
        if response.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append((time.monotonic(), connection))
        return answer

    def begin(self, target: str, headers: Mapping[str, str], timeout: float) -> tuple[socket.socket, bytes]:
        """A connection of its own that does not block, and the head of a POST whose body comes in chunks."""
        connection = self._made(timeout)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as failure:
            connection.close()
            raise NoAnswer(shared.NO_CONNECTION.format(reason=reason_of(failure)), was_sent=False) from failure
        connection.sock.setblocking(False)
        host = self._host if self._port is None else f"{self._host}:{self._port}"
        all_headers = {"host": host, **headers, "transfer-encoding": "chunked"}
        if self._proxy and self._context is None:
            target, all_headers = self._origin + self._prefix + target, {**all_headers, **self._proxy.headers}
        else:
            target = self._prefix + target
        lines = [f"POST {target} HTTP/1.1", *(f"{name}: {value}" for name, value in all_headers.items())]
        return connection.sock, "\r\n".join([*lines, "", ""]).encode("latin-1")

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        with self._lock:
            if self._process != os.getpid():  # after a fork connections are the parent's: two would read each other's answers
                self._process, self._idle = os.getpid(), []
            while self._idle:
                since, connection = self._idle.pop()
                if time.monotonic() - since < IDLE_SECONDS_MAX:
                    return connection
                connection.close()
        return self._made(timeout)

    def _made(self, timeout: float) -> http.client.HTTPConnection:
        host, port = (self._proxy.host, self._proxy.port) if self._proxy else (self._host, self._port)
        if self._context is None:
            return http.client.HTTPConnection(host, port, timeout=timeout)
        secure = http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
        if self._proxy:
            secure.set_tunnel(self._host, self._port or 443, self._proxy.headers)
        return secure


def begun(transport: object, target: str, headers: Mapping[str, str], timeout: float) -> tuple[socket.socket, bytes]:
    """What `HttpTransport.begin` gives: a transport of the caller's own need not have it."""
    begin = getattr(transport, "begin", None)
    if begin is None:
        raise TypeError(shared.NO_STREAM)
    opened: tuple[socket.socket, bytes] = begin(target, headers, timeout)
    return opened


def reason_of(failure: Exception) -> str:
    """What is logged of a lost answer: the system's words, never what was sent or received, which http.client may quote."""
    return (str(failure) if isinstance(failure, OSError) else "") or type(failure).__name__


@dataclass(frozen=True)
class Proxy:
    host: str
    port: int
    headers: dict[str, str]


def proxy_of(url: str) -> Proxy:
    """Where a proxy is, and what it wants to know of its user."""
    address = urlsplit(url)
    if address.scheme != "http" or not address.hostname or address.path.strip("/") or address.query or address.fragment:
        raise ValueError(shared.PROXY)
    headers = {}
    if address.username is not None:
        user = f"{unquote(address.username)}:{unquote(address.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    return Proxy(address.hostname, address.port or 80, headers)
