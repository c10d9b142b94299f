/** Lists that come in pages. */

/** One page of a list. */
export class Page<T> {
  constructor(
    readonly items: T[],
    /** Null exactly when nothing follows. */
    readonly nextCursor: string | null,
    private readonly fetchPage: (cursor: string) => Promise<Page<T>>,
  ) {}

  /** The page after this one, under the same filters. */
  async nextPage(): Promise<Page<T> | null> {
    return this.nextCursor === null ? null : this.fetchPage(this.nextCursor);
  }

  /** Every item from here on. Pages are fetched when they are reached; what is made meanwhile does not shift them. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let page: Page<T> | null = this; page !== null; page = await page.nextPage()) yield* page.items;
  }
}

/** A list that was not asked for yet: `await` it for its first page, or walk all of it with `for await`. */
export class Listing<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  constructor(private readonly first: () => Promise<Page<T>>) {}

  then<A = Page<T>, B = never>(done?: ((page: Page<T>) => A | PromiseLike<A>) | null, failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.first().then(done, failed);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this.first();
  }
}
