"""What a call is, and its way: path and body, key, Idempotency-Key, tries, answer or error. It waits for nothing by itself, so that both clients share it."""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar, Union
from urllib.parse import quote, urlencode

from .checks import check_call, check_headers, check_key, check_path, check_policy, check_timeout
from .errors import ApiError, ConnectionFailed, class_of
from .generated import shared
from .generated.version import VERSION
from .model import Model, ResponseInfo, read_json, write_json
from .retries import Outcome, Policy
from .transport import Answer, NoAnswer

T = TypeVar("T")

Logger = Union[logging.Logger, "logging.LoggerAdapter[Any]"]
#: Where calls are logged if the client is given no logger: silent until the program configures logging.
LOGGER = logging.getLogger("pasarela")
LOGGER.addHandler(logging.NullHandler())


#: Lines of JSON, as streams have them.
STREAM = "application/x-ndjson"


class CallOptions(TypedDict, total=False):
    """What every call takes besides, for a program that keeps it in one place: `client.balance.get(**options)`."""

    timeout: float | None
    max_retries: int | None
    request_id: str | None


class KeyedOptions(CallOptions, total=False):
    """The same, of a call that takes an Idempotency-Key: a POST."""

    idempotency_key: str | None


@dataclass(frozen=True)
class Call:
    """One call as the generated methods say it. Values are not encoded yet."""

    method: str
    path: str  # with a name in braces for each of `parts`
    parts: tuple[str, ...] = ()
    query: Mapping[str, Any] | None = None  # by the names on the wire
    headers: Mapping[str, str | None] | None = None
    body: Any = None
    keyed: bool = False  # the call takes an Idempotency-Key, and gets one
    idempotency_key: str | None = None
    secret: str | None = None  # a session's client secret, where that opens the call
    uses_key: bool = True
    accept: str = "application/json"
    dry_run: bool = False  # nothing is done: the answer shows what the call would do
    timeout: float | None = None
    max_retries: int | None = None
    request_id: str | None = None


@dataclass(frozen=True)
class Request:
    """One try of a call, as a transport sends it."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None
    timeout: float


#: What to do next: send a request, or wait for so many seconds.
Step = Union[Request, float]
#: The steps of a call. What came of a request is sent into it: an answer, or that there was none.
Steps = Generator[Step, Union[Answer, NoAnswer, None], Answer]


class Caller:
    """What all calls of a client share."""

    def __init__(self, key: str, policy: Policy, timeout: float, logger: Logger | None = None) -> None:
        check_key(key)
        check_policy(policy)
        check_timeout(timeout)
        self._key, self._policy, self._timeout, self._logger = key, policy, timeout, logger or LOGGER

    @property
    def timeout(self) -> float:
        return self._timeout

    @property
    def policy(self) -> Policy:
        return self._policy

    def stream_headers(self) -> dict[str, str]:
        """Those of a stream, whose body comes in chunks."""
        return {"accept": STREAM, "user-agent": f"pasarela-python/{VERSION}", "x-api-key": self._key, "content-type": STREAM}

    def steps(self, call: Call) -> Steps:
        """The way of a call to its answer: requests and waits, or the error that it ends with."""
        check_call(call)
        target = path_of(call)
        body = None if call.body is None else write_json(call.body).encode()
        key = call.idempotency_key
        request = Request(call.method, target, self._headers(call, body, key), body, self._timeout if call.timeout is None else call.timeout)
        # What may be done twice without being two things.
        repeatable = key is not None or call.dry_run or call.method in ("GET", "PUT")
        policy = self._policy if call.max_retries is None else replace(self._policy, max_retries=call.max_retries)
        tries = 0
        while True:
            tries += 1
            began = time.monotonic()
            said = yield request
            took = time.monotonic() - began
            if isinstance(said, Answer):
                if said.status < 300:
                    self._log(call, tries, took, said)
                    return said
                failure: ApiError | ConnectionFailed = error_of(said, key)
                outcome = Outcome(said.status, failure.code, failure.retry_after) if isinstance(failure, ApiError) else Outcome()
            else:
                was_sent = said is None or said.was_sent
                text = shared.FAILED_CALL.format(method=call.method, path=call.path, reason=said)
                failure = ConnectionFailed(text, outcome_unknown=was_sent and call.method != "GET" and not call.dry_run, idempotency_key=key)
                failure.__cause__ = said
                outcome = Outcome(was_sent=was_sent)
            wait = policy.wait(tries, outcome, repeatable)
            self._log(call, tries, took, said, outcome.code, wait)
            if wait is None:
                raise failure
            yield wait

    def _log(self, call: Call, tries: int, took: float, said: Answer | NoAnswer | None, error: str = "", wait: float | None = None) -> None:
        """A line per try. The path has names in the place of `parts`, and no query; there is no key and no body."""
        said_what = {"method": call.method, "path": call.path, "ms": round(took * 1000)}
        extra: dict[str, Any] = {"method": call.method, "path": call.path, "duration_ms": round(took * 1000), "retry": tries - 1}
        level = logging.INFO if isinstance(said, Answer) and wait is None else logging.WARNING
        if isinstance(said, Answer):
            extra |= {"status": said.status, "request_id": said.headers.get("x-request-id") or call.request_id, "error": error or None}
            text = shared.LOG_ANSWER.format(**said_what, status=f"{said.status} {error}".rstrip(), id=extra["request_id"])
        else:
            extra |= {"status": None, "request_id": call.request_id, "error": str(said)}
            text = shared.LOG_NO_ANSWER.format(**said_what, reason=said)
        if wait is not None:
            text = shared.LOG_RETRY.format(said=text, retry=tries, ms=round(wait * 1000))
        try:
            self._logger.log(level, "%s", text, extra=extra)
        except Exception:  # a full disk of the log's: the payment was made all the same
            pass

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
        if call.request_id is not None:
            headers["x-request-id"] = call.request_id
        if call.dry_run:
            headers["dry-run"] = "true"
        headers.update({name: value for name, value in (call.headers or {}).items() if value is not None})
        check_headers(headers)
        return headers


def raw_call(method: str, path: str, parts: Sequence[str], **options: Any) -> Call:
    """A call that no generated method makes. Every POST under /v1 takes an Idempotency-Key."""
    method = method.upper()
    if not re.fullmatch(shared.METHOD_FORM, method):
        raise ValueError(shared.METHOD)
    if not re.fullmatch(shared.PATH_FORM, path):
        raise ValueError(shared.PATH)
    return Call(method, path, tuple(parts), keyed=method == "POST" and path.startswith("/v1/"), **options)


def raw_result(call: Call, answer: Answer) -> Any:
    """What a raw call answers: JSON with exact numbers, None if there is nothing, bytes of what was asked for as no JSON."""
    if call.accept != "application/json":
        return answer.body
    return result_of(call, answer, lambda data: data) if answer.body else None


def with_key(call: Call) -> Call:
    """The call with an Idempotency-Key, if it takes one: the caller's, or a new one."""
    return replace(call, idempotency_key=str(uuid.uuid4())) if call.keyed and call.idempotency_key is None else call


def at(call: Call, cursor: str) -> Call:
    """The call for the page that begins at a cursor."""
    return replace(call, query={**(call.query or {}), "cursor": cursor})


def result_of(call: Call, answer: Answer, read: Callable[[Any], T]) -> T:
    """What an answer says, with what it said besides its body."""
    try:
        result = read(read_json(answer.body))
    except (ValueError, TypeError, AttributeError, KeyError) as failure:
        raise ConnectionFailed(shared.UNREADABLE.format(status=answer.status), outcome_unknown=call.method != "GET", idempotency_key=call.idempotency_key) from failure
    if isinstance(result, Model):
        object.__setattr__(result, "last_response", info(answer))
    return result


def path_of(call: Call) -> str:
    """The path with its parts and its query."""
    if not all(call.parts):
        raise ValueError(shared.EMPTY_PART)
    path = call.path
    for part in call.parts:  # what stands for a part is quoted: it has no braces
        path, count = re.subn(r"\{\w+\}", quote(part, safe=""), path, count=1)
        if count == 0:
            raise ValueError(shared.PARTS)
    check_path(path)
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
