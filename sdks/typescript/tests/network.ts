/**
 * What a client makes of servers and proxies that misbehave: those of sdks/peers, whose file PASARELA_PEERS is. Node learns of an authority
 * when it starts: with NODE_EXTRA_CA_CERTS these are the cases that trust it, without the others.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ConnectionFailed, Pasarela } from 'pasarela';

interface Case {
  name: string;
  address: string;
  proxy: string | null;
  trusts: boolean;
  outcome: 'answered' | 'unknown' | 'not sent';
}

const { authority, cases } = JSON.parse(readFileSync(process.env['PASARELA_PEERS']!, 'utf8')) as { authority: string | null; cases: Case[] };
const trusts = authority === null || process.env['NODE_EXTRA_CA_CERTS'] === authority;
const SECRETS = ['pk_test_SECRET', 'pa55word', Buffer.from('us@er:pa55word').toString('base64')];

for (const one of cases.filter((one) => one.trusts === trusts)) {
  test(one.name, { timeout: 20_000 }, async () => {
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => void lines.push(line);
    const proxy = one.proxy === null ? {} : { proxy: one.proxy.replace('//', '//us%40er:pa55word@') };
    const policy = { maxRetries: 1, firstWaitMs: 0 };
    const client = new Pasarela('pk_test_SECRET', { baseUrl: one.address, timeoutMs: 1000, policy, logger: { info: log, warn: log }, ...proxy });
    if (one.outcome === 'answered') return void assert.equal((await client.test.getClock()).livemode, false);
    const isUnknown = one.outcome === 'unknown';
    const calls: [() => Promise<unknown>, number][] = [[() => client.webhooks.delete('SSL-1'), isUnknown ? 1 : 2], [() => client.test.moveClock({ advanceSeconds: 1 }), 2]];
    for (const [call, tries] of calls) {
      lines.length = 0;
      const began = performance.now();
      const error = await call().then(() => assert.fail('an answer'), (error: unknown) => error);
      assert.ok(error instanceof ConnectionFailed);
      assert.deepEqual([error.outcomeUnknown, lines.length], [isUnknown, tries], inspect(error));
      assert.ok(performance.now() - began < 4000);
      const shown = inspect([lines, error], { depth: 9 });
      for (const secret of SECRETS) assert.ok(!shown.includes(secret), shown);
    }
  });
}

for (const one of cases.filter(({ name, trusts: asked }) => asked === trusts && name === 'a proxy that opens no tunnel in time')) {
  test('a caller who gives up does not wait for a tunnel', { timeout: 5000 }, async () => {
    const client = new Pasarela('pk_test_x', { baseUrl: one.address, proxy: one.proxy! });
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await assert.rejects(client.balance.get({}, { signal: controller.signal }), /enough/);
  });
}
