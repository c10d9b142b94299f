"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list. `for item in page` walks this page; `for item in page.auto_paging()` all that follow too."""

    def __init__(self, items: list[T], next_cursor: str | None, fetch: Callable[[str], Page[T]]) -> None:
        self.items = items
        #: None exactly when nothing follows.
        self.next_cursor = next_cursor
        self._fetch = fetch

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"Page({self.items!r}, next_cursor={self.next_cursor!r})"

    def next_page(self) -> Page[T] | None:
        """The page after this one, under the same filters."""
        return None if self.next_cursor is None else self._fetch(self.next_cursor)

    def auto_paging(self) -> Iterator[T]:
        """Every item from here on. Pages are fetched when they are reached; what is made meanwhile does not shift them."""
        page: Page[T] | None = self
        while page is not None:
            yield from page.items
            page = page.next_page()
