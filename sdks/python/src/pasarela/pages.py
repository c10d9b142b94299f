"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Items(Generic[T]):
    """The items of a page."""

    def __init__(self, items: list[T], next_cursor: str | None) -> None:
        self.items = items
        #: None exactly when nothing follows.
        self.next_cursor = next_cursor

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.items!r}, next_cursor={self.next_cursor!r})"


class Page(Items[T]):
    """One page of a list. `for item in page` walks this page; `for item in page.auto_paging()` all that follow too."""

    def __init__(self, items: list[T], next_cursor: str | None, fetch: Callable[[str], Page[T]]) -> None:
        super().__init__(items, next_cursor)
        self._fetch = fetch

    def next_page(self) -> Page[T] | None:
        """The page after this one, under the same filters."""
        return None if self.next_cursor is None else self._fetch(self.next_cursor)

    def auto_paging(self) -> Iterator[T]:
        """Every item from here on. Pages are fetched when they are reached; what is made meanwhile does not shift them."""
        page: Page[T] | None = self
        while page is not None:
            yield from page.items
            page = page.next_page()


class AsyncPage(Items[T]):
    """One page of a list. `for item in page` walks this page; `async for item in page.auto_paging()` all that follow too."""

    def __init__(self, items: list[T], next_cursor: str | None, fetch: Callable[[str], Awaitable[AsyncPage[T]]]) -> None:
        super().__init__(items, next_cursor)
        self._fetch = fetch

    async def next_page(self) -> AsyncPage[T] | None:
        """The page after this one, under the same filters."""
        return None if self.next_cursor is None else await self._fetch(self.next_cursor)

    async def auto_paging(self) -> AsyncIterator[T]:
        """Every item from here on. Pages are fetched when they are reached; what is made meanwhile does not shift them."""
        page: AsyncPage[T] | None = self
        while page is not None:
            for item in page.items:
                yield item
            page = await page.next_page()
