"""Webhook endpoints.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

from ...calls import Call
from ...model import VALUE, encode
from ...pages import Page
from ...session import Session
from .. import models


class Webhooks:
    """Where events are sent. An event is sent once to each endpoint that lists it, signed, with 10 seconds to answer
    2xx; duplicates are possible after a crash, so deduplicate on `webhook-id`. With `retry` `backoff` what was not
    answered 2xx is tried again, 8 times over a day, and `Svc-Attempt` counts the tries. Verify `webhook-signature`
    (Standard Webhooks), and refuse what was sent more than five minutes ago: `Svc-Signature` covers the body alone,
    so a replay passes it, unless the endpoint's `signature` is `timestamped`. What was missed is in `GET
    /v1/events`.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @overload
    def create(
        self,
        *,
        url: str,
        events: Sequence[Literal["payment.completed", "payment.failed", "payment.canceled", "payment.reversed", "payment.chargeback", "payment.chargeback_closed", "payout.completed", "payout.failed", "merchant.verified", "merchant.rejected", "merchant.deactivated", "merchant.reactivated", "merchant.balance.updated", "conversion.created", "conversion.completed", "conversion.canceled", "tenant.live_status_changed", "crypto_payout.completed", "crypto_payout.failed", "crypto_deposit.completed", "test.reset"]],
        retry: Literal["none", "backoff"] | None = None,
        signature: Literal["hex", "timestamped"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.NewlySignedWebhook: ...

    @overload
    def create(
        self,
        *,
        url: str,
        events: Sequence[Literal["payment.completed", "payment.failed", "payment.canceled", "payment.reversed", "payment.chargeback", "payment.chargeback_closed", "payout.completed", "payout.failed", "merchant.verified", "merchant.rejected", "merchant.deactivated", "merchant.reactivated", "merchant.balance.updated", "conversion.created", "conversion.completed", "conversion.canceled", "tenant.live_status_changed", "crypto_payout.completed", "crypto_payout.failed", "crypto_deposit.completed", "test.reset"]],
        retry: Literal["none", "backoff"] | None = None,
        signature: Literal["hex", "timestamped"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def create(
        self,
        *,
        url: str,
        events: Sequence[Literal["payment.completed", "payment.failed", "payment.canceled", "payment.reversed", "payment.chargeback", "payment.chargeback_closed", "payout.completed", "payout.failed", "merchant.verified", "merchant.rejected", "merchant.deactivated", "merchant.reactivated", "merchant.balance.updated", "conversion.created", "conversion.completed", "conversion.canceled", "tenant.live_status_changed", "crypto_payout.completed", "crypto_payout.failed", "crypto_deposit.completed", "test.reset"]],
        retry: Literal["none", "backoff"] | None = None,
        signature: Literal["hex", "timestamped"] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.NewlySignedWebhook | models.DryRun:
        """Register an endpoint.

        https in live mode; no private address. The signing secret is in this answer alone.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `too_many_webhooks`.
        """
        body = encode(
            {
                "url": ("url", VALUE),
                "events": ("events", VALUE),
                "retry": ("retry", VALUE),
                "signature": ("signature", VALUE),
            },
            {
                "url": url,
                "events": events,
                "retry": retry,
                "signature": signature,
            },
        )
        call = Call(
            "POST",
            "/v1/webhooks",
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
        return self._session.model(call, models.NewlySignedWebhook.from_json)

    def list(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.WebhookList:
        """List endpoints.

        Needs the scope `read`.
        """
        call = Call(
            "GET",
            "/v1/webhooks",
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.WebhookList.from_json)

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Webhook:
        """Read an endpoint.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/webhooks/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.Webhook.from_json)

    @overload
    def update(
        self,
        id: str,
        *,
        url: str | None = None,
        events: Sequence[Literal["payment.completed", "payment.failed", "payment.canceled", "payment.reversed", "payment.chargeback", "payment.chargeback_closed", "payout.completed", "payout.failed", "merchant.verified", "merchant.rejected", "merchant.deactivated", "merchant.reactivated", "merchant.balance.updated", "conversion.created", "conversion.completed", "conversion.canceled", "tenant.live_status_changed", "crypto_payout.completed", "crypto_payout.failed", "crypto_deposit.completed", "test.reset"]] | None = None,
        status: Literal["enabled", "disabled"] | None = None,
        retry: Literal["none", "backoff"] | None = None,
        signature: Literal["hex", "timestamped"] | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Webhook: ...

    @overload
    def update(
        self,
        id: str,
        *,
        url: str | None = None,
        events: Sequence[Literal["payment.completed", "payment.failed", "payment.canceled", "payment.reversed", "payment.chargeback", "payment.chargeback_closed", "payout.completed", "payout.failed", "merchant.verified", "merchant.rejected", "merchant.deactivated", "merchant.reactivated", "merchant.balance.updated", "conversion.created", "conversion.completed", "conversion.canceled", "tenant.live_status_changed", "crypto_payout.completed", "crypto_payout.failed", "crypto_deposit.completed", "test.reset"]] | None = None,
        status: Literal["enabled", "disabled"] | None = None,
        retry: Literal["none", "backoff"] | None = None,
        signature: Literal["hex", "timestamped"] | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def update(
        self,
        id: str,
        *,
        url: str | None = None,
        events: Sequence[Literal["payment.completed", "payment.failed", "payment.canceled", "payment.reversed", "payment.chargeback", "payment.chargeback_closed", "payout.completed", "payout.failed", "merchant.verified", "merchant.rejected", "merchant.deactivated", "merchant.reactivated", "merchant.balance.updated", "conversion.created", "conversion.completed", "conversion.canceled", "tenant.live_status_changed", "crypto_payout.completed", "crypto_payout.failed", "crypto_deposit.completed", "test.reset"]] | None = None,
        status: Literal["enabled", "disabled"] | None = None,
        retry: Literal["none", "backoff"] | None = None,
        signature: Literal["hex", "timestamped"] | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Webhook | models.DryRun:
        """Change an endpoint.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `webhook_busy`.
        """
        body = encode(
            {
                "url": ("url", VALUE),
                "events": ("events", VALUE),
                "status": ("status", VALUE),
                "retry": ("retry", VALUE),
                "signature": ("signature", VALUE),
            },
            {
                "url": url,
                "events": events,
                "status": status,
                "retry": retry,
                "signature": signature,
            },
        )
        call = Call(
            "PATCH",
            "/v1/webhooks/{id}",
            parts=(id,),
            body=body,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.Webhook.from_json)

    @overload
    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.DeleteWebhookResult: ...

    @overload
    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.DeleteWebhookResult | models.DryRun:
        """Delete an endpoint.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "DELETE",
            "/v1/webhooks/{id}",
            parts=(id,),
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.DeleteWebhookResult.from_json)

    @overload
    def rotate_secret(
        self,
        id: str,
        *,
        overlap_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.NewlySignedWebhook: ...

    @overload
    def rotate_secret(
        self,
        id: str,
        *,
        overlap_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def rotate_secret(
        self,
        id: str,
        *,
        overlap_seconds: int | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.NewlySignedWebhook | models.DryRun:
        """Replace an endpoint's secret.

        Deliveries from now on are signed with the new one. In the forms that bear several signatures the one before
        signs beside it, for a day or as long as `overlapSeconds` says; 0 ends every older one.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        body = encode(
            {
                "overlap_seconds": ("overlapSeconds", VALUE),
            },
            {
                "overlap_seconds": overlap_seconds,
            },
        )
        call = Call(
            "POST",
            "/v1/webhooks/{id}/rotate-secret",
            parts=(id,),
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
        return self._session.model(call, models.NewlySignedWebhook.from_json)

    def list_deliveries(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.Delivery]:
        """List the deliveries of an endpoint.

        Needs the scope `read`.

        Args:
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/webhooks/{id}/deliveries",
            parts=(id,),
            query={"limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.Delivery.from_json)

    @overload
    def resend_event(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Deliveries: ...

    @overload
    def resend_event(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def resend_event(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Deliveries | models.DryRun:
        """Send an event again.

        To every enabled endpoint that lists it now, with the same `Svc-Event-Id`. An endpoint with 100 such
        deliveries waiting is left out; 503 `overloaded` when that is all of them.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "POST",
            "/v1/events/{id}/resend",
            parts=(id,),
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.Deliveries.from_json)

    @overload
    def send_test_notification(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.TestDeliveries: ...

    @overload
    def send_test_notification(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def send_test_notification(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.TestDeliveries | models.DryRun:
        """Send a test delivery.

        `notification.test` to every enabled endpoint of the key's mode. It is no event: it has no number and is not
        listed. While too many tests are under way one may fail unsent; its `error` says so.

        Needs the scope `manage`.
        """
        call = Call(
            "POST",
            "/v1/notifications/test",
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return self._session.model(call, models.DryRun.from_json)
        return self._session.model(call, models.TestDeliveries.from_json)
