<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * One page of a list. `foreach ($page as $item)` walks this page, `foreach ($page->autoPaging() as $item)` all that
 * follow too.
 *
 * @template T
 * @implements \IteratorAggregate<int, T>
 */
final class Page implements \IteratorAggregate, \Countable
{
    /**
     * @internal
     * @param list<T> $items
     * @param ?string $nextCursor null exactly when nothing follows
     * @param \Closure(string): Page<T> $fetch
     */
    public function __construct(public readonly array $items, public readonly ?string $nextCursor, private readonly \Closure $fetch)
    {
    }

    /** @return \ArrayIterator<int, T> */
    public function getIterator(): \ArrayIterator
    {
        return new \ArrayIterator($this->items);
    }

    public function count(): int
    {
        return count($this->items);
    }

    /**
     * The page after this one, under the same filters.
     *
     * @return ?Page<T>
     */
    public function nextPage(): ?self
    {
        return $this->nextCursor === null ? null : ($this->fetch)($this->nextCursor);
    }

    /**
     * Every item from here on. Pages are fetched when they are reached; what is made meanwhile does not shift them.
     *
     * @return \Generator<int, T>
     */
    public function autoPaging(): \Generator
    {
        for ($page = $this; $page !== null; $page = $page->nextPage()) {
            foreach ($page->items as $item) {
                yield $item;
            }
        }
    }
}
