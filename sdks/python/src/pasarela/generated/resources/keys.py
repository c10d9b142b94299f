"""Keys.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from ...calls import Call
from ...model import TIME, VALUE, Instant, ModelCodec, encode
from ...session import Session
from .. import models


class Keys:
    """The account's own API keys, in the mode of the key that asks. A key is shown once, in the answer that makes it;
    what is kept is its SHA-256.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @overload
    def create(
        self,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["read", "collect", "payout", "convert", "manage", "keys"]] | None = None,
        expires_at: Instant | None = None,
        mandate: models.Mandate | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.MadeKey: ...

    @overload
    def create(
        self,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["read", "collect", "payout", "convert", "manage", "keys"]] | None = None,
        expires_at: Instant | None = None,
        mandate: models.Mandate | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def create(
        self,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["read", "collect", "payout", "convert", "manage", "keys"]] | None = None,
        expires_at: Instant | None = None,
        mandate: models.Mandate | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.MadeKey | models.DryRun:
        """Make a key.

        It may do what its maker may, and nothing else. Without `scopes` it may all of that but `keys`. With a
        `mandate` it takes out no more than that says.

        Needs the scope `keys`.

        Args:
            name: What people call it.
            scopes: What it may do.
            expires_at: In the future; never if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `too_many_attempts`, `too_many_keys`.
        """
        body = encode(
            {
                "name": ("name", VALUE),
                "scopes": ("scopes", VALUE),
                "expires_at": ("expiresAt", TIME),
                "mandate": ("mandate", ModelCodec("Mandate")),
            },
            {
                "name": name,
                "scopes": scopes,
                "expires_at": expires_at,
                "mandate": mandate,
            },
        )
        call = Call(
            "POST",
            "/v1/keys",
            body=body,
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.MadeKey.from_json)

    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.KeyList:
        """List keys.

        Newest first, without their secrets; also those that work no more.

        Needs the scope `keys`.
        """
        call = Call(
            "GET",
            "/v1/keys",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.KeyList.from_json)

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.KeyWithRemaining:
        """Read a key.

        Every key reads itself; another needs the scope `keys`.

        Needs the scope `keys`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/keys/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.KeyWithRemaining.from_json)

    @overload
    def update(
        self,
        id: str,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["read", "collect", "payout", "convert", "manage", "keys"]] | None = None,
        expires_at: Instant | None = None,
        mandate: models.Mandate | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Key: ...

    @overload
    def update(
        self,
        id: str,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["read", "collect", "payout", "convert", "manage", "keys"]] | None = None,
        expires_at: Instant | None = None,
        mandate: models.Mandate | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def update(
        self,
        id: str,
        *,
        name: str | None = None,
        scopes: Sequence[Literal["read", "collect", "payout", "convert", "manage", "keys"]] | None = None,
        expires_at: Instant | None = None,
        mandate: models.Mandate | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Key | models.DryRun:
        """Change a key.

        Only what is sent changes: null takes a name away, and an end. A mandate replaces the one before whole,
        keeps what was spent, and is not taken off. One that works no more is not found.

        Needs the scope `keys`.

        Args:
            name: What people call it.
            scopes: What it may do.
            expires_at: In the future; never if missing.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        body = encode(
            {
                "name": ("name", VALUE),
                "scopes": ("scopes", VALUE),
                "expires_at": ("expiresAt", TIME),
                "mandate": ("mandate", ModelCodec("Mandate")),
            },
            {
                "name": name,
                "scopes": scopes,
                "expires_at": expires_at,
                "mandate": mandate,
            },
        )
        call = Call(
            "PATCH",
            "/v1/keys/{id}",
            parts=(id,),
            body=body,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.Key.from_json)

    @overload
    def revoke(
        self,
        id: str,
        *,
        successors: bool | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.RevokedKey: ...

    @overload
    def revoke(
        self,
        id: str,
        *,
        successors: bool | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def revoke(
        self,
        id: str,
        *,
        successors: bool | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.RevokedKey | models.DryRun:
        """Revoke a key at once.

        Keys that came in its place work on, unless they are revoked too.

        Needs the scope `keys`.

        Args:
            successors: Whether all keys that came in its place are revoked too.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "DELETE",
            "/v1/keys/{id}",
            parts=(id,),
            query={"successors": successors},
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.RevokedKey.from_json)
