// The README's path with a generated client: collect, hold, release, pay out.
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const [baseUrl, key, name] = process.argv.slice(2) as [string, string, string];
// Lists answer CSV as well; this client asks for JSON, and its types say so.
const api = createClient<paths, 'application/json'>({ baseUrl, headers: { 'x-api-key': key } });

/** The answer, or an error that says what was answered instead. */
function must<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.url}: ${answer.response.status} ${JSON.stringify(answer.error)}`);
  return answer.data;
}

function equal(found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
}

const details = { usdAmount: 10, debtorId: 'V12345678', debtorCellPhone: '04141234567', debtorBankCode: 134, externalRef: `${name}-order` };
const intent = must(await api.POST('/v1/payments/c2p/request', { body: details }));
const payment = must(await api.POST('/v1/payments/c2p', { body: { ...details, intentId: intent.intentId, token: '12345678' }, params: { header: { 'Idempotency-Key': `${name}-charge` } } }));
equal(payment.status, 'COMPLETED');
const kept = must(await api.GET('/v1/idempotency/{key}', { params: { path: { key: `${name}-charge` } } }));
equal(kept.state, 'done');

const held = must(await api.GET('/v1/balance'));
if (held.heldVes === '0.00') throw new Error('nothing is held');
must(await api.POST('/v1/test/clock', { body: { advanceSeconds: 86_400 } }));
const free = must(await api.GET('/v1/balance'));
equal(free.heldVes, '0.00');

const seller = must(await api.POST('/v1/merchants', { body: { externalRef: `${name}-seller`, name: 'Bodega La Esquina', identification: 'V87654321', bankCode: '0134', phone: '04147654321' } }));
const method = seller.payoutMethods[0]!.payoutMethodId;
const path = { id: seller.merchantId, methodId: method };
must(await api.POST('/v1/merchants/{id}/payout-methods/{methodId}/verify/start', { params: { path } }));
const verified = must(await api.POST('/v1/merchants/{id}/payout-methods/{methodId}/verify', { params: { path }, body: { amount1: '0.32', amount2: '0.45' } }));
equal(verified.status, 'verified');

const asked = { merchantId: seller.merchantId, monto: '100.00', concepto: 'liquidacion', externalRef: `${name}-payout` };
const payout = must(await api.POST('/v1/payouts', { body: asked }));
const again = must(await api.POST('/v1/payouts', { body: asked }));
// `status` tells a payout from a call that waits, as no payout has that one.
if (payout.status === 'awaiting_approval' || again.status === 'awaiting_approval') throw new Error('only calls of a key with a mandate wait for an approval');
equal(payout.status, 'completed');
equal(again.payoutId, payout.payoutId);

const refused = await api.POST('/v1/payouts', { body: { ...asked, monto: '999999999.00', externalRef: `${name}-too-much` } });
equal(refused.error?.error, 'insufficient_balance');
const movements = must(await api.GET('/v1/balance/transactions', { params: { query: { payoutId: payout.payoutId } } }));
equal(movements.items[0]!.amountVes, '-100.00');
console.log(`typescript: ${payment.vesAmount} VES in, ${payout.monto} VES out, reference ${payout.reference}`);
