/** The client against a running server: PASARELA_URL, PASARELA_KEY. Every reference has a name of this run in it. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Conflict, ConnectionFailed, InvalidRequest, money, NotFound, Pasarela, Refused, responseOf, SignatureError, Unauthorized, verifyWebhook, type Payment, type StreamCall, type StreamOutcome } from 'pasarela';

const [baseUrl, key] = [process.env['PASARELA_URL']!, process.env['PASARELA_KEY']!];
const run = `typescript-${randomUUID().slice(0, 8)}`;
const card = { number: '4111111111111111', expMonth: 12, expYear: 2035, cvv: '123', holderName: 'Ana Pérez', holderId: 'V12345678' };
const client = new Pasarela(key, { baseUrl });

async function c2p(name: string, token = '12345678'): Promise<Payment> {
  const payer = { debtorId: 'V12345678', debtorCellPhone: '04141234567', debtorBankCode: 134, usdAmount: '10', externalRef: `${run}-${name}` };
  const { intentId } = await client.payments.requestC2p(payer);
  return client.payments.executeC2p({ ...payer, intentId, token });
}

const charge = (name: string, idempotencyKey?: string) => client.payments.chargeCard({ usdAmount: '25.50', card, externalRef: `${run}-${name}` }, idempotencyKey ? { idempotencyKey } : {});

test('a first payment is held and released', async () => {
  const payment = await c2p('first');
  assert.equal(payment.status, 'COMPLETED');
  assert.ok(money.equals(payment.usdAmount!, '10') && money.equals(payment.netVes!, money.subtract(payment.vesAmount!, payment.feeVes!)));
  assert.ok(money.compare((await client.balance.get()).heldVes, payment.netVes!) >= 0);
  await client.test.moveClock({ advanceSeconds: 86_400 });
  assert.equal((await client.balance.get()).heldVes, '0.00');
  assert.deepEqual(await client.payments.get(payment.paymentId), await client.payments.getByRef(`${run}-first`));
});

test('a declined payment is an answer', async () => {
  const payment = await c2p('declined', '99999999');
  assert.deepEqual([payment.status, payment.failureCode], ['FAILED', 'AM04']);
});

test('a payment is refunded once', async () => {
  const payment = await c2p('refund');
  assert.equal((await client.payments.reverse(payment.paymentId)).status, 'REVERSED');
  await assert.rejects(client.payments.reverse(payment.paymentId), (error: unknown) => error instanceof Conflict && error.requestId !== undefined);
});

test('a call shows what it would do', async () => {
  const shown = await client.test.fundBalance({ currency: 'VES', amount: '7' }, { dryRun: true });
  assert.deepEqual([shown.status, shown.movements.length, shown.orders.length], [201, 1, 0]);
});

test('a seller is verified and paid', async () => {
  await client.test.fundBalance({ currency: 'VES', amount: '500' });
  const seller = await client.merchants.register({ externalRef: `${run}-seller`, name: 'Bodega', identification: 'V87654321', bankCode: '0134', phone: '04147654321' });
  const { payoutMethodId } = seller.payoutMethods[0]!;
  await client.merchants.startVerification(seller.merchantId, payoutMethodId);
  assert.equal((await client.merchants.verifyPayoutMethod(seller.merchantId, payoutMethodId, { amount1: '0.32', amount2: '0.45' })).status, 'verified');
  const asked = { merchantId: seller.merchantId, monto: '100', concepto: 'liquidacion', externalRef: `${run}-payout` };
  const payout = await client.payouts.create(asked);
  assert.deepEqual([payout.status, payout.monto], ['completed', '100.00']);
  assert.equal((await client.payouts.create(asked)).payoutId, payout.payoutId);
  await assert.rejects(client.payouts.create({ ...asked, monto: '101' }), (error: unknown) => error instanceof Conflict && error.differs[0] === 'monto' && error.existingId === payout.payoutId);
  await assert.rejects(client.payouts.create({ ...asked, monto: '99999999', externalRef: `${run}-all` }), (error: unknown) => error instanceof Refused && 'availableVes' in error.body);
  assert.equal((await client.merchants.getByRef(`${run}-seller`)).merchantId, seller.merchantId);
  const items = ['1', '2.50'].map((monto) => ({ merchantId: seller.merchantId, monto, concepto: 'lote', externalRef: `${run}-item-${monto}` }));
  const batch = await client.payouts.createBatch({ externalRef: `${run}-batch`, items });
  assert.deepEqual(batch.items.map((item) => 'monto' in item && item.monto), ['1.00', '2.50']);
});

test('a lost answer does not charge twice', async () => {
  let lost = 0;
  const losesFirst: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (lost === 0) { lost += 1; throw new TypeError('the answer is lost'); }
    return answer;
  };
  const unlucky = new Pasarela(key, { baseUrl, fetch: losesFirst });
  const payment = await unlucky.payments.chargeCard({ usdAmount: '5', card, externalRef: `${run}-lost` });
  assert.deepEqual([lost, responseOf(payment)!.replayed], [1, true]);
  assert.equal((await client.payments.list({ externalRef: `${run}-lost` })).items.length, 1);
});

test('one key is one charge', async () => {
  const [first, second] = [await charge('key', `${run}-key`), await charge('key', `${run}-key`)];
  assert.deepEqual(first, second);
  assert.deepEqual([responseOf(first)!.replayed, responseOf(second)!.replayed], [false, true]);
  assert.equal((await client.reference.getIdempotencyKey(`${run}-key`)).state, 'done');
  await assert.rejects(charge('other', `${run}-key`), (error: unknown) => error instanceof Refused && error.code === 'idempotency_key_reused');
});

test('lists are walked page by page', async () => {
  const made: string[] = [];
  for (let number = 0; number < 5; number += 1) made.unshift((await charge(`page-${number}`)).paymentId);
  const found: string[] = [];
  for await (const { paymentId } of client.payments.list({ method: 'VPOS', limit: 2 })) found.push(paymentId);
  assert.deepEqual(found.filter((id) => made.includes(id)), made);
  assert.equal(new Set(found).size, found.length);
});

test('deliveries are verified', async () => {
  const deliveries: { body: Buffer; headers: http.IncomingHttpHeaders }[] = [];
  let arrived = () => {};
  const receiver = http.createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    deliveries.push({ body: Buffer.concat(parts), headers: request.headers });
    response.writeHead(204).end();
    arrived();
  });
  const delivery = async () => {
    const timer = setTimeout(() => assert.fail('no delivery came'), 20_000);
    while (deliveries.length === 0) await new Promise<void>((resolve) => { arrived = resolve; });
    clearTimeout(timer);
    return deliveries.shift()!;
  };
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    const endpoint = await client.webhooks.create({ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, events: ['payment.completed'] });
    const payment = await charge('webhook');
    const { body, headers } = await delivery();
    const event = verifyWebhook(body, headers, endpoint.secret);
    assert.equal(event.event, 'payment.completed');
    assert.deepEqual(event.data, payment);
    assert.throws(() => verifyWebhook(`${body} `, headers, endpoint.secret), SignatureError);
    const newer = await client.webhooks.rotateSecret(endpoint.id);
    await client.webhooks.resendEvent(event.id);
    const again = await delivery();
    assert.equal(verifyWebhook(again.body, again.headers, [endpoint.secret, newer.secret]).id, event.id);
    assert.deepEqual((await client.events.get(event.id)).data, payment);
    assert.ok((await client.webhooks.delete(endpoint.id)).deleted);
  } finally {
    receiver.close();
    receiver.closeAllConnections();
  }
});

test('calls go through a proxy that wants to know who asks', async () => {
  const asked: string[] = [];
  const proxy = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const { 'proxy-authorization': who, 'proxy-connection': _, ...headers } = request.headers;
    if (who !== 'Basic c2hvcDpwQHNz') return void response.writeHead(407).end();
    request.pipe(http.request(request.url!, { method: request.method!, headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers))));
  });
  proxy.on('connect', (request, socket) => { asked.push(`CONNECT ${request.url}`); socket.end('HTTP/1.1 407 Who\r\n\r\n'); });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  try {
    const through = new Pasarela(key, { baseUrl, proxy: `http://shop:p%40ss@${address}` });
    const { paymentId } = await through.payments.chargeCard({ usdAmount: '5', card, externalRef: `${run}-proxy` });
    assert.equal((await through.payments.get(paymentId)).status, 'COMPLETED');
    assert.deepEqual(asked, [`POST ${baseUrl}/v1/payments/vpos`, `GET ${baseUrl}/v1/payments/${paymentId}`]);
    const secure = new Pasarela(key, { baseUrl: 'https://pay.example', proxy: `http://${address}`, maxRetries: 0 });
    await assert.rejects(secure.test.moveClock({ advanceSeconds: 1 }), (error: unknown) => error instanceof ConnectionFailed && !error.outcomeUnknown);
    assert.equal(asked[2], 'CONNECT pay.example:443');
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
  for (const wrong of ['proxy:3128', 'https://proxy', 'socks5://proxy', 'http://']) assert.throws(() => new Pasarela(key, { baseUrl, proxy: wrong }), TypeError);
  assert.throws(() => new Pasarela(key, { baseUrl, proxy: 'http://proxy', fetch }), TypeError);
});

test('a call without a method of its own', async () => {
  const body = { usdAmount: 5, card, externalRef: `${run}-raw` };
  const first = await client.request<Payment>('POST', '/v1/payments/vpos', { body, idempotencyKey: `${run}-raw`, requestId: `${run}-name` });
  assert.deepEqual(await client.request('POST', '/v1/payments/vpos', { body, idempotencyKey: `${run}-raw` }), first);
  assert.equal((await client.finding.getRequest(`${run}-name`)).status, 201);
  await assert.rejects(client.request('GET', '/v1/payments/nobody'), NotFound);
});

test('the fields of a card make a token or pay', async () => {
  const { id, clientSecret } = await client.checkoutSessions.create({ amountUsd: '25.50' });
  const made = await client.checkoutPage.payCard(id, clientSecret, { card, tokenize: true });
  assert.ok('token' in made);
  assert.deepEqual([made.cardBrand, made.cardLast4], ['visa', '1111']);
  const state = await client.checkoutPage.payCard(id, clientSecret, { card });
  assert.ok('status' in state);
  assert.equal(state.status, 'paid');
});

test('errors name what is wrong', async () => {
  await assert.rejects(client.payments.chargeCard({ usdAmount: '0.001', card, externalRef: ' ' }), (error: unknown) => {
    return error instanceof InvalidRequest && error.fields.map(({ field }) => field).sort().join() === 'externalRef,usdAmount';
  });
  await assert.rejects(client.payments.get('not/there'), NotFound);
  await assert.rejects(new Pasarela('pk_test_nobody', { baseUrl }).balance.get(), Unauthorized);
});

test('everything that is read can be read', async () => {
  const reads = [
    client.usdt.getBalance(), client.cop.getBalance(), client.conversions.getSettings(), client.reference.listBanks(), client.payments.listMethods(), client.events.list(),
    client.merchants.list(), client.payouts.list(), client.chargebacks.list(), client.conversions.list(), client.products.list(), client.checkoutSessions.list(),
    client.webhooks.list(), client.health.get(), client.health.getReadiness(), client.test.getClock(), client.rates.getWithdrawalFeeSchedule(),
  ];
  for (const answer of await Promise.all(reads)) assert.ok(answer);
  const payment = await c2p('receipt');
  assert.equal(Buffer.from(await client.payments.getReceipt(payment.paymentId, {}, 'application/pdf')).subarray(0, 4).toString(), '%PDF');
  assert.ok((await client.finding.search(payment.paymentId)).items.some(({ kind }) => kind === 'payment'));
});

const funds = (name: string, count: number): StreamCall[] => Array.from({ length: count }, (_, n) => ({ path: '/v1/test/fund', key: `${run}-${name}-${n}`, body: { currency: 'USDT', amount: '1.00' } }));

async function all(outcomes: AsyncIterable<StreamOutcome>): Promise<StreamOutcome[]> {
  const found: StreamOutcome[] = [];
  for await (const outcome of outcomes) found.push(outcome);
  return found.sort((one, other) => one.line - other.line);
}

test('a stream yields what became of each call', async () => {
  const calls: StreamCall[] = [...funds('stream', 3), { path: '/v1/test/fund', body: { currency: 'X' } }, { method: 'GET', path: '/v1/crypto/balance' }];
  const first = await all(client.stream(calls));
  assert.deepEqual(first.map(({ line, status }) => [line, status]), [[1, 201], [2, 201], [3, 201], [4, 400], [5, 200]]);
  assert.ok(first[3]!.error instanceof InvalidRequest && first[3]!.key && first[4]!.key === null && first[0]!.error === null);
  async function* later() { yield* calls.slice(0, 3); }
  const again = await all(client.stream(later()));
  assert.deepEqual(again, first.slice(0, 3).map((outcome) => ({ ...outcome, replayed: true })));
  assert.deepEqual(await all(client.stream([])), []);
  for await (const outcome of client.stream(calls)) { assert.ok(outcome.line); break; }
});

test('a stream goes on after cuts', async () => {
  const { hostname, port } = new URL(baseUrl);
  let count = 0;
  const relay = net.createServer((socket) => {
    count += 1;
    let left = count <= 3 ? 20_000 : Infinity;
    const server = net.connect(Number(port), hostname);
    const end = () => { socket.destroy(); server.destroy(); };
    socket.on('data', (data) => server.write(data)).on('error', end).on('close', end);
    server.on('data', (data) => { left -= data.length; if (left > 0) socket.write(data); else end(); }).on('error', end).on('close', end);
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const cut = new Pasarela(key, { baseUrl: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`, policy: { firstWaitMs: 10 } });
  const lines = (await all(cut.stream(funds('cuts', 500)))).filter(({ status }) => status === 201).map(({ line }) => line);
  relay.close();
  assert.deepEqual(lines, Array.from({ length: 500 }, (_, n) => n + 1));
  assert.ok(count > 2);
});

test('a stream with a wrong key or without a server is an error, and so is what the calls throw', async () => {
  await assert.rejects(all(new Pasarela('pk_test_wrong', { baseUrl }).stream(funds('wrong', 1))), Unauthorized);
  const nobody = new Pasarela(key, { baseUrl: 'http://127.0.0.1:1', policy: { firstWaitMs: 10 } });
  await assert.rejects(all(nobody.stream(funds('nobody', 1), { patienceMs: 200 })), ConnectionFailed);
  function* broken(): Generator<StreamCall> { yield* funds('broken', 1); throw new RangeError('no more'); }
  await assert.rejects(all(client.stream(broken())), RangeError);
});
