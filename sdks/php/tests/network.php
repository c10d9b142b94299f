<?php

/** What a client makes of servers and proxies that misbehave: those of sdks/peers, whose file PASARELA_PEERS is. PASARELA_TRANSPORT=curl|stream. */

declare(strict_types=1);

use Pasarela\Exception\ConnectionFailed;
use Pasarela\{Model, Pasarela, Policy};
use Pasarela\Transport\{CurlTransport, StreamTransport, Transport};

require getenv('PASARELA_AUTOLOAD') ?: __DIR__ . '/../autoload.php';
require __DIR__ . '/check.php';

ini_set('zend.exception_ignore_args', '0'); // as where there is no php.ini

define('PEERS', json_decode(file_get_contents(getenv('PASARELA_PEERS')), true));
const SECRETS = ['pk_test_SECRET', 'pa55word', 'dXNAZXI6cGE1NXdvcmQ', '4111111111111111', 'CVV777', 'OTP987654', 'cs_SECRET'];

function made(array $case, object $logger): Pasarela
{
    $proxy = $case['proxy'] === null ? null : str_replace('//', '//us%40er:pa55word@', $case['proxy']);
    $trusted = $case['trusts'] ? PEERS['authority'] : null;
    $transport = getenv('PASARELA_TRANSPORT') === 'curl'
        ? new CurlTransport($case['address'], $trusted === null ? [] : [CURLOPT_CAINFO => $trusted], $proxy)
        : new StreamTransport($case['address'], $trusted === null ? [] : ['cafile' => $trusted], $proxy);
    return new Pasarela('pk_test_SECRET', baseUrl: $case['address'], timeout: 1, policy: new Policy(1, 0.0), transport: $transport, logger: $logger);
}

/** Everything that a tracker of errors could make of an exception: texts, and the arguments in the traces of all before it. */
function shown(Throwable $failure): string
{
    $shown = (string) $failure;
    for ($each = $failure; $each !== null; $each = $each->getPrevious()) {
        foreach ($each->getTrace() as $frame) {
            // The closures of these tests are the tests' own.
            $shown .= print_r(array_filter($frame['args'] ?? [], static fn (mixed $value): bool => !$value instanceof Closure), true);
        }
    }
    return $shown;
}

function clean(string $shown): void
{
    foreach (SECRETS as $secret) {
        same(str_contains($shown, $secret), false, $secret);
    }
}

$logger = new class {
    /** @var list<mixed> */
    public array $lines = [];

    public function info(string $text, array $context): void
    {
        $this->lines[] = [$text, $context];
    }

    public function warning(string $text, array $context): void
    {
        $this->lines[] = [$text, $context];
    }
};

foreach (PEERS['cases'] as $case) {
    test($case['name'], function () use ($case, $logger): void {
        $client = made($case, $logger);
        if ($case['outcome'] === 'answered') {
            same($client->test->getClock()->livemode, false);
            return;
        }
        $isUnknown = $case['outcome'] === 'unknown';
        foreach ([[fn () => $client->webhooks->delete('SSL-1'), $isUnknown ? 1 : 2], [fn () => $client->test->moveClock(advanceSeconds: 1), 2]] as [$call, $tries]) {
            $logger->lines = [];
            $began = microtime(true);
            $failure = throws(ConnectionFailed::class, $call);
            same([$failure->outcomeUnknown, count($logger->lines)], [$isUnknown, $tries], (string) $failure);
            same(microtime(true) - $began < 6, true, 'in time'); // streams wait for a tunnel's head and for its end
            clean(json_encode($logger->lines) . shown($failure));
        }
    });
}

test('no trace has a key, a card, a code or a secret', function () use ($logger): void {
    $logger->lines = [];
    $reset = array_values(array_filter(PEERS['cases'], static fn (array $case): bool => $case['name'] === 'a reset after the request'))[0];
    $client = made($reset, $logger);
    $card = new Model\Card(number: '4111111111111111', expMonth: 12, expYear: 2031, cvv: 'CVV777', holderName: 'Ana', holderId: 'V12345678');
    $payer = ['debtorId' => 'V12345678', 'debtorCellPhone' => '04141234567', 'debtorBankCode' => 134, 'usdAmount' => '10', 'externalRef' => 'x'];
    $calls = [
        fn () => $client->payments->chargeCard(usdAmount: '1', card: $card, externalRef: 'x'),
        fn () => $client->payments->executeC2p(...$payer, intentId: 'i', token: 'OTP987654'),
        fn () => $client->checkoutPage->submitOtp('session', 'cs_SECRET', otp: 'OTP987654'),
        fn () => $client->request('POST', '/v1/payments/c2p', ['token' => 'OTP987654', 'card' => ['number' => '4111111111111111', 'cvv' => 'CVV777']]),
    ];
    foreach ($calls as $call) {
        $shown = shown(throws(ConnectionFailed::class, $call));
        same(str_contains($shown, 'StreamTransport') || str_contains($shown, 'CurlTransport'), true, 'the trace has the arguments');
        clean($shown);
    }
    clean(json_encode($logger->lines));
});
