// An agent's loop over MCP, with a script in the place of the model: it collects from a buyer, asks a person for
// a large payout, pays two sellers, and is refused by its mandate.
//
//     PASARELA_URL=http://127.0.0.1:8080 PASARELA_KEY=pk_test_demo node agent.ts
//
// PASARELA_KEY is a test key of the account with the scope `keys`. The agent gets a key of its own, and no other.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { PASARELA_URL = 'http://127.0.0.1:8080', PASARELA_KEY = 'pk_test_demo' } = process.env;
// References of one run: the same names in another run would be the same orders and payouts.
const run = randomUUID().slice(0, 8);

type Body = Record<string, any>;
// What a model would do: it says which tool to call with what, and is told the answer.
type Plan = Generator<[string, Body], void, Body>;

// The person whose money it is, by REST.
async function owner(method: string, path: string, body?: Body): Promise<Body> {
  const headers = { 'x-api-key': PASARELA_KEY, 'content-type': 'application/json' };
  const answer = await fetch(PASARELA_URL + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

// A seller whose payout method is verified, as two micro-deposits do it in test mode.
async function verifiedSeller(name: string, phone: string): Promise<string> {
  const seller = await owner('POST', '/v1/merchants', {
    externalRef: `${name}-${run}`, name, identification: 'V87654321', bankCode: '0134',
    contactEmail: 'seller@example.com', contactPhone: phone, phone,
  });
  const method = seller.payoutMethods[0].payoutMethodId;
  const path = `/v1/merchants/${seller.merchantId}/payout-methods/${method}/verify`;
  await owner('POST', `${path}/start`);
  await owner('POST', path, { amount1: '0.32', amount2: '0.45' });
  return seller.merchantId;
}

// A key for the agent: 100 bolívares a day, for these sellers alone, and above 50 a person decides.
function budget(sellers: string[]): Promise<Body> {
  return owner('POST', '/v1/keys', {
    name: `agent-${run}`, scopes: ['read', 'collect', 'payout'],
    mandate: { agent: 'scripted', perDay: { VES: '100.00' }, approvalAbove: { VES: '50.00' }, payees: sellers },
  });
}

// What a person sees of a call that waits, and says yes to.
async function decide(asked: Body): Promise<void> {
  const approval = await owner('GET', `/v1/approvals/${asked.approvalId}`);
  assert.deepEqual([approval.status, approval.agent], ['awaiting_approval', 'scripted']);
  const decided = await owner('POST', `/v1/approvals/${asked.approvalId}/approve`, {});
  assert.equal(decided.result.status, 'completed');
}

function* plan(sellers: string[]): Plan {
  const buyer = {
    usdAmount: 5, debtorId: 'V12345678', debtorCellPhone: '04141234567', debtorBankCode: 134, externalRef: `order-${run}`,
  };
  const intent = yield ['requestC2p', buyer];
  // The buyer reads this code in the app of their bank.
  const paid = yield ['executeC2p', { ...buyer, intentId: intent.intentId, token: '12345678' }];
  assert.equal(paid.status, 'COMPLETED');

  const payout = (seller: string, monto: string, name: string) =>
    ({ merchantId: seller, monto, concepto: 'semana 48', externalRef: `${name}-${run}` });
  // Nothing has moved: it goes on when a person has said yes, and asks by its own reference.
  const asked = yield ['createPayout', payout(sellers[0], '60.00', 'first')];
  assert.equal(asked.status, 'awaiting_approval');
  const first = yield ['getPayoutByRef', { externalRef: `first-${run}` }];
  assert.deepEqual([first.status, first.monto], ['completed', '60.00']);

  const rehearsed = yield ['createPayout', { ...payout(sellers[1], '30.00', 'second'), dryRun: true }];
  assert.equal(rehearsed.status, 201);
  const second = yield ['createPayout', payout(sellers[1], '30.00', 'second')];
  assert.equal(second.status, 'completed');
  // What it has paid it does not pay again, whatever the model forgets.
  const again = yield ['createPayout', payout(sellers[1], '30.00', 'second')];
  assert.equal(again.externalRef, `second-${run}`);

  const refused = yield ['createPayout', payout(sellers[0], '20.00', 'third')];
  assert.equal(refused.error, 'mandate_exceeded');
  const left = refused.remaining.VES;
  const done = yield ['createPayout', payout(sellers[0], left, 'fourth')];
  assert.deepEqual([left, done.status], ['10.00', 'completed']);
}

// The loop: a call, its answer, the next call. What a person has to decide, a person is asked.
async function act(client: Client, steps: Plan, ask: (asked: Body) => Promise<void>): Promise<void> {
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  assert(tools.includes('createPayout') && !tools.includes('registerMerchant'));
  let step = steps.next();
  while (!step.done) {
    const [name, args] = step.value;
    const result = await client.callTool({ name, arguments: args });
    const body = result.structuredContent as Body;
    console.log(`${name}: ${body.error ?? body.status}`);
    if (body.status === 'awaiting_approval') await ask(body);
    step = steps.next(body);
  }
}

await owner('POST', '/v1/test/fund', { currency: 'VES', amount: '1000.00' });
const sellers = [await verifiedSeller('ana', '04147654321'), await verifiedSeller('luis', '04247654321')];
const key = await budget(sellers);
const client = new Client({ name: 'scripted-agent', version: '1.0.0' });
const requestInit = { headers: { 'x-api-key': key.key } };
await client.connect(new StreamableHTTPClientTransport(new URL(`${PASARELA_URL}/mcp`), { requestInit }));
await act(client, plan(sellers), decide);
await client.close();
const known = await owner('GET', `/v1/keys/${key.keyId}`);
assert.deepEqual(known.remaining, { perDay: { VES: '0.00' } });
console.log('what is left:', JSON.stringify(known.remaining));
