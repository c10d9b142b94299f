/** The edges that need no server: tries, signatures, money, pages, errors. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import {
  ApiError, ConnectionFailed, Conflict, InvalidRequest, money, Pasarela, POLICY, RateLimited, responseOf, signWebhook, SignatureError, Unavailable, verifyWebhook, waitMs,
  worthRepeating, type ClientOptions, type LogFields,
} from 'pasarela';

const CARD = { number: '4111111111111111', expMonth: 12, expYear: 2031, cvv: '123', holderName: 'Ana Perez', holderId: 'V12345678' };
const CLOCK = { now: '2026-11-21T02:13:00.000Z', livemode: false };

interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

type Played = { status: number; body: unknown; headers?: Record<string, string> } | Error;

/** A client whose answers, or their absence, are played in order. */
function client(played: Played[], options: Partial<ClientOptions> = {}): { made: Pasarela; sent: Sent[]; waits: number[] } {
  const [sent, waits, left]: [Sent[], number[], Played[]] = [[], [], [...played]];
  const play: typeof fetch = async (url, init) => {
    sent.push({ method: init!.method!, url: String(url), headers: init!.headers as Record<string, string>, body: init!.body as string | undefined });
    const next = left.shift()!;
    if (next instanceof Error) throw next;
    return new Response(typeof next.body === 'string' ? next.body : JSON.stringify(next.body), { status: next.status, headers: next.headers ?? {} });
  };
  const made = new Pasarela('pk_test_x', { baseUrl: 'http://localhost:1/', fetch: play, sleep: async (ms) => void waits.push(ms), ...options });
  return { made, sent, waits };
}

const problem = (status: number, code: string, headers: Record<string, string> = {}): Played => ({ status, body: { error: code, message: '…', requestId: 'r-1' }, headers });
const reset = () => Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } });
const refused = () => Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });

test('a lost answer of a POST is asked for again under the same key and with the same bytes', async () => {
  const { made, sent, waits } = client([reset(), problem(503, 'overloaded', { 'retry-after': '3' }), { status: 200, body: CLOCK }]);
  await made.test.moveClock({ advanceSeconds: 60 });
  assert.equal(sent.length, 3);
  assert.equal(new Set(sent.map(({ headers, body }) => headers['idempotency-key'] + body!)).size, 1);
  assert.ok(waits[0]! >= 250 && waits[0]! <= 500 && waits[1]! >= 3000);
});

test('each call has a key of its own, and the caller\'s is kept', async () => {
  const { made, sent } = client(Array(3).fill({ status: 200, body: CLOCK }));
  await made.test.moveClock({ advanceSeconds: 1 });
  await made.test.moveClock({ advanceSeconds: 1 });
  await made.test.moveClock({ advanceSeconds: 1 }, { idempotencyKey: 'mine' });
  const keys = sent.map(({ headers }) => headers['idempotency-key']);
  assert.notEqual(keys[0], keys[1]);
  assert.equal(keys[2], 'mine');
});

test('what may have happened and has no key is not repeated', async () => {
  for (const lost of [reset(), problem(500, 'internal_error'), problem(503, 'storage_unavailable')]) {
    const { made, sent } = client([lost]);
    await assert.rejects(made.webhooks.delete('w-1'), (error: unknown) => (error instanceof ConnectionFailed || error instanceof Unavailable) && error.outcomeUnknown);
    assert.equal(sent.length, 1);
  }
});

test('what certainly did not happen is repeated without a key too', async () => {
  const { made } = client([refused(), problem(429, 'rate_limited', { 'retry-after': '1' }), { status: 200, body: { deleted: true, id: 'w-1' } }]);
  assert.equal((await made.webhooks.delete('w-1')).deleted, true);
});

test('the gateway\'s word stands when the tries are used up, or the wait is too long', async () => {
  const { made, sent } = client(Array(3).fill(problem(429, 'rate_limited')));
  await assert.rejects(made.balance.get(), RateLimited);
  assert.equal(sent.length, 3);
  const later = client([problem(429, 'rate_limited', { 'retry-after': '3600' })]);
  await assert.rejects(later.made.balance.get(), (error: unknown) => error instanceof RateLimited && error.retryAfter === 3600);
  assert.equal(later.sent.length, 1);
});

test('which outcomes are repeated', () => {
  const table: [number, string, number | undefined, boolean, boolean][] = [
    // status, code, Retry-After, under a key or a read, else
    [409, 'idempotency_in_progress', undefined, true, false],
    [409, 'external_ref_conflict', undefined, false, false],
    [422, 'insufficient_balance', undefined, false, false],
    [400, 'invalid_data', undefined, false, false],
    [408, 'request_timeout', undefined, true, true],
    [503, 'rail_unavailable', 5, true, true],
    [503, 'no_leader', 1, true, true],
    [503, 'shutting_down', undefined, true, true],
    [503, 'storage_unavailable', undefined, true, false],
    [503, 'account_halted', undefined, false, false],
    [503, 'rail_not_configured', undefined, false, false],
    [503, 'rate_unavailable', undefined, false, false],
    [502, 'http_502', undefined, true, false],
    [500, 'internal_error', undefined, true, false],
  ];
  for (const [status, code, retryAfter, keyed, bare] of table) {
    const outcome = { status, code, retryAfter, wasSent: true };
    assert.deepEqual([worthRepeating(outcome, true), worthRepeating(outcome, false)], [keyed, bare], code);
  }
  const waits = [1, 2, 3, 4, 5, 6].map((tries) => waitMs({ ...POLICY, maxRetries: 9 }, tries, { status: 429, wasSent: true }, true, () => 1));
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 8000]);
});

test('a time-out ends a try, and a caller\'s signal all of them', async () => {
  const hangs: typeof fetch = (_, init) => new Promise((_, reject) => init!.signal!.addEventListener('abort', () => reject(new Error('aborted'))));
  const { made } = client([], { fetch: hangs, timeoutMs: 5, maxRetries: 1 });
  await assert.rejects(made.test.moveClock({ advanceSeconds: 1 }), (error: unknown) => error instanceof ConnectionFailed && error.outcomeUnknown && error.idempotencyKey !== undefined);
  const controller = new AbortController();
  const slow = client([], { fetch: hangs }).made.balance.get({}, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await assert.rejects(slow, /enough/);
});

test('a call has its own retries and name', async () => {
  const lost = client([reset()]);
  await assert.rejects(lost.made.balance.get({}, { maxRetries: 0, requestId: 'mine-1' }), ConnectionFailed);
  assert.deepEqual([lost.sent.length, lost.waits.length, lost.sent[0]!.headers['x-request-id']], [1, 0, 'mine-1']);
  const patient = client([...Array(4).fill(problem(503, 'overloaded')), { status: 200, body: CLOCK }], { maxRetries: 0 });
  await patient.made.test.getClock({ maxRetries: 4 });
  assert.equal(patient.sent.length, 5);
});

test('raw calls have the key, the retries and the errors of every call', async () => {
  const { made, sent } = client([problem(503, 'overloaded'), { status: 201, body: { paymentId: 'p', vesAmount: 10.5 } }]);
  const found = await made.request<{ paymentId: string }>('post', '/v1/payments/new', { body: { usdAmount: 5.1, list: [1] }, query: { 'a b': true, none: undefined } });
  assert.deepEqual([found.paymentId, responseOf(found)!.status], ['p', 201]);
  const { method, url, headers, body } = sent[1]!;
  assert.deepEqual([method, url, headers['x-api-key'], body], ['POST', 'http://localhost:1/v1/payments/new?a+b=true', 'pk_test_x', '{"usdAmount":5.1,"list":[1]}']);
  assert.ok(headers['idempotency-key'] && headers['idempotency-key'] === sent[0]!.headers['idempotency-key']);
  const more = client([problem(422, 'insufficient_balance'), { status: 200, body: [] }, { status: 200, body: '' }, { status: 200, body: 'a,b' }]);
  await assert.rejects(more.made.request('POST', '/v1/payouts', { body: {}, idempotencyKey: 'mine' }), (error: unknown) => error instanceof ApiError && error.idempotencyKey === 'mine');
  assert.deepEqual(await more.made.request('GET', '/v1/banks'), []);
  assert.equal(await more.made.request('DELETE', '/v1/x'), null);
  assert.deepEqual(await more.made.request('GET', '/v1/payments', { accept: 'text/csv' }), new TextEncoder().encode('a,b'));
  assert.deepEqual(more.sent.map((one) => one.headers['idempotency-key']), ['mine', undefined, undefined, undefined]);
  const keyless = client([reset()]);
  await assert.rejects(keyless.made.request('POST', '/pay/link/sessions', { body: {} }), ConnectionFailed);
  assert.equal(keyless.sent.length, 1);
  const wrong = ['', 'v1/balance', '/v1/balance?at=1', '/v1/a b', '/v1/é', '/v1/a\r\n', 'http://other.example/', '/v1/../pay', '/v1/.', '/v1/%2E%2e/x', '/v1\\..\\pay', '/v1/{id}'];
  for (const path of wrong) await assert.rejects(made.request('GET', path), TypeError, path);
  for (const method of ['GET / HTTP/1.1\r\nx-evil: 1', '', 'G T']) await assert.rejects(made.request(method, '/v1/balance'), TypeError, method);
  for (const parts of [[], ['a', 'b'], ['..'], ['']]) await assert.rejects(made.request('GET', '/v1/payments/{id}', { parts }), TypeError, String(parts));
  assert.equal(sent.length, 2);
});

test('a key is refused where the gateway keeps none', async () => {
  const { made, sent } = client([reset()]);
  for (const [method, path] of [['PATCH', '/v1/merchants/m-1'], ['DELETE', '/v1/webhooks/w-1'], ['POST', '/pay/link/sessions'], ['GET', '/v1/balance']] as const) {
    await assert.rejects(made.request(method, path, { idempotencyKey: 'mine' }), /Idempotency-Key/);
  }
  assert.deepEqual(sent, []);
});

test('what is no option is refused before the first try', async () => {
  const { made, sent } = client([reset()]);
  const timeouts = [0, -1, NaN, Infinity, 2 ** 31].map((timeoutMs) => ({ timeoutMs }));
  const retries = [-1, NaN, 1.5, 101, Infinity].map((maxRetries) => ({ maxRetries }));
  const names = ['', 'a b', 'a\r\nx-evil: 1', 'é', 'a'.repeat(65)].map((requestId) => ({ requestId }));
  for (const options of [...timeouts, ...retries, ...names]) await assert.rejects(made.balance.get({}, options), TypeError, JSON.stringify(options));
  for (const idempotencyKey of ['', 'a\nb', ' a', 'a ', 'é', 'a'.repeat(256)]) await assert.rejects(made.test.moveClock({ advanceSeconds: 1 }, { idempotencyKey }), TypeError);
  for (const options of [...timeouts, ...retries]) assert.throws(() => client([], options), TypeError, JSON.stringify(options));
  for (const name of ['maxRetries', 'firstWaitMs', 'longestWaitMs', 'longestRetryAfter']) for (const value of [-1, NaN]) assert.throws(() => client([], { policy: { [name]: value } }), TypeError, name);
  await assert.rejects(made.checkoutPage.getState('s-1', 'cs_SECRET\n'), (error: unknown) => error instanceof TypeError && !error.message.includes('cs_SECRET'));
  await assert.rejects(made.request('GET', '/v1/payments', { accept: 'text/csv\r\nx-evil: 1' }), TypeError);
  assert.deepEqual(sent, []);
});

/** A logger that keeps its lines. */
function kept(): [LogFields[], { info: (text: string, fields: LogFields) => void; warn: (text: string, fields: LogFields) => void }] {
  const lines: LogFields[] = [];
  const log = (text: string, fields: LogFields) => void lines.push(Object.assign({ text }, fields));
  return [lines, { info: log, warn: log }];
}

test('a line has no OTP, no client secret, and no words of a failure', async () => {
  const [lines, logger] = kept();
  const { made } = client([{ status: 200, body: {} }, new TypeError('Headers.append: "Bearer cs_SECRET" is invalid'), { status: 200, body: {} }], { logger });
  const payer = { debtorId: 'V12345678', debtorCellPhone: '04141234567', debtorBankCode: 134, usdAmount: '1', externalRef: 'order-1' };
  await made.payments.executeC2p({ ...payer, intentId: 'i', token: 'OTP987654' });
  await assert.rejects(made.checkoutPage.submitOtp('s-1', 'cs_SECRET', { otp: 'OTP987654' }), (error: unknown) => error instanceof ConnectionFailed && !error.message.includes('cs_SECRET'));
  await made.checkoutPage.getState('s-1', 'cs_SECRET');
  assert.deepEqual([lines.length, lines[1]!.error], [3, 'no answer: TypeError']);
  assert.doesNotMatch(JSON.stringify(lines), /OTP987654|cs_SECRET|s-1|V12345678/);
});

test('a logger that throws changes nothing', async () => {
  const full = () => { throw new Error('no space left on device'); };
  const later = async () => full();
  for (const logger of [{ info: full, warn: full }, { info: later, warn: later }]) {
    const { made, sent } = client([reset(), { status: 200, body: CLOCK }], { logger });
    assert.equal((await made.test.moveClock({ advanceSeconds: 1 })).livemode, false);
    assert.equal(sent.length, 2);
  }
});

test('the path of a raw call is logged as it was given, without its parts', async () => {
  const [lines, logger] = kept();
  const { made, sent } = client([{ status: 200, body: {} }, { status: 200, body: {} }], { logger });
  await made.request('GET', '/v1/payments/by-ref/{externalRef}', { parts: ['order 1/{x}'] });
  await made.request('PATCH', '/v1/merchants/m-1', { body: {} });
  assert.deepEqual(lines.map(({ path }) => path), ['/v1/payments/by-ref/{externalRef}', '/v1/merchants/m-1']);
  assert.equal(sent[0]!.url, 'http://localhost:1/v1/payments/by-ref/order%201%2F%7Bx%7D');
});

test('each try is a line without keys, cards, codes and bodies', async () => {
  const lines: [string, string, LogFields][] = [];
  const logger = { info: (text: string, fields: LogFields) => void lines.push(['info', text, fields]), warn: (text: string, fields: LogFields) => void lines.push(['warn', text, fields]) };
  const played = [problem(503, 'overloaded', { 'x-request-id': 'r-7' }), reset(), { status: 201, body: { paymentId: 'p' }, headers: { 'x-request-id': 'r-8' } }, { status: 200, body: {} }, problem(404, 'not_found')];
  const { made } = client(played, { logger });
  await made.payments.chargeCard({ usdAmount: '1', card: CARD, externalRef: 'order-1' }, { idempotencyKey: 'idem-1' });
  await made.payments.getByRef('V12345678');
  await assert.rejects(made.request('GET', '/v1/nothing', { query: { q: 'V12345678' } }));
  assert.match(lines[0]![1], /^POST \/v1\/payments\/vpos: 503 overloaded in \d+ ms \(request r-7\); retry 1 in \d+ ms$/);
  assert.match(lines[1]![1], /^POST \/v1\/payments\/vpos: no answer: ECONNRESET after \d+ ms; retry 2 in \d+ ms$/);
  assert.match(lines[2]![1], /^POST \/v1\/payments\/vpos: 201 in \d+ ms \(request r-8\)$/);
  assert.deepEqual(lines.map(([level]) => level), ['warn', 'warn', 'info', 'info', 'info']);
  const { durationMs, ...rest } = lines[2]![2];
  assert.deepEqual([typeof durationMs, rest], ['number', { method: 'POST', path: '/v1/payments/vpos', status: 201, requestId: 'r-8', retry: 2, error: null }]);
  assert.deepEqual([lines[3]![2].path, lines[4]![2].path, lines[4]![2].error], ['/v1/payments/by-ref/{externalRef}', '/v1/nothing', 'not_found']);
  assert.doesNotMatch(JSON.stringify(lines), /pk_test_x|4111|order-1|idem-1|Ana|V12345678/);
});

test('the package is one for import and for require', async () => {
  const imported: object = await import('pasarela');
  const required: Record<string, unknown> = createRequire(import.meta.url)('pasarela');
  const names = Object.keys(required).sort();
  assert.ok(names.includes('Pasarela') && names.includes('money'));
  for (const name of names) assert.equal((imported as Record<string, unknown>)[name], required[name], name);
});

test('a message says nothing twice', async () => {
  const one = { error: 'invalid_data', message: 'limit: must be whole', requestId: 'r', fields: [{ field: 'limit', message: 'must be whole' }] };
  const other = { error: 'external_ref_conflict', message: 'used before with another monto', requestId: 'r', differs: ['monto', 'concepto'] };
  const { made } = client([{ status: 400, body: one }, { status: 409, body: other }]);
  await assert.rejects(made.balance.get(), { message: '400 invalid_data: limit: must be whole (request r)' });
  await assert.rejects(made.balance.get(), { message: '409 external_ref_conflict: used before with another monto; differs: concepto (request r)' });
});

test('an error says everything that the gateway said', async () => {
  const body = { error: 'invalid_data', message: '…', requestId: 'r-1', fields: [{ field: 'card.number', message: 'must be a card number' }] };
  const { made } = client([{ status: 400, body, headers: { 'x-request-id': 'r-2' } }]);
  await assert.rejects(made.payments.chargeCard({ usdAmount: '1', card: CARD, externalRef: 'a' }), (error: unknown) => {
    assert.ok(error instanceof InvalidRequest);
    assert.deepEqual([error.status, error.code, error.requestId, error.fields[0]!.field, error.name], [400, 'invalid_data', 'r-2', 'card.number', 'InvalidRequest']);
    return error.message.includes('card.number: must be a card number');
  });
  const conflict = client([{ status: 409, body: { error: 'external_ref_conflict', message: '…', requestId: 'r', docs: '/docs/x', existingId: 'p-1', differs: ['monto'] } }]);
  const asked = { merchantId: 'm', monto: '1.00', concepto: 'c', externalRef: 'a' };
  await assert.rejects(conflict.made.payouts.create(asked), (error: unknown) => error instanceof Conflict && error.existingId === 'p-1' && error.differs[0] === 'monto' && error.docs === '/docs/x');
  await assert.rejects(client([{ status: 413, body: '<html>' }]).made.balance.get(), (error: unknown) => error instanceof ApiError && error.code === 'http_413');
});

test('half an answer of a write is an unknown outcome with its key', async () => {
  const { made, sent } = client([{ status: 200, body: '{"now": "20' }]);
  await assert.rejects(made.test.moveClock({ advanceSeconds: 1 }), (error: unknown) => {
    return error instanceof ConnectionFailed && error.outcomeUnknown && error.idempotencyKey === sent[0]!.headers['idempotency-key'];
  });
});

test('nothing shows a key, and what is no key or no id is refused here', async () => {
  const { made, sent } = client([]);
  assert.ok(!JSON.stringify(made).includes('pk_test_x'));
  assert.throws(() => new Pasarela('pk_test_x\n', { baseUrl: 'http://localhost' }), TypeError);
  assert.throws(() => new Pasarela('', { baseUrl: 'http://localhost' }), /is it empty/);
  for (const baseUrl of ['', '127.0.0.1:8080', 'ftp://localhost']) {
    assert.throws(() => new Pasarela('pk_test_x', { baseUrl }), /baseUrl must be http or https/);
  }
  assert.throws(() => new Pasarela('pk_test_x', undefined as never), /baseUrl must be http or https/);
  assert.throws(() => verifyWebhook('{}', {}, undefined as never), /a signing secret is whsec_/);
  for (const wrong of ['', '.', '..']) {
    await assert.rejects(made.payments.get(wrong), TypeError, wrong);
    await assert.rejects(made.merchants.getBalance(wrong), TypeError, wrong);
  }
  assert.deepEqual(sent, []);
});

test('amounts are exact on both ways', async () => {
  const { made, sent } = client([{ status: 201, body: '{"payoutId": "p", "monto": "999999999999.99"}' }, { status: 201, body: { paymentId: 'p' } }]);
  const payout = await made.payouts.create({ merchantId: 'm', monto: '100', concepto: 'c', externalRef: 'a' });
  assert.equal(payout.monto, '999999999999.99');
  assert.match(sent[0]!.body!, /"monto":"100.00"/);
  await made.payments.chargeCard({ usdAmount: '25.50', card: CARD, externalRef: 'a' });
  assert.match(sent[1]!.body!, /"usdAmount":25.50,/);
  const read = client([{ status: 200, body: '{"vesAmount": 999999999999.99, "bcvRate": 210, "feeVes": 0.07, "chargebacks": [], "metadata": {"vesAmount": 1.5}}' }]);
  const payment = await read.made.payments.get('p');
  assert.deepEqual([payment.vesAmount, payment.bcvRate, payment.feeVes, payment.metadata], ['999999999999.99', '210', '0.07', { vesAmount: 1.5 }]);
  assert.deepEqual(responseOf(payment), { status: 200, requestId: null, replayed: false, walSeq: null });
});

test('a number is no amount', async () => {
  const { made, sent } = client([]);
  for (const wrong of [25.5, 25, 'ten', '1e3', '', 'NaN', '1.', '.5']) {
    await assert.rejects(made.payments.chargeCard({ usdAmount: wrong as string, card: CARD, externalRef: 'a' }), /amount is/, String(wrong));
  }
  assert.deepEqual(sent, []);
});

test('sums are exact', () => {
  assert.equal(money.add('0.1', '0.2'), '0.3');
  assert.equal(money.subtract('1.00', '1.01'), '-0.01');
  assert.equal(money.multiply('19.99', 3n), '59.97');
  assert.equal(money.sum(['999999999999.99', '0.01']), '1000000000000.00');
  assert.deepEqual(['0.125', '-0.125', '0.124', '7'].map((amount) => money.round(amount, 2)), ['0.13', '-0.13', '0.12', '7.00']);
  assert.ok(money.equals('10', '10.00') && money.compare('9.99', '10') < 0);
  assert.equal(money.ofNumber(1e-7), '0.0000001');
});

test('all pages are walked under the same filters, and fetched when they are reached', async () => {
  const page = (id: number, nextCursor: string | null): Played => ({ status: 200, body: { items: [{ paymentId: String(id) }], nextCursor } });
  const { made, sent } = client([page(1, 'c/1'), page(2, 'c2'), page(3, null)]);
  const found: string[] = [];
  for await (const payment of made.payments.list({ limit: 1, method: 'C2P', from: new Date(0) })) found.push(payment.paymentId);
  assert.deepEqual(found, ['1', '2', '3']);
  assert.equal(sent[1]!.url, 'http://localhost:1/v1/payments?limit=1&method=C2P&from=1970-01-01T00%3A00%3A00.000Z&cursor=c%2F1');
  const lazy = client([page(1, 'c')]);
  assert.equal((await lazy.made.payments.list()).items.length, 1);
  assert.equal(lazy.sent.length, 1);
});

const SECRET = `whsec_${Buffer.from('k'.repeat(24)).toString('base64')}`;
const BODY = Buffer.from('{"event": "payment.completed", "data": {"vesAmount": 2100.5}, "timestamp": "2026-11-21T02:13:00.000Z"}');
const AT = { now: 1_000_000 };

function headers(body: Uint8Array = BODY, secret = SECRET, sentAt = 1000): Record<string, string> {
  const signed = createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(`e-1.${sentAt}.`).update(body).digest('base64');
  return { 'Webhook-Id': 'e-1', 'webhook-timestamp': String(sentAt), 'webhook-signature': `v1,${signed}` };
}

const isRefused = (body: Uint8Array | string, given: Record<string, string>, now = AT.now) => assert.throws(() => verifyWebhook(body, given, SECRET, { now }), SignatureError);

test('a right delivery is an event', () => {
  for (const given of [headers(), new Headers(headers())]) {
    const event = verifyWebhook(BODY, given, SECRET, AT);
    assert.equal(event.id, 'e-1');
    assert.ok(event.event === 'payment.completed' && 'vesAmount' in event.data && event.data.vesAmount === '2100.5');
  }
  assert.equal(verifyWebhook(BODY.toString(), headers(), SECRET, AT).id, 'e-1');
});

test('a shop can make a delivery for its tests', () => {
  for (const body of [BODY, BODY.toString()]) assert.equal(verifyWebhook(body, signWebhook(body, SECRET), SECRET).id, 'evt_test');
  const given = signWebhook(BODY, SECRET, { id: 'e-1', now: AT.now });
  assert.equal(given['webhook-signature'], headers()['webhook-signature']);
  isRefused(BODY, given, 1_301_000);
  const timestamped = signWebhook(BODY, SECRET, { timestamped: 'Svc-Signature' });
  assert.equal(verifyWebhook(BODY, timestamped, SECRET, { timestamped: 'Svc-Signature' }).event, 'payment.completed');
  assert.throws(() => verifyWebhook(BODY, signWebhook(BODY, 'whsec_b29v'), SECRET), SignatureError);
});

test('bytes, id and time are signed', () => {
  for (let at = 0; at < BODY.length; at += 1) {
    const changed = Buffer.from(BODY);
    changed[at]! ^= 1;
    isRefused(changed, headers());
  }
  isRefused(`${BODY} `, headers());
  isRefused('', headers());
  isRefused(BODY, { ...headers(), 'Webhook-Id': 'e-2' });
  isRefused(BODY, { ...headers(), 'webhook-timestamp': '1001' });
});

test('five minutes are tolerated and no more', () => {
  for (const now of [700_000, 1_300_000]) verifyWebhook(BODY, headers(), SECRET, { now });
  for (const now of [698_999, 1_301_000]) isRefused(BODY, headers(), now);
});

test('one right signature of several is enough', () => {
  const given = headers();
  verifyWebhook(BODY, { ...given, 'webhook-signature': `v1a,xyz v1,AAAA ${given['webhook-signature']}` }, SECRET, AT);
  const old = `whsec_${Buffer.from('o'.repeat(24)).toString('base64')}`;
  verifyWebhook(BODY, headers(BODY, old), [SECRET, old], AT);
  isRefused(BODY, headers(BODY, old));
});

test('the timestamped form is verified where it is asked for', () => {
  const signed = (secret: string) => createHmac('sha256', secret).update('1000.').update(BODY).digest('hex');
  const both = `t=1000,v1=${signed('whsec_b29v')},v1=${signed(SECRET)}`;
  const verified = (value: string, now = AT.now) => verifyWebhook(BODY, { 'webhook-id': 'e-1', 'SVC-Signature': value }, SECRET, { now, timestamped: 'Svc-Signature' });
  assert.equal(verified(both).id, 'e-1');
  for (const wrong of [both.replace('t=1000', 't=1001'), `t=1000,v1=${signed('whsec_b29v')}`, 't=1000', '', signed(SECRET)]) assert.throws(() => verified(wrong), SignatureError);
  assert.throws(() => verified(both, 1_301_000), SignatureError);
});

test('what is no signature, no secret or no event is refused', () => {
  const right = headers()['webhook-signature']!;
  for (const wrong of ['', 'v1,', right.slice(3), `v2${right.slice(2)}`, right.slice(0, -1), 'v1,é']) isRefused(BODY, { ...headers(), 'webhook-signature': wrong });
  for (const wrong of ['', 'x', '-1', '1e3', '９９９']) isRefused(BODY, { ...headers(), 'webhook-timestamp': wrong });
  isRefused(BODY, {});
  for (const secret of ['', 'whsec_', 'whsec_*', 'whsec_A']) assert.throws(() => verifyWebhook(BODY, headers(), secret, AT), TypeError);
  for (const body of ['[]', '{}', 'null', '{']) isRefused(body, headers(Buffer.from(body)));
  isRefused(Buffer.from([0xff]), headers(Buffer.from([0xff])));
  assert.throws(() => verifyWebhook({} as string, headers(), SECRET, AT), /before anything parses it/);
});
