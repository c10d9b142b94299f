/** What a caller sets, checked once and before anything is sent: what is wrong here would be a lost answer later, or a wait without an end. */

import * as shared from './generated/shared.js';
import type { Policy } from './retries.js';
import type { Call, KeyedOptions } from './session.js';

const DAY_MS = shared.TIMEOUT_MAX_SECONDS * 1000;

export function checkKey(key: string): void {
  if (!shared.KEY_FORM.test(key)) throw new TypeError(shared.KEY);
}

export function checkTimeout(timeoutMs: number): void {
  if (!isBetween(0, timeoutMs, DAY_MS) || timeoutMs === 0) throw new TypeError(shared.TIMEOUT('milliseconds', DAY_MS));
}

export function checkRetries(retries: number): void {
  if (!Number.isInteger(retries) || !isBetween(0, retries, shared.RETRIES_MAX)) throw new TypeError(shared.RETRIES(shared.RETRIES_MAX));
}

export function checkPolicy({ maxRetries, firstWaitMs, longestWaitMs, longestRetryAfter }: Policy): void {
  checkRetries(maxRetries);
  for (const [name, wait] of Object.entries({ firstWaitMs, longestWaitMs })) {
    if (!isBetween(0, wait, DAY_MS)) throw new TypeError(shared.WAIT(name, 'milliseconds', DAY_MS));
  }
  if (!isBetween(0, longestRetryAfter, shared.TIMEOUT_MAX_SECONDS)) throw new TypeError(shared.WAIT('longestRetryAfter', 'seconds', shared.TIMEOUT_MAX_SECONDS));
}

/** What a caller may say about a call. */
export function checkCall(call: Call, { timeoutMs, maxRetries, requestId, idempotencyKey }: KeyedOptions): void {
  if (timeoutMs !== undefined) checkTimeout(timeoutMs);
  if (maxRetries !== undefined) checkRetries(maxRetries);
  if (requestId !== undefined && !shared.REQUEST_ID_FORM.test(requestId)) throw new TypeError(shared.REQUEST_ID);
  if (idempotencyKey === undefined) return;
  // It would be sent for nothing, or not at all, and taken for a promise.
  if (!call.keyed) throw new TypeError(shared.NO_IDEMPOTENCY_KEY(call.method, call.path));
  if (!shared.IDEMPOTENCY_KEY_FORM.test(idempotencyKey)) throw new TypeError(shared.IDEMPOTENCY_KEY);
}

/** A line feed would begin another header. The message names the header and not what is in it, which may be a secret. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) if (!shared.HEADER_FORM.test(value)) throw new TypeError(shared.HEADER(name));
}

/** A finished path, which is all of its parts: `fetch` would take a dot for a folder, and another object would be read. */
export function checkPath(path: string): void {
  if (/[{}]/.test(path)) throw new TypeError(shared.PARTS);
  if (path.replace(/%2e/gi, '.').split('/').some((part) => part === '.' || part === '..')) throw new TypeError(shared.DOT_PART);
}

/** Whether it is a number, and one between those: NaN is not. */
function isBetween(least: number, value: unknown, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}
