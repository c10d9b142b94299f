/** Deliveries of events: whether they are from the gateway, of now, and unchanged. As Standard Webhooks signs them. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { SignatureError } from './errors.js';
import type { EventData } from './generated/models.js';
import { decodeEvent } from './wire.js';

/** A verified delivery. `id` is the same on every delivery of one event: do what it asks once per id. */
export type WebhookEvent = {
  [Name in keyof EventData]: {
    id: string;
    event: Name;
    /** How things stood when it happened. */
    data: EventData[Name];
    timestamp: string;
  };
}[keyof EventData];

export interface WebhookOptions {
  /** 300 if missing: what was sent longer ago, or ahead, is refused as a replay. */
  toleranceSeconds?: number;
  /** Milliseconds since 1970, for tests. */
  now?: number;
  /**
   * The header of an endpoint's own signature, such as `Svc-Signature`, where that is to be verified instead of
   * `webhook-signature`: the endpoint's `signature` is then `timestamped`.
   */
  timestamped?: string;
}

/** Headers as Node, Express or `fetch` give them; names in any case. */
export type HeaderSource = { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The event of a delivery, or SignatureError. `body` is what was received, byte for byte: parse nothing before. While a
 * secret is being changed give both.
 */
export function verifyWebhook(body: Uint8Array | string, headers: HeaderSource, secret: string | readonly string[], options: WebhookOptions = {}): WebhookEvent {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('the body is what was received, as bytes or text: verify it before anything parses it');
  }
  const id = header(headers, 'webhook-id');
  const { sentAt, sent, wanted } = options.timestamped === undefined ? standard(id, body, headers, [secret].flat()) : timestamped(options.timestamped, body, headers, [secret].flat());
  if (!id || !/^[0-9]{1,15}$/.test(sentAt)) throw new SignatureError('a delivery has the headers webhook-id, webhook-timestamp and webhook-signature');
  // Every pair is compared, each in constant time: how long it takes says nothing.
  const pairs = sent.flatMap((one) => wanted.map((right) => isSame(one, right)));
  if (!pairs.includes(true)) throw new SignatureError('no signature of this delivery is right');
  const now = (options.now ?? Date.now()) / 1000;
  if (Math.abs(now - Number(sentAt)) > (options.toleranceSeconds ?? 300)) {
    throw new SignatureError('the delivery was not sent just now; a replay, or a clock that is wrong');
  }
  return { id, ...envelope(body) } as WebhookEvent;
}

/** When a delivery was sent, the signatures that it bears, and those that would be right. */
interface Signatures {
  sentAt: string;
  sent: string[];
  wanted: string[];
}

function standard(id: string, body: Uint8Array | string, headers: HeaderSource, secrets: string[]): Signatures {
  const sentAt = header(headers, 'webhook-timestamp');
  const right = (secret: string) => createHmac('sha256', keyOf(secret)).update(`${id}.${sentAt}.`).update(body).digest('base64');
  return { sentAt, sent: header(headers, 'webhook-signature').split(' '), wanted: secrets.map((secret) => `v1,${right(secret)}`) };
}

function timestamped(name: string, body: Uint8Array | string, headers: HeaderSource, secrets: string[]): Signatures {
  const [at = '', ...sent] = header(headers, name.toLowerCase()).split(',');
  const sentAt = at.replace(/^t=/, '');
  // Here the whole text of a secret is the key; one that is none is refused all the same.
  const right = (secret: string) => createHmac('sha256', keyOf(secret) && secret).update(`${sentAt}.`).update(body).digest('hex');
  return { sentAt, sent, wanted: secrets.map((secret) => `v1=${right(secret)}`) };
}

function envelope(body: Uint8Array | string): { event: string; data: unknown; timestamp: string } {
  let read: unknown;
  try {
    read = JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new SignatureError('the delivery is signed, and is no event', { cause });
  }
  const { event, data, timestamp } = (read ?? {}) as Record<string, unknown>;
  if (typeof event !== 'string' || typeof timestamp !== 'string' || typeof data !== 'object') {
    throw new SignatureError('the delivery is signed, and is no event');
  }
  return { event, data: decodeEvent(event, data), timestamp };
}

function isSame(sent: string, right: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function header(headers: HeaderSource, name: string): string {
  if (typeof headers['get'] === 'function') return (headers as Headers).get(name) ?? '';
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return [found ?? ''].flat().join(' ');
}

/** The key in `whsec_…`. */
function keyOf(secret: string): Buffer {
  const encoded = secret.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    throw new TypeError('a signing secret is whsec_ and base64, as the answer that registered the endpoint showed it');
  }
  return Buffer.from(encoded, 'base64');
}
