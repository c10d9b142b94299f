/**
 * When a request is sent again, and after how long. Pure: what happened goes in, a wait comes out. A request is
 * repeated only where that cannot move money twice: because nothing was done the first time, or because doing it again
 * is the same (a read, a POST under an Idempotency-Key, a PUT).
 */

import { LASTING, NOTHING_DONE } from './generated/shared.js';

/** What became of one try. */
export interface Outcome {
  /** Undefined when no whole answer came. */
  status?: number;
  code?: string;
  retryAfter?: number | undefined;
  /** Whether the gateway may have got it. */
  wasSent: boolean;
}

export interface Policy {
  maxRetries: number;
  firstWaitMs: number;
  longestWaitMs: number;
  /** In seconds; beyond it the caller decides: the error says `retryAfter`. */
  longestRetryAfter: number;
}

export const POLICY: Policy = { maxRetries: 2, firstWaitMs: 500, longestWaitMs: 8000, longestRetryAfter: 30 };

/** Milliseconds to wait before the next try, after `tries` of them; null when the outcome stands. */
export function waitMs(policy: Policy, tries: number, outcome: Outcome, repeatable: boolean, chance: () => number = Math.random): number | null {
  if (tries > policy.maxRetries || !worthRepeating(outcome, repeatable)) return null;
  if (outcome.retryAfter !== undefined && outcome.retryAfter > policy.longestRetryAfter) return null;
  // Half of the wait is by chance, so that many clients do not come back at once.
  const wait = Math.min(policy.longestWaitMs, policy.firstWaitMs * 2 ** (tries - 1)) * (0.5 + chance() / 2);
  return Math.max(wait, (outcome.retryAfter ?? 0) * 1000);
}

/** Whether a request may be sent again, and whether that helps. */
export function worthRepeating({ status, code = '', retryAfter, wasSent }: Outcome, repeatable: boolean): boolean {
  if (status === undefined) return repeatable || !wasSent;
  if (NOTHING_DONE.has(code) || status === 429) return true;
  if (status === 409) return repeatable && code === 'idempotency_in_progress'; // the first request with this key is under way
  if (status === 503 && LASTING.has(code)) return repeatable && retryAfter !== undefined;
  return repeatable && [500, 502, 503, 504].includes(status);
}
