"""What a caller sets, checked once and before anything is sent: what is wrong here would be a lost answer later, or a wait without an end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .generated import shared
from .retries import Policy

if TYPE_CHECKING:
    from .calls import Call


def check_key(key: str) -> None:
    if not re.fullmatch(shared.KEY_FORM, key):
        raise ValueError(shared.KEY)


def check_timeout(timeout: float) -> None:
    if not is_between(0, timeout, shared.TIMEOUT_MAX_SECONDS) or timeout == 0:
        raise ValueError(shared.TIMEOUT.format(unit="seconds", max=shared.TIMEOUT_MAX_SECONDS))


def check_retries(retries: int) -> None:
    if not isinstance(retries, int) or not 0 <= retries <= shared.RETRIES_MAX:
        raise ValueError(shared.RETRIES.format(max=shared.RETRIES_MAX))


def check_policy(policy: Policy) -> None:
    check_retries(policy.max_retries)
    for name in ("first_wait", "longest_wait", "longest_retry_after"):
        if not is_between(0, getattr(policy, name), shared.TIMEOUT_MAX_SECONDS):
            raise ValueError(shared.WAIT.format(name=name, unit="seconds", max=shared.TIMEOUT_MAX_SECONDS))


def check_call(call: Call) -> None:
    """What a caller may say about a call."""
    if call.timeout is not None:
        check_timeout(call.timeout)
    if call.max_retries is not None:
        check_retries(call.max_retries)
    if call.request_id is not None and not re.fullmatch(shared.REQUEST_ID_FORM, call.request_id):
        raise ValueError(shared.REQUEST_ID)
    if call.idempotency_key is not None:
        if not call.keyed:  # it would be sent for nothing, and taken for a promise
            raise ValueError(shared.NO_IDEMPOTENCY_KEY.format(method=call.method, path=call.path))
        if not re.fullmatch(shared.IDEMPOTENCY_KEY_FORM, call.idempotency_key):
            raise ValueError(shared.IDEMPOTENCY_KEY)


def check_headers(headers: Mapping[str, str]) -> None:
    """A line feed would begin another header. The message names the header and not what is in it, which may be a secret."""
    for name, value in headers.items():
        if not re.fullmatch(shared.HEADER_FORM, value):
            raise ValueError(shared.HEADER.format(name=name))


def check_path(path: str) -> None:
    """A finished path, which is all of its parts: whoever carries it might take a dot for a folder, and read another object."""
    if "{" in path or "}" in path:
        raise ValueError(shared.PARTS)
    if any(part in (".", "..") for part in re.sub("%2e", ".", path, flags=re.IGNORECASE).split("/")):
        raise ValueError(shared.DOT_PART)


def is_between(least: float, value: object, most: float) -> bool:
    """Whether it is a number, and one between those: NaN is not."""
    return isinstance(value, (int, float)) and least <= value <= most
