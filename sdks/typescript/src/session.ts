/** The way of a call: path and body, key, Idempotency-Key, tries, answer or error. */

import { randomUUID } from 'node:crypto';
import { checkCall, checkHeaders, checkKey, checkPath, checkPolicy, checkTimeout } from './checks.js';
import { ApiError, ConnectionFailed } from './errors.js';
import * as shared from './generated/shared.js';
import { VERSION } from './generated/version.js';
import { Listing, Page } from './pages.js';
import { NO_TUNNEL, type Requester } from './proxy.js';
import { waitMs, type Outcome, type Policy } from './retries.js';
import { streamed, STREAM_PATH, STREAM_TYPE, type StreamCalls, type StreamOptions, type StreamOutcome } from './streams.js';
import { decode, encode, writeJson } from './wire.js';

/** What a caller may say about any call. */
export interface CallOptions {
  /** Gives up after so many milliseconds, each try for itself. */
  timeoutMs?: number;
  /** Gives up when it is aborted, between tries too. Whether the request was carried out is then unknown. */
  signal?: AbortSignal;
  /** How often this call is tried again, in the place of the client's `maxRetries`. */
  maxRetries?: number;
  /** Your own name for the request, 1 to 64 visible ASCII characters; it is in the gateway's log. */
  requestId?: string;
}

/** What a caller may say about a POST. */
export interface KeyedOptions extends CallOptions {
  /** Your own name for this request: the same again answers what the first answered. A new one if missing. */
  idempotencyKey?: string;
}

/** What a caller may say about any call that writes: nothing is done, and the answer shows what the call would do. */
export interface DryRunOptions {
  dryRun: true;
}

type AnyOptions = KeyedOptions & { dryRun?: boolean };

/** What a call says for which this version of the library has no method. */
export interface RawOptions extends KeyedOptions {
  /** Nothing is done: the answer shows what the call would do. */
  dryRun?: boolean;
  /** What stands for the names in braces of the path, such as an id: it is encoded, and in no log. */
  parts?: readonly string[];
  /** Written as JSON. */
  body?: object;
  query?: object;
  /** `application/json` if missing; of anything else the bytes are answered. */
  accept?: string;
}

/** What calls are logged to: `console`, or a logger that takes a text and its fields, such as winston. */
export interface Logger {
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
}

/** A try of a call. There is no key, no query and no body in it, and in the path names stand for ids and references (of `request`: for `parts`). */
export interface LogFields {
  method: string;
  path: string;
  /** Null where no answer came. */
  status: number | null;
  durationMs: number;
  requestId: string | null;
  /** 0 for the first try. */
  retry: number;
  /** The code of an error, or why there is no answer. */
  error: string | null;
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
  path: string; // with a name in braces for each of `parts`
  parts?: readonly string[];
  query?: object;
  headers?: Readonly<Record<string, string | undefined>>;
  body?: { model: string; value: object };
  keyed?: boolean; // takes an Idempotency-Key
  secret?: string; // a session's client secret, where that opens the call
  open?: boolean; // needs no key
  accept?: string;
}

const PATIENCE_MS = 300_000;
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
  logger: Logger | undefined;
  fetch: typeof fetch;
  requested: Requester;
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

interface Answer {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

function isBaseUrl(text: string): boolean {
  try {
    const { protocol, search, hash, username } = new URL(text);
    return ['http:', 'https:'].includes(protocol) && !search && !hash && !username;
  } catch {
    return false;
  }
}

/** What all calls of a client share. */
export class Session {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    checkKey(settings.key);
    checkPolicy(settings.policy);
    checkTimeout(settings.timeoutMs);
    if (!isBaseUrl(settings.baseUrl)) throw new TypeError(shared.BASE_URL('baseUrl'));
    this.#settings = { ...settings, baseUrl: settings.baseUrl.replace(/\/+$/, '') };
  }

  /** Bytes as they come. */
  async download(call: Call, options: AnyOptions = {}): Promise<Uint8Array> {
    return (await this.#send(call, withKey(call, options))).body;
  }

  /** A call that no generated method makes. Every POST under /v1 takes an Idempotency-Key. */
  async raw(method: string, path: string, { parts, body, query, accept, ...options }: RawOptions): Promise<unknown> {
    method = method.toUpperCase();
    if (!shared.METHOD_FORM.test(method)) throw new TypeError(shared.METHOD);
    if (!shared.PATH_FORM.test(path)) throw new TypeError(shared.PATH);
    const call: Call = { method, path, parts: parts ?? [], keyed: method === 'POST' && path.startsWith('/v1/') };
    if (body !== undefined) call.body = { model: '', value: body };
    if (query !== undefined) call.query = query;
    if (accept === undefined || accept === 'application/json') return this.model(call, '', options);
    return this.download({ ...call, accept }, options);
  }

  /** One of the models of a name, or a list of it. */
  async model<T>(call: Call, model: string, options: AnyOptions = {}): Promise<T> {
    const keyed = withKey(call, options);
    const answer = await this.#send(call, keyed);
    if (answer.body.length === 0 && model === '') return null as T;
    let read: unknown;
    try {
      read = decode(model, JSON.parse(new TextDecoder().decode(answer.body)));
    } catch (cause) {
      const about = { outcomeUnknown: call.method !== 'GET', idempotencyKey: keyed.idempotencyKey, cause };
      throw new ConnectionFailed(shared.UNREADABLE(answer.status), about);
    }
    if (typeof read === 'object' && read !== null) INFO.set(read, info(answer));
    return read as T;
  }

  list<T>(call: Call, model: string, options: CallOptions = {}): Listing<T> {
    return new Listing(() => this.#page<T>(call, model, options));
  }

  stream(calls: StreamCalls, { patienceMs = PATIENCE_MS }: StreamOptions): AsyncGenerator<StreamOutcome, void, undefined> {
    checkTimeout(patienceMs);
    const { baseUrl, key, policy, requested, sleep } = this.#settings;
    const headers = { accept: STREAM_TYPE, 'user-agent': `pasarela-typescript/${VERSION}`, 'x-api-key': key, 'content-type': STREAM_TYPE };
    const open = () => requested(new URL(baseUrl + STREAM_PATH), { method: 'POST', headers, agent: false });
    return streamed(calls, { open, policy, patienceMs, sleep });
  }

  async #page<T>(call: Call, model: string, options: CallOptions): Promise<Page<T>> {
    const { items, nextCursor } = await this.model<{ items: unknown[]; nextCursor: string | null }>(call, '', options);
    const next = (cursor: string) => this.#page<T>({ ...call, query: { ...call.query, cursor } }, model, options);
    return new Page(items.map((item) => decode(model, item) as T), nextCursor ?? null, next);
  }

  async #send(call: Call, options: AnyOptions): Promise<Answer> {
    checkCall(call, options);
    const url = this.#settings.baseUrl + target(call);
    const body = call.body && writeJson(encode(call.body.model, call.body.value));
    const key = call.keyed ? options.idempotencyKey : undefined;
    const headers = this.#headers(call, body, key, options.requestId);
    if (options.dryRun) headers['dry-run'] = 'true';
    // What may be done twice without being two things.
    const repeatable = key !== undefined || options.dryRun === true || call.method === 'GET' || call.method === 'PUT';
    const policy = { ...this.#settings.policy, maxRetries: options.maxRetries ?? this.#settings.policy.maxRetries };
    for (let tries = 1; ; tries += 1) {
      options.signal?.throwIfAborted();
      const began = performance.now();
      const tried = await this.#try(call, url, headers, body, options);
      const durationMs = Math.round(performance.now() - began);
      const wait = tried.answer ? null : waitMs(policy, tries, tried.outcome, repeatable);
      this.#log(call, tried, tries, durationMs, wait, options.requestId);
      if (tried.answer) return tried.answer;
      if (wait === null) throw tried.failure;
      await this.#settings.sleep(wait, options.signal);
    }
  }

  /** A line per try. */
  #log({ method, path }: Call, { failure, outcome, answer }: Tried, tries: number, durationMs: number, wait: number | null, asked: string | undefined): void {
    if (!this.#settings.logger) return;
    const refusal = failure instanceof ApiError ? failure : undefined;
    const reason = failure instanceof ConnectionFailed ? failure.reason : undefined;
    const status = answer?.status ?? outcome.status ?? null;
    const requestId = answer?.headers.get('x-request-id') ?? refusal?.requestId ?? asked ?? null;
    const fields: LogFields = { method, path, status, durationMs, requestId, retry: tries - 1, error: refusal?.code ?? reason ?? null };
    const said = status === null ? shared.LOG_NO_ANSWER(method, path, reason ?? '', durationMs) : shared.LOG_ANSWER(method, path, `${status} ${refusal?.code ?? ''}`.trim(), durationMs, String(requestId));
    const level = wait !== null || status === null ? 'warn' : 'info';
    try {
      const logged: unknown = this.#settings.logger[level](wait === null ? said : shared.LOG_RETRY(said, tries, Math.round(wait)), fields);
      if (logged instanceof Promise) logged.catch(() => undefined);
    } catch {
      // A full disk of the log's: the payment was made all the same.
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
      const reason = shared.NO_ANSWER(signal.aborted ? shared.TOOK_TOO_LONG : codeOf(cause) || nameOf(cause));
      return { failure: new ConnectionFailed(shared.FAILED_CALL(call.method, call.path, reason), { ...about, reason }), outcome: { wasSent } };
    } finally {
      release();
    }
  }

  #headers(call: Call, body: string | undefined, key: string | undefined, requestId: string | undefined): Record<string, string> {
    const headers: Record<string, string> = { accept: call.accept ?? 'application/json', 'user-agent': `pasarela-typescript/${VERSION}` };
    if (call.secret !== undefined) headers['authorization'] = `Bearer ${call.secret}`;
    else if (!call.open) headers['x-api-key'] = this.#settings.key;
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (key !== undefined) headers['idempotency-key'] = key;
    if (requestId !== undefined) headers['x-request-id'] = requestId;
    for (const [name, value] of Object.entries(call.headers ?? {})) if (value !== undefined) headers[name] = value;
    checkHeaders(headers);
    return headers;
  }
}

/** The options with an Idempotency-Key, if the call takes one: the caller's, or a new one. */
function withKey(call: Call, options: AnyOptions): AnyOptions {
  return call.keyed ? { ...options, idempotencyKey: options.idempotencyKey ?? randomUUID() } : options;
}

interface Tried {
  answer?: Answer;
  failure?: ApiError | ConnectionFailed;
  outcome: Outcome;
}

/** Codes of Node of what failed before anything was sent: the name, the connection, the tunnel, the certificate. */
const NOT_SENT = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', NO_TUNNEL,
  'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function codeOf(failure: unknown): string {
  const { cause, code } = (failure ?? {}) as { cause?: { code?: string; errors?: { code?: string }[] }; code?: string };
  return cause?.code ?? cause?.errors?.[0]?.code ?? (typeof code === 'string' ? code : '');
}

/** What is logged of a failure without a code: not its message, which may quote what was sent. */
function nameOf(failure: unknown): string {
  return failure instanceof Error ? failure.name : typeof failure;
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
  const parts = call.parts ?? [];
  if (parts.some((part) => part === '')) throw new TypeError(shared.EMPTY_PART);
  if (parts.length > (call.path.match(/\{\w+\}/g) ?? []).length) throw new TypeError(shared.PARTS);
  const path = parts.reduce((path, part) => path.replace(/\{\w+\}/, () => encodeURIComponent(part)), call.path);
  checkPath(path);
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
