"""Products and links.

Written by sdks/generate from the server's description: change that, not this.
"""

from __future__ import annotations

from typing import Literal, overload

from ...calls import Call
from ...model import DECIMAL, NUMBER, VALUE, Amount, encode
from ...pages import AsyncPage
from ...session import AsyncSession
from .. import models


class AsyncProducts:
    """What you sell, and the links under which buyers pay for it at `/pay/{slug}`."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    @overload
    async def create(
        self,
        *,
        name: str,
        price_usd: Amount,
        description: str | None = None,
        image_url: str | None = None,
        active: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Product: ...

    @overload
    async def create(
        self,
        *,
        name: str,
        price_usd: Amount,
        description: str | None = None,
        image_url: str | None = None,
        active: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create(
        self,
        *,
        name: str,
        price_usd: Amount,
        description: str | None = None,
        image_url: str | None = None,
        active: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Product | models.DryRun:
        """Create a product.

        Needs the scope `manage`.

        Args:
            price_usd: US dollars from "0.01" to "100000.00".
            image_url: https; http to loopback in test mode. Empty clears it.
        """
        body = encode(
            {
                "name": ("name", VALUE),
                "price_usd": ("priceUsd", DECIMAL),
                "description": ("description", VALUE),
                "image_url": ("imageUrl", VALUE),
                "active": ("active", VALUE),
            },
            {
                "name": name,
                "price_usd": price_usd,
                "description": description,
                "image_url": image_url,
                "active": active,
            },
        )
        call = Call(
            "POST",
            "/v1/products",
            body=body,
            keyed=True,
            idempotency_key=idempotency_key,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.Product.from_json)

    async def list(
        self,
        *,
        active: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> AsyncPage[models.Product]:
        """List products.

        Needs the scope `read`.

        Args:
            limit: Items on a page.
            cursor: The `nextCursor` of the page before, with the same filters.
        """
        call = Call(
            "GET",
            "/v1/products",
            query={"active": active, "limit": limit, "cursor": cursor},
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.page(call, models.Product.from_json)

    async def get(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.Product:
        """Read a product and its links.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/products/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.Product.from_json)

    @overload
    async def update(
        self,
        id: str,
        *,
        name: str | None = None,
        price_usd: Amount | None = None,
        description: str | None = None,
        image_url: str | None = None,
        active: bool | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.Product: ...

    @overload
    async def update(
        self,
        id: str,
        *,
        name: str | None = None,
        price_usd: Amount | None = None,
        description: str | None = None,
        image_url: str | None = None,
        active: bool | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def update(
        self,
        id: str,
        *,
        name: str | None = None,
        price_usd: Amount | None = None,
        description: str | None = None,
        image_url: str | None = None,
        active: bool | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.Product | models.DryRun:
        """Change a product.

        Only what is sent changes; an empty `description` or `imageUrl` clears it.

        Needs the scope `manage`.

        Args:
            price_usd: US dollars from "0.01" to "100000.00".
            image_url: https; http to loopback in test mode. Empty clears it.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        body = encode(
            {
                "name": ("name", VALUE),
                "price_usd": ("priceUsd", DECIMAL),
                "description": ("description", VALUE),
                "image_url": ("imageUrl", VALUE),
                "active": ("active", VALUE),
            },
            {
                "name": name,
                "price_usd": price_usd,
                "description": description,
                "image_url": image_url,
                "active": active,
            },
        )
        call = Call(
            "PATCH",
            "/v1/products/{id}",
            parts=(id,),
            body=body,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.Product.from_json)

    @overload
    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.DeleteProductResult: ...

    @overload
    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def delete(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.DeleteProductResult | models.DryRun:
        """Delete a product and its links.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `product_has_sales`.
        """
        call = Call(
            "DELETE",
            "/v1/products/{id}",
            parts=(id,),
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.DeleteProductResult.from_json)

    @overload
    async def create_link(
        self,
        id: str,
        *,
        slug: str | None = None,
        allow_quantity: bool | None = None,
        max_quantity: int | None = None,
        redirect_url: str | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PaymentLink: ...

    @overload
    async def create_link(
        self,
        id: str,
        *,
        slug: str | None = None,
        allow_quantity: bool | None = None,
        max_quantity: int | None = None,
        redirect_url: str | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def create_link(
        self,
        id: str,
        *,
        slug: str | None = None,
        allow_quantity: bool | None = None,
        max_quantity: int | None = None,
        redirect_url: str | None = None,
        merchant_id: str | None = None,
        application_fee_percent: Amount | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PaymentLink | models.DryRun:
        """Create a payment link.

        The slug is made from the product's name when none is sent. With `merchantId` the sale is a marketplace
        sale.

        Needs the scope `manage`.

        Args:
            redirect_url: https; http to loopback in test mode. Empty clears it.

        Raises:
            ApiError: beside the codes that every call has, with `code` `merchant_inactive`, `not_found`,
                `slug_taken`, `too_many_links`.
        """
        body = encode(
            {
                "slug": ("slug", VALUE),
                "allow_quantity": ("allowQuantity", VALUE),
                "max_quantity": ("maxQuantity", VALUE),
                "redirect_url": ("redirectUrl", VALUE),
                "merchant_id": ("merchantId", VALUE),
                "application_fee_percent": ("applicationFeePercent", NUMBER),
            },
            {
                "slug": slug,
                "allow_quantity": allow_quantity,
                "max_quantity": max_quantity,
                "redirect_url": redirect_url,
                "merchant_id": merchant_id,
                "application_fee_percent": application_fee_percent,
            },
        )
        call = Call(
            "POST",
            "/v1/products/{id}/links",
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
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.PaymentLink.from_json)

    async def list_links(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.PaymentLinkList:
        """List a product's links.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/products/{id}/links",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.PaymentLinkList.from_json)

    async def get_link(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
    ) -> models.PaymentLink:
        """Read a payment link.

        Needs the scope `read`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        call = Call(
            "GET",
            "/v1/payment-links/{id}",
            parts=(id,),
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        return await self._session.model(call, models.PaymentLink.from_json)

    @overload
    async def update_link(
        self,
        id: str,
        *,
        status: Literal["active", "disabled"] | None = None,
        allow_quantity: bool | None = None,
        max_quantity: int | None = None,
        redirect_url: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.PaymentLink: ...

    @overload
    async def update_link(
        self,
        id: str,
        *,
        status: Literal["active", "disabled"] | None = None,
        allow_quantity: bool | None = None,
        max_quantity: int | None = None,
        redirect_url: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def update_link(
        self,
        id: str,
        *,
        status: Literal["active", "disabled"] | None = None,
        allow_quantity: bool | None = None,
        max_quantity: int | None = None,
        redirect_url: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.PaymentLink | models.DryRun:
        """Change a payment link.

        Needs the scope `manage`.

        Args:
            redirect_url: https; http to loopback in test mode. Empty clears it.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`.
        """
        body = encode(
            {
                "status": ("status", VALUE),
                "allow_quantity": ("allowQuantity", VALUE),
                "max_quantity": ("maxQuantity", VALUE),
                "redirect_url": ("redirectUrl", VALUE),
            },
            {
                "status": status,
                "allow_quantity": allow_quantity,
                "max_quantity": max_quantity,
                "redirect_url": redirect_url,
            },
        )
        call = Call(
            "PATCH",
            "/v1/payment-links/{id}",
            parts=(id,),
            body=body,
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.PaymentLink.from_json)

    @overload
    async def delete_link(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[False] = False,
    ) -> models.DeletePaymentLinkResult: ...

    @overload
    async def delete_link(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: Literal[True],
    ) -> models.DryRun: ...

    async def delete_link(
        self,
        id: str,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        request_id: str | None = None,
        dry_run: bool = False,
    ) -> models.DeletePaymentLinkResult | models.DryRun:
        """Delete a payment link.

        Needs the scope `manage`.

        Raises:
            ApiError: beside the codes that every call has, with `code` `not_found`, `product_has_sales`.
        """
        call = Call(
            "DELETE",
            "/v1/payment-links/{id}",
            parts=(id,),
            dry_run=dry_run,
            timeout=timeout,
            max_retries=max_retries,
            request_id=request_id,
        )
        if dry_run:
            return await self._session.model(call, models.DryRun.from_json)
        return await self._session.model(call, models.DeletePaymentLinkResult.from_json)
