/** The client: one attribute per chapter of the reference, one method per call. */

import { Resources } from './generated/resources.js';
import * as shared from './generated/shared.js';
import { direct, proxied, through } from './proxy.js';
import { POLICY, type Policy } from './retries.js';
import { Session, type Logger, type RawOptions } from './session.js';
import type { StreamCalls, StreamOptions, StreamOutcome } from './streams.js';

export interface ClientOptions {
  /** Where the gateway is, such as `https://pay.example`. */
  baseUrl: string;
  /** For each try of a call; 60,000 if missing. */
  timeoutMs?: number;
  /** How often a lost answer and what passes is tried again; 2 if missing. */
  maxRetries?: number;
  policy?: Partial<Policy>;
  /** Has a line for each try, with method, path, status, duration, request id and retry: `console`, for example. Nothing is logged if missing. */
  logger?: Logger;
  /** Where calls go through, such as `http://user:password@proxy:3128`. */
  proxy?: string;
  /** What carries requests, in the place of the global one: without a server in tests, for example. */
  fetch?: typeof fetch;
  /** What waits between tries, for tests. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * A client of one account in one mode: the key says which. Use it on servers alone, never in a browser.
 *
 * Every POST takes an Idempotency-Key: yours (`idempotencyKey`) or a new one. Lost answers, 429 and transient 503 are
 * retried under the same key, with exponential backoff.
 */
export class Pasarela extends Resources {
  readonly #session: Session;

  constructor(key: string, options: ClientOptions) {
    // JavaScript may leave them out.
    if ((options as unknown) === undefined) throw new TypeError(shared.BASE_URL('baseUrl'));
    if (options.proxy !== undefined && options.fetch) throw new TypeError(shared.PROXY_AND_TRANSPORT('fetch'));
    const retries = options.maxRetries === undefined ? {} : { maxRetries: options.maxRetries };
    const requested = options.proxy === undefined ? direct : through(options.proxy);
    const session = new Session({
      key,
      baseUrl: options.baseUrl,
      timeoutMs: options.timeoutMs ?? 60_000,
      policy: { ...POLICY, ...retries, ...options.policy },
      logger: options.logger,
      fetch: options.fetch ?? (options.proxy === undefined ? fetch : proxied(requested)),
      requested,
      sleep: options.sleep ?? sleep,
    });
    super(session);
    this.#session = session;
  }

  /**
   * A call by its method and path, such as `request('GET', '/v1/payments/{id}', { parts: [paymentId] })`, with the same
   * key, retries and errors as every other: for what this version of the library has no method for. The path is logged as
   * it stands here: ids and references belong in `parts`. An Idempotency-Key goes with a POST under /v1/. Answers JSON as
   * it came: its numbers are numbers. Null where there is no body; bytes if `accept` is no JSON.
   */
  request<T = unknown>(method: string, path: string, options: RawOptions = {}): Promise<T> {
    return this.#session.raw(method, path, options) as Promise<T>;
  }

  /**
   * Makes many calls over one connection; yields what became of each, as it becomes certain. They are decided in their
   * order. A refused call is an outcome with `error`, and the others go on. The iterable is asked as fast as the server takes
   * calls, and at most some thousand ahead of their outcomes.
   *
   * After a cut or a failover it goes on by itself, under the same keys; 429, 503 and a key that is under way are sent again
   * with exponential backoff. `ConnectionFailed` if nothing went on for `patienceMs`. It goes over Node's own http, whatever
   * `fetch` the client was given.
   */
  stream(calls: StreamCalls, options: StreamOptions = {}): AsyncGenerator<StreamOutcome, void, undefined> {
    return this.#session.stream(calls, options);
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); reject(signal?.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve(); }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
