/** The client: one attribute per chapter of the reference, one method per call. */

import { Resources } from './generated/resources.js';
import { POLICY, type Policy } from './retries.js';
import { Session } from './session.js';

export interface ClientOptions {
  /** Where the gateway is, such as `https://pay.example`. */
  baseUrl: string;
  /** For each try of a call; 60,000 if missing. */
  timeoutMs?: number;
  /** How often a lost answer and what passes is tried again; 2 if missing. */
  maxRetries?: number;
  policy?: Partial<Policy>;
  /** What carries requests, in the place of the global one: through a proxy, or without a server in tests. */
  fetch?: typeof fetch;
  /** What waits between tries, for tests. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * A client of one account in one mode: the key says which. Use it on servers alone, never in a browser.
 *
 * Every POST bears an Idempotency-Key: yours (`idempotencyKey`) or a new one. Lost answers, 429 and the 503 that pass
 * are tried again under the same key, after a wait that grows.
 */
export class Pasarela extends Resources {
  constructor(key: string, options: ClientOptions) {
    const retries = options.maxRetries === undefined ? {} : { maxRetries: options.maxRetries };
    super(
      new Session({
        key,
        baseUrl: options.baseUrl,
        timeoutMs: options.timeoutMs ?? 60_000,
        policy: { ...POLICY, ...retries, ...options.policy },
        fetch: options.fetch ?? fetch,
        sleep: options.sleep ?? sleep,
      }),
    );
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); reject(signal?.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve(); }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
