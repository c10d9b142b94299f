// A shop in one file: a product, the gateway's page to pay on, the webhook that says so, and a refund.
//
//     PASARELA_URL=http://127.0.0.1:8080 PASARELA_KEY=pk_test_demo node shop.mjs
//
// It is at SHOP_URL (http://localhost:5000), on SHOP_LISTEN (127.0.0.1), and keeps its orders in SHOP_DATA (./shop.json).

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { ApiError, Pasarela, SignatureError, verifyWebhook } from 'pasarela';

const { PASARELA_URL = 'http://127.0.0.1:8080', PASARELA_KEY = 'pk_test_demo' } = process.env;
const { SHOP_URL = 'http://localhost:5000', SHOP_LISTEN = '127.0.0.1', SHOP_DATA = 'shop.json' } = process.env;
const [product, price] = ['Camisa de lino', '25.50'];
const client = new Pasarela(PASARELA_KEY, { baseUrl: PASARELA_URL });

// Orders and the signing secret, in one file. A database has transactions for this; here it is one thread and a rename.
const data = existsSync(SHOP_DATA) ? JSON.parse(readFileSync(SHOP_DATA, 'utf8')) : { secret: null, orders: {} };

function save() {
  writeFileSync(`${SHOP_DATA}.new`, JSON.stringify(data), { mode: 0o600 });
  renameSync(`${SHOP_DATA}.new`, SHOP_DATA);
}

// open -> paid -> refunded, and never back: an event that comes twice, or late, changes nothing.
function move(order, to, payment) {
  const found = Object.hasOwn(data.orders, order) && data.orders[order];
  if (!found || !['open paid', 'open refunded', 'paid refunded'].includes(`${found.status} ${to}`)) return;
  Object.assign(found, { status: to, payment: payment ?? found.payment });
  save();
}

// Has the gateway send its events here. It shows the signing secret once.
async function register() {
  if (data.secret !== null) return;
  data.secret = (await client.webhooks.create({ url: `${SHOP_URL}/webhook`, events: ['payment.completed', 'payment.reversed'] })).secret;
  save();
}

// Opens an order, and a session in which it is paid. The address of the gateway's page.
async function buy() {
  const order = randomUUID();
  data.orders[order] = { status: 'open', session: null, payment: null };
  save();
  const asked = { amountUsd: price, description: product, reference: order, methods: ['c2p'], successUrl: `${SHOP_URL}/orders/${order}` };
  const session = await client.checkoutSessions.create(asked, { idempotencyKey: `order-${order}` });
  data.orders[order].session = session.id;
  save();
  return session.url;
}

// What an event says of an order. Throws SignatureError for what is not the gateway's.
function delivered(body, headers) {
  const event = verifyWebhook(body, headers, data.secret);
  const order = event.data.checkoutSession?.reference ?? '';
  if (event.event === 'payment.completed') move(order, 'paid', event.data.paymentId);
  if (event.event === 'payment.reversed') move(order, 'refunded', event.data.paymentId);
}

// An order as it is. A delivery is tried once, so an order that is open is asked about as well.
async function look(order) {
  const found = Object.hasOwn(data.orders, order) ? data.orders[order] : null;
  if (found?.status === 'open' && found.session) {
    const session = await client.checkoutSessions.get(found.session);
    if (session.status === 'paid') move(order, 'paid', session.paymentId);
  }
  return found;
}

// Gives the money back: once, however often the button is pressed. In your shop this stands behind your login.
async function refund(order) {
  const { status } = await client.payments.reverse(data.orders[order].payment, { idempotencyKey: `refund-${order}` });
  if (status === 'REVERSED') move(order, 'refunded');
}

const page = (text, status = 200) => ({ status, text: `<!doctype html><title>Tienda</title>${text}` });
const redirect = (location) => ({ status: 303, headers: { location } });

async function answer(method, path, body, headers) {
  const [, kind, order, act] = path.split('/');
  if (method === 'GET' && path === '/') {
    return page(`<p>${product}, ${price} USD</p><form method="post" action="/buy"><button data-action="buy">Comprar</button></form>`);
  }
  if (method === 'POST' && path === '/webhook') {
    delivered(body, headers);
    return { status: 204 };
  }
  if (method === 'POST' && path === '/buy') return redirect(await buy());
  const found = kind === 'orders' ? await look(order) : null;
  if (found && method === 'POST' && act === 'refund') {
    await refund(order);
    return redirect(`${SHOP_URL}/orders/${order}`);
  }
  if (!found || act) return page('<p>No existe</p>', 404);
  const button = `<form method="post" action="/orders/${order}/refund"><button data-action="refund">Devolver</button></form>`;
  return page(`<p>${product}: <strong data-status="${found.status}">${found.status}</strong></p>${found.status === 'paid' ? button : ''}`);
}

const server = http.createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const path = new URL(request.url, SHOP_URL).pathname;
  const { status, text = '', headers = {} } = await answer(request.method, path, Buffer.concat(parts), request.headers).catch((error) => {
    if (error instanceof SignatureError) return { status: 400 };
    console.error(error.message);
    return page('<p>Ahora no se puede; intenta de nuevo</p>', error instanceof ApiError ? 502 : 500);
  });
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(text);
});
server.listen(Number(new URL(SHOP_URL).port || 80), SHOP_LISTEN, async () => {
  await register();
  console.log(`the shop is at ${SHOP_URL}`);
});
