"""The way of a call: path and body, key, Idempotency-Key, tries, answer or error."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from .errors import ApiError, ConnectionFailed, class_of
from .generated.version import VERSION
from .model import Model, ResponseInfo, encode, read_json, write_json
from .pages import Page
from .retries import Outcome, Policy
from .transport import Answer, NoAnswer, Transport

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One call as the generated methods say it. Values are not encoded yet."""

    method: str
    path: str  # with {} for each of `parts`
    parts: tuple[str, ...] = ()
    query: Mapping[str, Any] | None = None  # by the names on the wire
    headers: Mapping[str, str | None] | None = None
    body: Any = None
    keyed: bool = False  # the call takes an Idempotency-Key, and gets one
    idempotency_key: str | None = None
    secret: str | None = None  # a session's client secret, where that opens the call
    uses_key: bool = True
    accept: str = "application/json"
    timeout: float | None = None


class Session:
    """What all calls of a client share."""

    def __init__(self, key: str, transport: Transport, policy: Policy, timeout: float, sleep: Callable[[float], None] = time.sleep) -> None:
        if not re.fullmatch(r"[!-~]+", key):
            raise ValueError("a key is visible ASCII, such as pk_test_…; is there a line feed at its end?")
        self._key, self._transport, self._policy, self._timeout, self._sleep = key, transport, policy, timeout, sleep

    def close(self) -> None:
        self._transport.close()

    def download(self, call: Call) -> bytes:
        return self._send(call).body

    def model(self, call: Call, read: Callable[[Any], T]) -> T:
        if call.keyed and call.idempotency_key is None:
            call = replace(call, idempotency_key=str(uuid.uuid4()))
        answer = self._send(call)
        try:
            result = read(read_json(answer.body))
        except (ValueError, TypeError, AttributeError, KeyError) as failure:
            raise ConnectionFailed(f"an answer {answer.status} that could not be read", outcome_unknown=call.method != "GET", idempotency_key=call.idempotency_key) from failure
        if isinstance(result, Model):
            object.__setattr__(result, "last_response", info(answer))
        return result

    def page(self, call: Call, read: Callable[[Any], T]) -> Page[T]:
        def fetch(cursor: str) -> Page[T]:
            return self.page(replace(call, query={**(call.query or {}), "cursor": cursor}), read)

        def page(data: Any) -> Page[T]:
            return Page([read(item) for item in data["items"]], data.get("nextCursor"), fetch)

        return self.model(call, page)

    def _send(self, call: Call) -> Answer:
        target = path_of(call)
        body = None if call.body is None else write_json(call.body).encode()
        key = call.idempotency_key
        headers = self._headers(call, body, key)
        # What may be done twice without being two things.
        repeatable = key is not None or call.method in ("GET", "PUT")
        tries = 0
        while True:
            tries += 1
            try:
                answer = self._transport.send(call.method, target, headers, body, call.timeout or self._timeout)
                if answer.status < 300:
                    return answer
                failure: ApiError | ConnectionFailed = error_of(answer, key)
                outcome = Outcome(answer.status, failure.code, failure.retry_after) if isinstance(failure, ApiError) else Outcome()
            except NoAnswer as lost:
                unknown = lost.was_sent and call.method != "GET"
                failure = ConnectionFailed(f"{call.method} {call.path}: {lost}", outcome_unknown=unknown, idempotency_key=key)
                failure.__cause__ = lost
                outcome = Outcome(was_sent=lost.was_sent)
            wait = self._policy.wait(tries, outcome, repeatable)
            if wait is None:
                raise failure
            self._sleep(wait)

    def _headers(self, call: Call, body: bytes | None, key: str | None) -> dict[str, str]:
        headers = {"accept": call.accept, "user-agent": f"pasarela-python/{VERSION}"}
        if call.secret is not None:
            headers["authorization"] = f"Bearer {call.secret}"
        elif call.uses_key:
            headers["x-api-key"] = self._key
        if body is not None:
            headers["content-type"] = "application/json"
        elif call.method != "GET":
            headers["content-length"] = "0"
        if key is not None:
            headers["idempotency-key"] = key
        headers.update({name: value for name, value in (call.headers or {}).items() if value is not None})
        return headers


def path_of(call: Call) -> str:
    """The path with its parts and its query."""
    if not all(call.parts):
        raise ValueError("an id or a reference is empty")
    path = call.path.format(*(quote(part, safe="") for part in call.parts))
    query = {name: texts(value) for name, value in (call.query or {}).items() if value is not None}
    return path + ("?" + urlencode(query) if query else "")


def texts(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def info(answer: Answer) -> ResponseInfo:
    sequence = answer.headers.get("wal-seq", "")
    replayed = answer.headers.get("idempotent-replayed") == "true"
    return ResponseInfo(answer.status, answer.headers.get("x-request-id"), replayed, int(sequence) if sequence.isdecimal() else None)


def error_of(answer: Answer, key: str | None) -> ApiError:
    try:
        body = read_json(answer.body)
    except ValueError:  # of a proxy in between
        body = None
    after = answer.headers.get("retry-after", "")
    retry_after = int(after) if after.isdecimal() else None
    return class_of(answer.status)(answer.status, body, retry_after=retry_after, request_id=answer.headers.get("x-request-id"), idempotency_key=key)


__all__ = ["Call", "Session", "encode"]
