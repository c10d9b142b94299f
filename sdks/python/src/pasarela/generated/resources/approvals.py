"""Approvals.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from typing import Literal, overload

from ...calls import Call
from ...pages import Page
from ...session import Session
from .. import models


class Approvals:
    """Calls of a key whose mandate has `approvalAbove`: above it they are answered 202 with `awaiting_approval`, and
    nothing is spent or debited. Somebody of the account decides, in the portal or with a key that has the scope
    `keys`; after 24 hours of the account's clock, or when its key is revoked, the call has expired. What is
    approved is decided then, by the balance and the limits of then.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def list(
        self,
        *,
        status: Literal["awaiting_approval", "approved", "rejected", "expired"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> Page[models.MandateApproval]:
        """List calls that wait or waited for an approval.

        Needs the scope `keys`.

        Args:
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/approvals",
            query={"status": status, "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.page(call, models.MandateApproval.from_json)

    def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.MandateApproval:
        """Read a call that waits or waited for an approval.

        The key that asked reads its own; another needs the scope `keys`.

        Needs the scope `keys`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/approvals/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return self._session.model(call, models.MandateApproval.from_json)

    @overload
    def approve(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.ApprovedCall: ...

    @overload
    def approve(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def approve(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.ApprovedCall | models.DryRun:
        """Approve a call, which is done now.

        What the call is refused for is answered as to the call itself; it waits on then.

        Needs the scope `keys`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `amount_below_minimum`, `approval_decided`,
                `approval_expired`, `conversions_not_enabled`, `cop_not_enabled`, `daily_limit_exceeded`,
                `external_ref_conflict`, `insufficient_balance`, `mandate_exceeded`, `mandate_payee`,
                `merchant_inactive`, `not_found`, `not_reversible`, `payment_not_completed`,
                `payout_account_not_verified`, `payout_method_not_verified`, `processor_unavailable`,
                `quote_expired`, `quote_used`, `rail_not_configured`, `rail_unavailable`, `rate_unavailable`,
                `refund_in_progress`, `refund_window_expired`, `reversal_in_progress`, `reversal_refused`,
                `reversal_window_expired`, `usdt_not_enabled`.
        """
        call = Call(
            "POST",
            "/v1/approvals/{id}/approve",
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
        return self._session.model(call, models.ApprovedCall.from_json)

    @overload
    def reject(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.MandateApproval: ...

    @overload
    def reject(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    def reject(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.MandateApproval | models.DryRun:
        """Reject a call.

        Needs the scope `keys`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `approval_decided`, `approval_expired`,
                `not_found`.
        """
        call = Call(
            "POST",
            "/v1/approvals/{id}/reject",
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
        return self._session.model(call, models.MandateApproval.from_json)
