/** The way of a call: path and body, key, Idempotency-Key, tries, answer or error. */

import { randomUUID } from 'node:crypto';
import { ApiError, ConnectionFailed } from './errors.js';
import { VERSION } from './generated/version.js';
import { Listing, Page } from './pages.js';
import { waitMs, type Outcome, type Policy } from './retries.js';
import { decode, encode, writeJson } from './wire.js';

/** What a caller may say about any call. */
export interface CallOptions {
  /** Gives up after so many milliseconds, each try for itself. */
  timeoutMs?: number;
  /** Gives up when it is aborted, between tries too. Whether the request was carried out is then unknown. */
  signal?: AbortSignal;
}

/** What a caller may say about a POST. */
export interface KeyedOptions extends CallOptions {
  /** Your own name for this request: the same again answers what the first answered. A new one if missing. */
  idempotencyKey?: string;
}

/** What an answer said besides its body. */
export interface ResponseInfo {
  status: number;
  requestId: string | null;
  /** The kept answer of an earlier request with the same Idempotency-Key. */
  replayed: boolean;
  /** The sequence of the durable record, if something was written. */
  walSeq: number | null;
}

/** One call as the generated methods say it. */
export interface Call {
  method: string;
  path: string; // with {} for each of `parts`
  parts?: readonly string[];
  query?: object;
  headers?: Readonly<Record<string, string | undefined>>;
  body?: { model: string; value: object };
  keyed?: boolean; // takes an Idempotency-Key
  secret?: string; // a session's client secret, where that opens the call
  open?: boolean; // needs no key
  accept?: string;
}

const INFO = new WeakMap<object, ResponseInfo>();

/** What the answer that held an object said besides. Undefined for what is no answer as a whole. */
export function responseOf(answered: object): ResponseInfo | undefined {
  return INFO.get(answered);
}

export interface Settings {
  key: string;
  baseUrl: string;
  timeoutMs: number;
  policy: Policy;
  fetch: typeof fetch;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

interface Answer {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

/** What all calls of a client share. */
export class Session {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    if (!/^[!-~]+$/.test(settings.key)) throw new TypeError('a key is visible ASCII, such as pk_test_…; is there a line feed at its end?');
    const { protocol, search, hash, username } = new URL(settings.baseUrl);
    if (!['http:', 'https:'].includes(protocol) || search || hash || username) {
      throw new TypeError('baseUrl must be http or https, without user, query or fragment, such as https://pay.example');
    }
    this.#settings = { ...settings, baseUrl: settings.baseUrl.replace(/\/+$/, '') };
  }

  /** Bytes as they come. */
  async download(call: Call, options: CallOptions = {}): Promise<Uint8Array> {
    return (await this.#send(call, options)).body;
  }

  /** One of the models of a name, or a list of it. */
  async model<T>(call: Call, model: string, options: KeyedOptions = {}): Promise<T> {
    const keyed = call.keyed ? { ...options, idempotencyKey: options.idempotencyKey ?? randomUUID() } : options;
    const answer = await this.#send(call, keyed);
    let read: unknown;
    try {
      read = decode(model, JSON.parse(new TextDecoder().decode(answer.body)));
    } catch (cause) {
      const about = { outcomeUnknown: call.method !== 'GET', idempotencyKey: (keyed as KeyedOptions).idempotencyKey, cause };
      throw new ConnectionFailed(`an answer ${answer.status} that could not be read`, about);
    }
    if (typeof read === 'object' && read !== null) INFO.set(read, info(answer));
    return read as T;
  }

  list<T>(call: Call, model: string, options: CallOptions = {}): Listing<T> {
    return new Listing(() => this.#page<T>(call, model, options));
  }

  async #page<T>(call: Call, model: string, options: CallOptions): Promise<Page<T>> {
    const { items, nextCursor } = await this.model<{ items: unknown[]; nextCursor: string | null }>(call, '', options);
    const next = (cursor: string) => this.#page<T>({ ...call, query: { ...call.query, cursor } }, model, options);
    return new Page(items.map((item) => decode(model, item) as T), nextCursor ?? null, next);
  }

  async #send(call: Call, options: KeyedOptions): Promise<Answer> {
    const url = this.#settings.baseUrl + target(call);
    const body = call.body && writeJson(encode(call.body.model, call.body.value));
    const key = call.keyed ? options.idempotencyKey : undefined;
    const headers = this.#headers(call, body, key);
    // What may be done twice without being two things.
    const repeatable = key !== undefined || call.method === 'GET' || call.method === 'PUT';
    for (let tries = 1; ; tries += 1) {
      options.signal?.throwIfAborted();
      const { failure, outcome, answer } = await this.#try(call, url, headers, body, options);
      if (answer) return answer;
      const wait = waitMs(this.#settings.policy, tries, outcome, repeatable);
      if (wait === null) throw failure;
      await this.#settings.sleep(wait, options.signal);
    }
  }

  async #try(call: Call, url: string, headers: Record<string, string>, body: string | undefined, options: KeyedOptions): Promise<Tried> {
    const [signal, release] = until(options.timeoutMs ?? this.#settings.timeoutMs, options.signal);
    try {
      const init: RequestInit = { method: call.method, headers, redirect: 'manual', signal };
      if (body !== undefined) init.body = body;
      const response = await this.#settings.fetch(url, init);
      const answer = { status: response.status, headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) };
      if (response.status >= 200 && response.status < 300) return { answer, outcome: { wasSent: true } };
      const failure = errorOf(answer, headers['idempotency-key']);
      return { failure, outcome: { status: failure.status, code: failure.code, retryAfter: failure.retryAfter, wasSent: true } };
    } catch (cause) {
      options.signal?.throwIfAborted();
      const wasSent = !NOT_SENT.has(codeOf(cause));
      const about = { outcomeUnknown: wasSent && call.method !== 'GET', idempotencyKey: headers['idempotency-key'], cause };
      const reason = signal.aborted ? 'it took too long' : codeOf(cause) || String(cause);
      return { failure: new ConnectionFailed(`${call.method} ${call.path}: no answer: ${reason}`, about), outcome: { wasSent } };
    } finally {
      release();
    }
  }

  #headers(call: Call, body: string | undefined, key: string | undefined): Record<string, string> {
    const headers: Record<string, string> = { accept: call.accept ?? 'application/json', 'user-agent': `pasarela-typescript/${VERSION}` };
    if (call.secret !== undefined) headers['authorization'] = `Bearer ${call.secret}`;
    else if (!call.open) headers['x-api-key'] = this.#settings.key;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (key !== undefined) headers['idempotency-key'] = key;
    for (const [name, value] of Object.entries(call.headers ?? {})) if (value !== undefined) headers[name] = value;
    return headers;
  }
}

interface Tried {
  answer?: Answer;
  failure?: ApiError | ConnectionFailed;
  outcome: Outcome;
}

/** Codes of Node of what failed before anything was sent. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

function codeOf(failure: unknown): string {
  const { cause, code } = (failure ?? {}) as { cause?: { code?: string; errors?: { code?: string }[] }; code?: string };
  return cause?.code ?? cause?.errors?.[0]?.code ?? (typeof code === 'string' ? code : '');
}

/** A signal of the caller's and of a time-out; Node 18 has no `AbortSignal.any`. */
function until(timeoutMs: number, signal: AbortSignal | undefined): [AbortSignal, () => void] {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort);
  return [controller.signal, () => { clearTimeout(timer); signal?.removeEventListener('abort', abort); }];
}

function target(call: Call): string {
  const parts = [...(call.parts ?? [])];
  if (parts.some((part) => part === '')) throw new TypeError('an id or a reference is empty');
  const path = call.path.replace(/\{\}/g, () => encodeURIComponent(String(parts.shift())));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== null) query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return path + (query.size === 0 ? '' : `?${query}`);
}

function info(answer: Answer): ResponseInfo {
  const sequence = answer.headers.get('wal-seq');
  return {
    status: answer.status,
    requestId: answer.headers.get('x-request-id'),
    replayed: answer.headers.get('idempotent-replayed') === 'true',
    walSeq: sequence === null ? null : Number(sequence),
  };
}

function errorOf(answer: Answer, idempotencyKey: string | undefined): ApiError {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(answer.body));
  } catch {
    body = undefined; // of a proxy in between
  }
  const after = answer.headers.get('retry-after') ?? '';
  const retryAfter = /^[0-9]+$/.test(after) ? Number(after) : undefined;
  return ApiError.of({ status: answer.status, body, requestId: answer.headers.get('x-request-id') ?? undefined, retryAfter, idempotencyKey });
}
