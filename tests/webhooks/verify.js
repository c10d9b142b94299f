// Receives deliveries of a server and verifies them: with the library standardwebhooks, and with the handler of docs/en/webhooks.md.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { Webhook } from 'standardwebhooks';
import { verified } from './guide.js';

const [api, key] = process.argv.slice(2);
const deliveries = [];
let arrived = () => {};
const receiver = http.createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  deliveries.push({ body: Buffer.concat(parts), headers: request.headers });
  response.writeHead(204).end();
  arrived();
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');

async function post(path, body) {
  const answer = await fetch(api + path, { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' }, body: JSON.stringify(body) });
  assert.equal(answer.status, 201, await answer.clone().text());
  return answer.json();
}

const url = `http://127.0.0.1:${receiver.address().port}/hook`;
const { secret } = await post('/v1/webhooks', { url, events: ['payment.completed'] });
const card = { number: '4111111111111111', expMonth: 12, expYear: 2035, cvv: '123', holderName: 'Ana Pérez', holderId: 'V12345678' };
for (let number = 0; number < 3; number += 1) {
  await post('/v1/payments/vpos', { usdAmount: 10, card, externalRef: `javascript-${number}`, description: 'compra' });
}
const deadline = setTimeout(() => assert.fail('the deliveries did not come'), 30_000);
while (deliveries.length < 3) {
  await new Promise((resolve) => { arrived = resolve; });
}
clearTimeout(deadline);

const webhook = new Webhook(secret);
const seen = new Set();
for (const { body, headers } of deliveries) {
  assert.equal(webhook.verify(body, headers).event, 'payment.completed');
  assert.equal(verified(secret, body, headers, seen).event, 'payment.completed');
  assert.equal(verified(secret, body, headers, seen), null, 'the same delivery again is known by its signed id');
  const old = new Date(Date.now() - 6 * 60_000);
  const signed = webhook.sign(headers['webhook-id'], old, body.toString());
  const bad = [
    [Buffer.concat([body, Buffer.from(' ')]), headers],
    [body, { ...headers, 'webhook-id': '0190a000-0000-7000-8000-000000000000' }],
    [body, { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) }],
    [body, { ...headers, 'webhook-timestamp': String(Math.floor(old.getTime() / 1000)), 'webhook-signature': signed }],
    [body, Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('webhook-')))],
  ];
  for (const [sent, by] of bad) {
    assert.throws(() => webhook.verify(sent, by));
    assert.throws(() => verified(secret, sent, by, new Set()));
  }
}
assert.equal(seen.size, 3);
receiver.close();
receiver.closeAllConnections();
console.log('javascript: 3 deliveries verified, and nothing else');
