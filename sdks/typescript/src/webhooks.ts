/** Deliveries of events: whether they are from the gateway, of now, and unchanged. As Standard Webhooks signs them. */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { SignatureError } from './errors.js';
import type { EventData } from './generated/models.js';
import * as shared from './generated/shared.js';
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
  checkBody(body);
  const id = header(headers, 'webhook-id');
  const { sentAt, sent, wanted } = options.timestamped === undefined ? standard(id, body, headers, [secret].flat()) : timestamped(options.timestamped, body, headers, [secret].flat());
  if (!id || !/^[0-9]{1,15}$/.test(sentAt)) throw new SignatureError(shared.WEBHOOK_HEADERS);
  // Every pair is compared, each in constant time: how long it takes says nothing.
  const pairs = sent.flatMap((one) => wanted.map((right) => isSame(one, right)));
  if (!pairs.includes(true)) throw new SignatureError(shared.WEBHOOK_SIGNATURE);
  const now = (options.now ?? Date.now()) / 1000;
  if (Math.abs(now - Number(sentAt)) > (options.toleranceSeconds ?? 300)) {
    throw new SignatureError(shared.WEBHOOK_TIME);
  }
  return { id, ...envelope(body) } as WebhookEvent;
}

export interface SignOptions {
  /** `evt_test` if missing. */
  id?: string;
  /** Milliseconds since 1970; now if missing. */
  now?: number;
  /** The header of an endpoint whose `signature` is `timestamped`, to sign that one too. */
  timestamped?: string;
}

/**
 * The headers of a delivery as the gateway would sign it now: for the tests of a program that receives webhooks. `body`
 * is an event as text: `{"event": "payment.completed", "data": {…}, "timestamp": "2026-01-01T00:00:00.000Z"}`.
 */
export function signWebhook(body: Uint8Array | string, secret: string, options: SignOptions = {}): Record<string, string> {
  checkBody(body);
  const id = options.id ?? 'evt_test';
  const sentAt = String(Math.floor((options.now ?? Date.now()) / 1000));
  const headers: Record<string, string> = { 'webhook-id': id, 'webhook-timestamp': sentAt, 'webhook-signature': standardSignature(secret, id, sentAt, body) };
  if (options.timestamped !== undefined) headers[options.timestamped.toLowerCase()] = `t=${sentAt},${timestampedSignature(secret, sentAt, body)}`;
  return headers;
}

/** When a delivery was sent, the signatures that it bears, and those that would be right. */
interface Signatures {
  sentAt: string;
  sent: string[];
  wanted: string[];
}

function standard(id: string, body: Uint8Array | string, headers: HeaderSource, secrets: string[]): Signatures {
  const sentAt = header(headers, 'webhook-timestamp');
  return { sentAt, sent: header(headers, 'webhook-signature').split(' '), wanted: secrets.map((secret) => standardSignature(secret, id, sentAt, body)) };
}

function timestamped(name: string, body: Uint8Array | string, headers: HeaderSource, secrets: string[]): Signatures {
  const [at = '', ...sent] = header(headers, name.toLowerCase()).split(',');
  const sentAt = at.replace(/^t=/, '');
  return { sentAt, sent, wanted: secrets.map((secret) => timestampedSignature(secret, sentAt, body)) };
}

function standardSignature(secret: string, id: string, sentAt: string, body: Uint8Array | string): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${sentAt}.`).update(body).digest('base64')}`;
}

function timestampedSignature(secret: string, sentAt: string, body: Uint8Array | string): string {
  keyOf(secret); // here the whole text of a secret is the key; one that is none is refused all the same
  return `v1=${createHmac('sha256', secret).update(`${sentAt}.`).update(body).digest('hex')}`;
}

function checkBody(body: unknown): void {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new TypeError(shared.WEBHOOK_BODY);
}

function envelope(body: Uint8Array | string): { event: string; data: unknown; timestamp: string } {
  let read: unknown;
  try {
    read = JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new SignatureError(shared.WEBHOOK_EVENT, { cause });
  }
  const { event, data, timestamp } = (read ?? {}) as Record<string, unknown>;
  if (typeof event !== 'string' || typeof timestamp !== 'string' || typeof data !== 'object') {
    throw new SignatureError(shared.WEBHOOK_EVENT);
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
  if (typeof (secret as unknown) !== 'string') throw new TypeError(shared.WEBHOOK_SECRET); // process.env.SECRET of nobody
  const encoded = secret.replace(/^whsec_/, '');
  const key = Buffer.from(encoded, 'base64');
  // Of one letter Node reads no byte: with an empty key anybody can sign.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || key.length === 0) throw new TypeError(shared.WEBHOOK_SECRET);
  return key;
}
