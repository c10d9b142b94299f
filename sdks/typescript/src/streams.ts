/**
 * Many calls over one connection (`POST /v1/stream`), each with its own key, answer and fate. What has no answer when a
 * connection is cut, or when the server stops, is sent again on the next one, under the same keys: nothing is done twice.
 */

import { randomUUID } from 'node:crypto';
import type http from 'node:http';
import { ApiError, ConnectionFailed } from './errors.js';
import * as shared from './generated/shared.js';
import type { Policy } from './retries.js';
import { writeJson } from './wire.js';

export const STREAM_PATH = '/v1/stream';
export const STREAM_TYPE = 'application/x-ndjson';
/** The server has as many under way, and reads no more meanwhile. */
const AHEAD_MAX = 1024;
/** A line that says nothing, but that we live: the server ends a connection that is silent for a minute. */
const SIGN_MS = 20_000;
/** A connection that says nothing for so long while calls wait for their answers is given up. */
const SILENCE_MS = 60_000;

/** A call of a stream. A POST without a `key` gets a new Idempotency-Key. */
export interface StreamCall {
  path: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  key?: string;
  /** Written as JSON. */
  body?: unknown;
}

/** What became of a call. */
export interface StreamOutcome {
  /** The number of the call, from 1. */
  line: number;
  key: string | null;
  status: number;
  replayed: boolean;
  walSeq: number | null;
  /** JSON as it came: its numbers are numbers. */
  body: unknown;
  /** The error that a call of its own would throw; null if it was not refused. */
  error: ApiError | null;
}

export interface StreamOptions {
  /** Gives up after so many milliseconds in which nothing went on; 300,000 if missing. */
  patienceMs?: number;
}

export type StreamCalls = Iterable<StreamCall> | AsyncIterable<StreamCall>;

/** A call on its way. */
interface Sent {
  line: number;
  text: string;
}

type Line = Omit<StreamOutcome, 'error'> & { end?: boolean; code?: string };

export interface StreamSettings {
  open: () => http.ClientRequest;
  policy: Policy;
  patienceMs: number;
  sleep: (ms: number) => Promise<void>;
}

export async function* streamed(calls: StreamCalls, settings: StreamSettings): AsyncGenerator<StreamOutcome, void, undefined> {
  const again: Sent[] = [];
  const source = new Source(calls);
  let [tries, wentOn] = [0, Date.now()];
  const waitMs = () => {
    tries += 1;
    return Math.min(settings.policy.longestWaitMs, settings.policy.firstWaitMs * 2 ** Math.min(tries - 1, 10)) * (0.5 + Math.random() / 2);
  };
  for (;;) {
    const connection = new Connection(settings.open(), source, again);
    try {
      for await (const line of connection.lines()) {
        const sent = connection.take(line.line);
        if (isOpen(line)) {
          connection.sendAgain(sent, waitMs);
          continue;
        }
        [tries, wentOn] = [0, Date.now()];
        const { key, status, replayed, walSeq, body } = line;
        yield { line: sent.line, key, status, replayed, walSeq, body, error: errorOf(line) };
      }
      return;
    } catch (cause) {
      if (cause instanceof ApiError && cause.status < 500 && ![408, 429].includes(cause.status) || connection.failure) throw connection.failure ?? cause;
      if (Date.now() - wentOn > settings.patienceMs) {
        const reason = shared.NO_ANSWER(cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : 'cut');
        throw new ConnectionFailed(shared.FAILED_CALL('POST', STREAM_PATH, reason), { outcomeUnknown: true, idempotencyKey: undefined, cause, reason });
      }
    } finally {
      connection.close();
    }
    await settings.sleep(waitMs());
  }
}

/** Nothing came of the call yet: it is sent again. */
function isOpen({ status, body }: Line): boolean {
  return status === 429 || status === 503 || (status === 409 && (body as { error?: string }).error === 'idempotency_in_progress');
}

function errorOf({ status, body, key }: Line): ApiError | null {
  return status < 400 ? null : ApiError.of({ status, body, requestId: undefined, retryAfter: undefined, idempotencyKey: key ?? undefined });
}

/** The calls of the program, each asked for once, over all connections. */
class Source {
  readonly #calls: AsyncIterator<StreamCall> | Iterator<StreamCall>;
  #asked: Promise<Sent | null> | undefined;
  #taken = 0;
  isOver = false;

  constructor(calls: StreamCalls) {
    this.#calls = Symbol.asyncIterator in calls ? calls[Symbol.asyncIterator]() : calls[Symbol.iterator]();
  }

  /** The next call, which may have been asked for already; null after the last. `took` says that it is on its way. */
  ask(): Promise<Sent | null> {
    this.#asked ??= (async () => {
      const next = await this.#calls.next();
      if (next.done) {
        this.isOver = true;
        return null;
      }
      this.#taken += 1;
      const { path, method, key, body } = next.value;
      const named = (method ?? 'POST') === 'POST' ? (key ?? randomUUID()) : key;
      return { line: this.#taken, text: writeJson({ key: named, method, path, body }) };
    })();
    return this.#asked;
  }

  took(): void {
    this.#asked = undefined;
  }
}

/** One connection, which is fed while its answers are read. */
class Connection {
  readonly #underWay = new Map<number, Sent>();
  readonly #request: http.ClientRequest;
  readonly #response: Promise<http.IncomingMessage>;
  #sent = 0;
  #restsUntil = 0;
  #isClosed = false;
  #heard = Date.now();
  /** Resolved when a call was answered, or may be sent again. */
  #changed = deferred();
  #over: Promise<void>;
  readonly #signs: NodeJS.Timeout;
  /** What the program's own calls threw. */
  failure: unknown;

  constructor(request: http.ClientRequest, private readonly source: Source, private readonly again: Sent[]) {
    this.#request = request;
    this.#response = new Promise((resolve, reject) => request.on('response', resolve).on('error', reject));
    this.#response.catch(() => undefined);
    this.#over = new Promise((resolve) => request.once('close', resolve));
    this.#signs = setInterval(() => {
      if (this.#underWay.size === 0) this.#heard = Date.now();
      else if (Date.now() - this.#heard > SILENCE_MS) request.destroy(new Error('silent'));
      if (!request.writableEnded && !request.destroyed) request.write('\n');
    }, SIGN_MS);
    request.flushHeaders();
    this.#feed().catch((failure) => { this.failure ??= failure; request.destroy(failure as Error); });
  }

  async *lines(): AsyncGenerator<Line, void, undefined> {
    const response = await this.#response;
    let text = '';
    response.setEncoding('utf8');
    for await (const part of response) {
      text += part as string;
      this.#heard = Date.now();
      if (response.statusCode !== 200) continue;
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const read = JSON.parse(line) as Line;
        if (read.end === undefined) yield read;
        else if (read.end) return;
        else throw new Error(read.code);
      }
    }
    if (response.statusCode === 200) throw new Error('cut');
    let body: unknown;
    try { body = JSON.parse(text); } catch { body = undefined; }
    throw ApiError.of({ status: response.statusCode ?? 502, body, requestId: undefined, retryAfter: undefined, idempotencyKey: undefined });
  }

  /** The call of a line that was answered. */
  take(line: number): Sent {
    const sent = this.#underWay.get(line);
    if (!sent) throw new Error('an answer to nothing');
    this.#underWay.delete(line);
    this.#wake();
    return sent;
  }

  sendAgain(sent: Sent, waitMs: () => number): void {
    this.again.push(sent);
    if (Date.now() >= this.#restsUntil) {
      const ms = waitMs();
      this.#restsUntil = Date.now() + ms;
      setTimeout(() => this.#wake(), ms + 1);
    }
  }

  /** What has no answer is the next connection's. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#signs);
    this.again.unshift(...this.#underWay.values());
    this.#underWay.clear();
    this.#wake();
    this.#request.on('error', () => undefined).destroy();
  }

  async #feed(): Promise<void> {
    while (!this.#isClosed) {
      const changed = this.#changed.promise;
      if (Date.now() < this.#restsUntil || this.#underWay.size >= AHEAD_MAX) {
        await changed;
      } else if (this.again.length > 0) {
        await this.#send(this.again.shift() as Sent);
      } else if (!this.source.isOver) {
        const next = await Promise.race([this.source.ask(), changed]);
        if (this.#isClosed || next === undefined) continue;
        this.source.took();
        if (next) await this.#send(next);
      } else if (this.#underWay.size === 0) {
        this.#request.end();
        return;
      } else {
        await changed;
      }
    }
  }

  async #send(sent: Sent): Promise<void> {
    this.#sent += 1;
    this.#underWay.set(this.#sent, sent);
    if (!this.#request.write(`${sent.text}\n`)) {
      await Promise.race([new Promise<void>((resolve) => this.#request.once('drain', resolve)), this.#over]);
    }
  }

  #wake(): void {
    const { resolve } = this.#changed;
    this.#changed = deferred();
    resolve(undefined);
  }
}

interface Deferred {
  promise: Promise<undefined>;
  resolve: (nothing: undefined) => void;
}

function deferred(): Deferred {
  let resolve: (nothing: undefined) => void = () => {};
  const promise = new Promise<undefined>((done) => { resolve = done; });
  return { promise, resolve };
}
