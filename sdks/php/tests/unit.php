<?php

/** The edges that need no server: tries, signatures, money, pages, exceptions. */

declare(strict_types=1);

use Pasarela\Exception\{ApiException, Conflict, ConnectionFailed, InvalidRequest, PasarelaException, RateLimited, SignatureException};
use Pasarela\{Json, Model, Money, Outcome, Pasarela, Policy, Webhook, WebhookEvent};
use Pasarela\Transport\{Answer, NoAnswer, Transport};

require getenv('PASARELA_AUTOLOAD') ?: __DIR__ . '/../autoload.php';
require __DIR__ . '/check.php';

/** A transport that plays answers, or their absence, in order, and remembers what was sent. */
final class Script implements Transport
{
    /** @var list<array{string, string, array<string, string>, ?string}> */
    public array $sent = [];
    /** @var list<float> */
    public array $waits = [];

    /** @param list<Answer|NoAnswer> $answers */
    public function __construct(private array $answers)
    {
    }

    public function send(string $method, string $target, array $headers, ?string $body, float $timeout): Answer
    {
        $this->sent[] = [$method, $target, $headers, $body];
        $answer = array_shift($this->answers);
        return $answer instanceof Answer ? $answer : throw $answer;
    }

    /** @return list<?string> */
    public function keys(): array
    {
        return array_map(static fn (array $sent): ?string => $sent[2]['idempotency-key'] ?? null, $this->sent);
    }
}

/** @return array{Pasarela, Script} */
function client(Answer|NoAnswer ...$answers): array
{
    return logged(null, ...$answers);
}

/** @return array{Pasarela, Script} */
function logged(?object $logger, Answer|NoAnswer ...$answers): array
{
    $script = new Script($answers);
    $sleep = static function (float $seconds) use ($script): void {
        $script->waits[] = $seconds;
    };
    return [new Pasarela('pk_test_x', baseUrl: 'http://localhost:1', transport: $script, sleep: $sleep, logger: $logger), $script];
}

function answer(int $status, array|string $body, array $headers = []): Answer
{
    return new Answer($status, $headers, is_array($body) ? json_encode($body) : $body);
}

function problem(int $status, string $error, array $headers = []): Answer
{
    return answer($status, ['error' => $error, 'message' => '…', 'requestId' => 'r-1'], $headers);
}

const CLOCK = ['now' => '2026-11-21T02:13:00.000Z', 'livemode' => false];

function card(): Model\Card
{
    return new Model\Card(number: '4111111111111111', expMonth: 12, expYear: 2031, cvv: '123', holderName: 'Ana Perez', holderId: 'V12345678');
}

test('every class of the package loads', function (): void {
    $src = dirname((new ReflectionClass(Pasarela::class))->getFileName());
    $files = new RegexIterator(new RecursiveIteratorIterator(new RecursiveDirectoryIterator($src)), '/\.php$/');
    $found = 0;
    foreach ($files as $file) {
        $class = 'Pasarela' . str_replace(['/', '.php'], ['\\', ''], substr($file->getPathname(), strlen($src)));
        same(class_exists($class) || interface_exists($class), true, $class);
        $found++;
    }
    same($found > 100, true);
});

test('a lost answer of a POST is asked for again under the same key and with the same bytes', function (): void {
    [$client, $script] = client(new NoAnswer('reset', true), problem(503, 'overloaded', ['retry-after' => '3']), answer(200, CLOCK));
    $client->test->moveClock(advanceSeconds: 60);
    same(count($script->sent), 3);
    same(count(array_unique($script->keys())), 1);
    same(array_unique(array_column($script->sent, 3)), ['{"advanceSeconds":60}']);
    same($script->waits[0] >= 0.25 && $script->waits[0] <= 0.5 && $script->waits[1] >= 3.0, true);
});

test('each call has a key of its own, and the caller\'s is kept', function (): void {
    [$client, $script] = client(answer(200, CLOCK), answer(200, CLOCK), answer(200, CLOCK));
    $client->test->moveClock(advanceSeconds: 1);
    $client->test->moveClock(advanceSeconds: 1);
    $client->test->moveClock(advanceSeconds: 1, idempotencyKey: 'mine');
    [$first, $second, $third] = $script->keys();
    same($first !== $second && preg_match('/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/', $first) === 1, true);
    same($third, 'mine');
});

test('what may have happened and has no key is not repeated', function (): void {
    foreach ([new NoAnswer('reset', true), problem(500, 'internal_error'), problem(503, 'storage_unavailable')] as $lost) {
        [$client, $script] = client($lost);
        $failure = throws(PasarelaException::class, fn () => $client->webhooks->delete('w-1'));
        same(count($script->sent), 1);
        same($failure instanceof ConnectionFailed ? $failure->outcomeUnknown : $failure->outcomeUnknown(), true);
    }
});

test('what certainly did not happen is repeated without a key too', function (): void {
    [$client] = client(new NoAnswer('refused', false), problem(429, 'rate_limited', ['retry-after' => '1']), answer(200, ['deleted' => true, 'id' => 'w-1']));
    same($client->webhooks->delete('w-1')->deleted, true);
});

test('the gateway\'s word stands when the tries are used up, or the wait is too long', function (): void {
    [$client, $script] = client(problem(429, 'rate_limited'), problem(429, 'rate_limited'), problem(429, 'rate_limited'));
    throws(RateLimited::class, fn () => $client->balance->get());
    same(count($script->sent), 3);
    [$client, $script] = client(problem(429, 'rate_limited', ['retry-after' => '3600']));
    same(throws(RateLimited::class, fn () => $client->balance->get())->retryAfter, 3600);
    same(count($script->sent), 1);
});

test('which outcomes are repeated', function (): void {
    $table = [
        // status, error, Retry-After, under a key or a read, else
        [409, 'idempotency_in_progress', null, true, false],
        [409, 'external_ref_conflict', null, false, false],
        [422, 'insufficient_balance', null, false, false],
        [400, 'invalid_data', null, false, false],
        [408, 'request_timeout', null, true, true],
        [503, 'rail_unavailable', 5, true, true],
        [503, 'no_leader', 1, true, true],
        [503, 'shutting_down', null, true, true],
        [503, 'storage_unavailable', null, true, false],
        [503, 'account_halted', null, false, false],
        [503, 'rail_not_configured', null, false, false],
        [503, 'rate_unavailable', null, false, false],
        [502, 'http_502', null, true, false],
        [500, 'internal_error', null, true, false],
    ];
    foreach ($table as [$status, $error, $after, $keyed, $bare]) {
        $outcome = new Outcome($status, $error, $after);
        same([Policy::worthRepeating($outcome, true), Policy::worthRepeating($outcome, false)], [$keyed, $bare], $error);
    }
    $waits = array_map(static fn (int $tries): ?float => (new Policy(maxRetries: 9))->wait($tries, new Outcome(429), true, 1.0), range(1, 6));
    same($waits, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]);
});

test('a call has its own retries and name', function (): void {
    [$client, $script] = client(new NoAnswer('reset', true));
    throws(ConnectionFailed::class, fn () => $client->balance->get(maxRetries: 0, requestId: 'mine-1'));
    same([count($script->sent), $script->waits, $script->sent[0][2]['x-request-id']], [1, [], 'mine-1']);
    [$client, $script] = client(problem(503, 'overloaded'), problem(503, 'overloaded'), problem(503, 'overloaded'), answer(200, CLOCK));
    $client->test->getClock(maxRetries: 3);
    same(count($script->sent), 4);
});

test('raw calls have the key, the retries and the exceptions of every call', function (): void {
    [$client, $script] = client(problem(503, 'overloaded'), answer(201, '{"paymentId": "p", "vesAmount": 10.50}'));
    $found = $client->request('post', '/v1/payments/new', body: ['usdAmount' => 5, 'list' => [1], 'data' => ['a' => 'b']], query: ['a b' => true, 'none' => null]);
    same($found, ['paymentId' => 'p', 'vesAmount' => '10.50']);
    [$method, $target, $headers, $body] = $script->sent[1];
    same([$method, $target, $headers['x-api-key'], $body], ['POST', '/v1/payments/new?a%20b=true', 'pk_test_x', '{"usdAmount":5,"list":[1],"data":{"a":"b"}}']);
    same($script->keys()[0] !== null && $script->keys()[0] === $script->keys()[1], true);
    [$client, $script] = client(problem(422, 'insufficient_balance'), answer(200, '[]'), answer(204, ''), answer(200, 'a,b'));
    same(throws(ApiException::class, fn () => $client->request('POST', '/v1/payouts', body: [], idempotencyKey: 'mine'))->idempotencyKey, 'mine');
    same([$client->request('GET', '/v1/banks'), $client->request('DELETE', '/v1/x'), $client->request('GET', '/v1/payments', accept: 'text/csv')], [[], null, 'a,b']);
    same($script->keys(), ['mine', null, null, null]);
    [$client, $script] = client(new NoAnswer('reset', true));
    throws(ConnectionFailed::class, fn () => $client->request('POST', '/pay/link/sessions', body: []));
    same(count($script->sent), 1);
    $paths = ['', 'v1/balance', '/v1/balance?at=1', '/v1/a b', '/v1/é', "/v1/a\r\n", 'http://other.example/', '/v1/../pay', '/v1/.', '/v1/%2E%2e/x', '/v1\\..\\pay', '/v1/{id}'];
    foreach ($paths as $wrong) {
        throws(InvalidArgumentException::class, fn () => $client->request('GET', $wrong), $wrong);
    }
    foreach (["GET / HTTP/1.1\r\nx-evil: 1", '', 'G T'] as $wrong) {
        throws(InvalidArgumentException::class, fn () => $client->request($wrong, '/v1/balance'), $wrong);
    }
    foreach ([[], ['a', 'b'], ['..'], ['']] as $wrong) {
        throws(InvalidArgumentException::class, fn () => $client->request('GET', '/v1/payments/{id}', parts: $wrong), json_encode($wrong));
    }
    same(count($script->sent), 1);
});

test('a key is refused where the gateway keeps none', function (): void {
    [$client, $script] = client();
    foreach ([['PATCH', '/v1/merchants/m-1'], ['DELETE', '/v1/webhooks/w-1'], ['POST', '/pay/link/sessions'], ['GET', '/v1/balance']] as [$method, $path]) {
        throws(InvalidArgumentException::class, fn () => $client->request($method, $path, idempotencyKey: 'mine'), $method);
    }
    same($script->sent, []);
});

test('what is no option is refused before the first try', function (): void {
    [$client, $script] = client();
    $options = [...array_map(static fn (float $value): array => ['timeout' => $value], [0.0, -1.0, NAN, INF, 86_401.0]), ['maxRetries' => -1], ['maxRetries' => 101]];
    foreach ([...$options, ...array_map(static fn (string $value): array => ['requestId' => $value], ['', 'a b', "a\r\nx-evil: 1", 'é', str_repeat('a', 65)])] as $wrong) {
        throws(InvalidArgumentException::class, fn () => $client->balance->get(...$wrong), print_r($wrong, true));
    }
    foreach (['', "a\nb", ' a', 'a ', 'é', str_repeat('a', 256)] as $wrong) {
        throws(InvalidArgumentException::class, fn () => $client->test->moveClock(advanceSeconds: 1, idempotencyKey: $wrong), $wrong);
    }
    $policies = array_map(static fn (array $policy): array => ['policy' => new Policy(...$policy)], [['maxRetries' => -1], ['firstWait' => NAN], ['longestWait' => -1.0], ['longestRetryAfter' => -1]]);
    foreach ([...$options, ...$policies] as $wrong) {
        throws(InvalidArgumentException::class, fn () => new Pasarela('pk_test_x', 'http://localhost:1', ...$wrong), print_r($wrong, true));
    }
    $failure = throws(InvalidArgumentException::class, fn () => $client->checkoutPage->getState('s-1', "cs_SECRET\n"));
    same(str_contains($failure->getMessage(), 'cs_SECRET'), false);
    throws(InvalidArgumentException::class, fn () => $client->request('GET', '/v1/payments', accept: "text/csv\r\nx-evil: 1"));
    same($script->sent, []);
});

/** As PSR-3 has it, as far as the client needs it. */
final class Lines
{
    /** @var list<array{string, string, array<string, mixed>}> */
    public array $lines = [];

    public function info(string $message, array $context = []): void
    {
        $this->lines[] = ['info', $message, $context];
    }

    public function warning(string $message, array $context = []): void
    {
        $this->lines[] = ['warning', $message, $context];
    }
}

test('each try is a line without keys, cards, codes and bodies', function (): void {
    $logger = new Lines();
    [$client] = logged(
        $logger,
        problem(503, 'overloaded', ['x-request-id' => 'r-7']), new NoAnswer('reset', true), answer(201, ['paymentId' => 'p'], ['x-request-id' => 'r-8']), answer(200, ['paymentId' => 'p']), problem(404, 'not_found'),
    );
    $client->payments->chargeCard(usdAmount: 1, card: card(), externalRef: 'order-1', idempotencyKey: 'idem-1');
    $client->payments->getByRef('V12345678');
    throws(ApiException::class, fn () => $client->request('GET', '/v1/nothing', query: ['q' => 'V12345678']));
    [$first, $second, $third, $fourth, $fifth] = $logger->lines;
    same(preg_match('#^POST /v1/payments/vpos: 503 overloaded in \d+ ms \(request r-7\); retry 1 in \d+ ms$#', $first[1]), 1, $first[1]);
    same(preg_match('#^POST /v1/payments/vpos: reset after \d+ ms; retry 2 in \d+ ms$#', $second[1]), 1, $second[1]);
    same(preg_match('#^POST /v1/payments/vpos: 201 in \d+ ms \(request r-8\)$#', $third[1]), 1, $third[1]);
    same(array_column($logger->lines, 0), ['warning', 'warning', 'info', 'info', 'info']);
    same(['durationMs' => 0] + $third[2], ['durationMs' => 0, 'method' => 'POST', 'path' => '/v1/payments/vpos', 'status' => 201, 'requestId' => 'r-8', 'retry' => 2, 'error' => null]);
    same([$fourth[2]['path'], $fifth[2]['path'], $fifth[2]['error']], ['/v1/payments/by-ref/{externalRef}', '/v1/nothing', 'not_found']);
    same(preg_match('/pk_test_x|4111|order-1|idem-1|Ana|V12345678/', json_encode($logger->lines)), 0);
    throws(InvalidArgumentException::class, fn () => logged(new stdClass()));
});

test('a line has no OTP and no client secret', function (): void {
    $logger = new Lines();
    [$client] = logged($logger, answer(200, ['paymentId' => 'p']), new NoAnswer('reset', true), answer(200, '{"id": "s"}'));
    $payer = ['debtorId' => 'V12345678', 'debtorCellPhone' => '04141234567', 'debtorBankCode' => 134, 'usdAmount' => '1', 'externalRef' => 'order-1'];
    $client->payments->executeC2p(...$payer, intentId: 'i', token: 'OTP987654');
    $failure = throws(ConnectionFailed::class, fn () => $client->checkoutPage->submitOtp('s-1', 'cs_SECRET', otp: 'OTP987654'));
    $client->checkoutPage->getState('s-1', 'cs_SECRET');
    same(count($logger->lines), 3);
    same(preg_match('/OTP987654|cs_SECRET|s-1|V12345678/', json_encode($logger->lines) . $failure->getMessage()), 0);
});

/** A logger whose disk is full, as Monolog says it. */
final class Full
{
    public function info(string $message, array $context = []): void
    {
        throw new UnexpectedValueException('no space left on device');
    }

    public function warning(string $message, array $context = []): void
    {
        throw new Error('no space left on device');
    }
}

test('a logger that throws changes nothing', function (): void {
    [$client, $script] = logged(new Full(), new NoAnswer('reset', true), answer(200, CLOCK));
    same($client->test->moveClock(advanceSeconds: 1)->livemode, false);
    same(count($script->sent), 2);
});

test('the path of a raw call is logged as it was given, without its parts', function (): void {
    $logger = new Lines();
    [$client, $script] = logged($logger, answer(200, []), answer(200, []));
    $client->request('GET', '/v1/payments/by-ref/{externalRef}', parts: ['order 1/{x}']);
    $client->request('PATCH', '/v1/merchants/m-1', body: []);
    same(array_column(array_column($logger->lines, 2), 'path'), ['/v1/payments/by-ref/{externalRef}', '/v1/merchants/m-1']);
    same($script->sent[0][1], '/v1/payments/by-ref/order%201%2F%7Bx%7D');
});

test('types of documentation are whole, on the line of their tag', function (): void {
    $src = dirname((new ReflectionClass(Pasarela::class))->getFileName());
    $tags = 0;
    foreach (new RegexIterator(new RecursiveIteratorIterator(new RecursiveDirectoryIterator($src)), '/\.php$/') as $file) {
        foreach (preg_grep('/@(param|var|return)\b/', file($file->getPathname())) as $line) {
            same(preg_match('/@(?:var|return|param) ((?:[^ ,:]|[,:] )+)/', $line, $found), 1, $line);
            $type = $found[1];
            same([substr_count($type, "'") % 2, substr_count($type, '<'), preg_match('/[|<]$/', $type)], [0, substr_count($type, '>'), 0], $line);
            $tags++;
        }
    }
    same($tags > 100, true);
});

test('a message says nothing twice', function (): void {
    $one = ['error' => 'invalid_data', 'message' => 'limit: must be whole', 'requestId' => 'r', 'fields' => [['field' => 'limit', 'message' => 'must be whole']]];
    $other = ['error' => 'external_ref_conflict', 'message' => 'used before with another monto', 'requestId' => 'r', 'differs' => ['monto', 'concepto']];
    [$client] = client(answer(400, $one), answer(409, $other));
    foreach (['400 invalid_data: limit: must be whole (request r)', '409 external_ref_conflict: used before with another monto; differs: concepto (request r)'] as $said) {
        same(throws(ApiException::class, fn () => $client->balance->get())->getMessage(), $said);
    }
});

test('an exception says everything that the gateway said', function (): void {
    $body = ['error' => 'invalid_data', 'message' => '…', 'requestId' => 'r-1', 'fields' => [['field' => 'card.number', 'message' => 'must be a card number']]];
    [$client] = client(answer(400, $body, ['x-request-id' => 'r-2']));
    $failure = throws(InvalidRequest::class, fn () => $client->payments->chargeCard(usdAmount: 1, card: card(), externalRef: 'a'));
    same([$failure->status, $failure->error, $failure->requestId, $failure->fields[0]['field']], [400, 'invalid_data', 'r-2', 'card.number']);
    same(str_contains($failure->getMessage(), 'card.number: must be a card number'), true);
    [$client] = client(answer(409, ['error' => 'external_ref_conflict', 'message' => '…', 'requestId' => 'r', 'docs' => '/docs/x', 'existingId' => 'p-1', 'differs' => ['monto']]));
    $failure = throws(Conflict::class, fn () => $client->payouts->create(merchantId: 'm', monto: '1.00', concepto: 'c', externalRef: 'a'));
    same([$failure->existingId, $failure->differs, $failure->docs], ['p-1', ['monto'], '/docs/x']);
    [$client] = client(answer(413, '<html>'));
    same(throws(ApiException::class, fn () => $client->balance->get())->error, 'http_413');
});

test('half an answer of a write is an unknown outcome with its key', function (): void {
    [$client, $script] = client(answer(200, '{"now": "20'));
    $failure = throws(ConnectionFailed::class, fn () => $client->test->moveClock(advanceSeconds: 1));
    same([$failure->outcomeUnknown, $failure->idempotencyKey], [true, $script->keys()[0]]);
});

test('nothing shows a key or a card, and what is no key or no id is refused here', function (): void {
    [$client, $script] = client();
    same(str_contains(print_r($client, true), 'pk_test_x'), false);
    same(preg_match('/4111|\b123\b/', print_r(card(), true)), 0);
    throws(InvalidArgumentException::class, fn () => new Pasarela("pk_test_x\n", baseUrl: 'http://localhost'));
    throws(InvalidArgumentException::class, fn () => new Pasarela('pk_test_x', baseUrl: 'ftp://localhost'));
    foreach (['', '.', '..'] as $wrong) {
        throws(InvalidArgumentException::class, fn () => $client->payments->get($wrong), $wrong);
        throws(InvalidArgumentException::class, fn () => $client->merchants->getBalance($wrong), $wrong);
    }
    throws(InvalidArgumentException::class, fn () => $client->test->moveClock(advanceSeconds: 1, idempotencyKey: "a\r\nx-api-key: b"));
    same($script->sent, []);
});

test('amounts are exact on both ways', function (): void {
    [$client, $script] = client(answer(201, '{"payoutId": "p", "monto": "999999999999.99"}'), answer(201, ['paymentId' => 'p']));
    same($client->payouts->create(merchantId: 'm', monto: 100, concepto: 'c', externalRef: 'a')->monto, '999999999999.99');
    same(str_contains($script->sent[0][3], '"monto":"100.00"'), true);
    $client->payments->chargeCard(usdAmount: '25.50', card: card(), externalRef: 'a');
    same(str_contains($script->sent[1][3], '"usdAmount":25.50,'), true);
    [$client] = client(answer(200, '{"vesAmount": 999999999999.99, "bcvRate": 210, "feeVes": 0.10, "description": "a \"1.5\" \\\\", "metadata": {"weight": 1.5}}'));
    $payment = $client->payments->get('p');
    same([$payment->vesAmount, $payment->bcvRate, $payment->feeVes, $payment->description, $payment->metadata], ['999999999999.99', '210', '0.10', 'a "1.5" \\', ['weight' => '1.5']]);
    throws(Error::class, fn () => $payment->paymentId, 'what was left out');
});

test('a float is no amount', function (): void {
    [$client, $script] = client();
    throws(TypeError::class, fn () => $client->payments->chargeCard(usdAmount: 25.5, card: card(), externalRef: 'a'));
    foreach (['ten', '1e3', '', 'NAN', '1.', '.5', "1\n2"] as $wrong) {
        throws(InvalidArgumentException::class, fn () => Money::exact($wrong), $wrong);
    }
    same($script->sent, []);
});

test('sums are exact', function (): void {
    same(Money::add('0.1', '0.2'), '0.3');
    same(Money::subtract('1.00', '1.01'), '-0.01');
    same(Money::multiply('19.99', 3), '59.97');
    same(Money::sum(['999999999999.99', '0.01', 0]), '1000000000000.00');
    same(array_map(static fn (string $amount): string => Money::round($amount, 2), ['0.125', '-0.125', '0.124', '7']), ['0.13', '-0.13', '0.12', '7.00']);
    same([Money::equals('10', '10.00'), Money::compare('9.99', '10'), Money::compare('-1', '-2')], [true, -1, 1]);
    throws(OverflowException::class, fn () => Money::multiply('9999999999.99', '9999999999.99'));
    throws(OverflowException::class, fn () => Money::add('99999999999999999999', '1'));
});

test('free objects and lists are written as they are', function (): void {
    $body = Json::body(['metadata' => ['o', []], 'events' => ['', ['a/b', 'é']], 'none' => ['', null], 'items' => ['@Card', [card()]], 'yes' => ['', true]]);
    same(str_starts_with($body, '{"metadata":{},"events":["a/b","é"],"items":[{"number":"4111111111111111","expMonth":12,'), true, $body);
});

test('all pages are walked under the same filters, and fetched when they are reached', function (): void {
    $page = static fn (int $id, ?string $next): Answer => answer(200, ['items' => [['paymentId' => (string) $id]], 'nextCursor' => $next]);
    [$client, $script] = client($page(1, 'c/1'), $page(2, 'c2'), $page(3, null));
    $found = [];
    foreach ($client->payments->list(limit: 1, from: new DateTimeImmutable('@0'))->autoPaging() as $payment) {
        $found[] = $payment->paymentId;
    }
    same($found, ['1', '2', '3']);
    same($script->sent[1][1], '/v1/payments?cursor=c%2F1&from=1970-01-01T00%3A00%3A00.000Z&limit=1');
    [$client, $script] = client($page(1, 'c'));
    same([count($client->payments->list()), count($script->sent)], [1, 1]);
});

const BODY = '{"event": "payment.completed", "data": {"vesAmount": 2100.50}, "timestamp": "2026-11-21T02:13:00.000Z"}';

function secret(string $letter = 'k'): string
{
    return 'whsec_' . base64_encode(str_repeat($letter, 24));
}

/** @return array<string, string> */
function signed(string $body = BODY, string $letter = 'k', int $at = 1000): array
{
    $signature = base64_encode(hash_hmac('sha256', "e-1.{$at}.{$body}", str_repeat($letter, 24), true));
    return ['Webhook-Id' => 'e-1', 'webhook-timestamp' => (string) $at, 'webhook-signature' => "v1,{$signature}"];
}

function refused(string $body, array $headers, int $now = 1000): void
{
    throws(SignatureException::class, fn () => Webhook::verify($body, $headers, secret(), now: $now), json_encode($headers) . bin2hex($body));
}

test('a right delivery is an event with exact numbers, from the headers of any server', function (): void {
    [$id, $at, $signature] = array_values(signed());
    $server = ['HTTP_WEBHOOK_ID' => $id, 'HTTP_WEBHOOK_TIMESTAMP' => $at, 'HTTP_WEBHOOK_SIGNATURE' => $signature, 'argv' => []];
    foreach ([signed(), $server, array_map(static fn (string $value): array => [$value], signed())] as $headers) {
        $event = Webhook::verify(BODY, $headers, secret(), now: 1000);
        same([$event->id, $event->event, $event->data['vesAmount']], ['e-1', 'payment.completed', '2100.50']);
    }
});

test('a shop can make a delivery for its tests', function (): void {
    same(Webhook::verify(BODY, Webhook::sign(BODY, secret()), secret())->id, 'evt_test');
    $headers = Webhook::sign(BODY, secret(), id: 'e-1', sentAt: 1000);
    same($headers['webhook-signature'], signed()['webhook-signature']);
    refused(BODY, $headers, 1301);
    $timestamped = Webhook::sign(BODY, secret(), timestamped: 'Svc-Signature');
    same(Webhook::verify(BODY, $timestamped, secret(), timestamped: 'Svc-Signature')->event, 'payment.completed');
    throws(SignatureException::class, fn () => Webhook::verify(BODY, Webhook::sign(BODY, 'whsec_b29v'), secret()));
});

test('bytes, id and time are signed', function (): void {
    for ($at = 0; $at < strlen(BODY); $at++) {
        refused(substr_replace(BODY, chr(ord(BODY[$at]) ^ 1), $at, 1), signed());
    }
    refused(BODY . ' ', signed());
    refused('', signed());
    refused(BODY, ['Webhook-Id' => 'e-2'] + signed());
    refused(BODY, ['webhook-timestamp' => '1001'] + signed());
});

test('five minutes are tolerated and no more', function (): void {
    foreach ([700, 1300] as $now) {
        Webhook::verify(BODY, signed(), secret(), now: $now);
    }
    refused(BODY, signed(), 699);
    refused(BODY, signed(), 1301);
});

test('one right signature of several is enough', function (): void {
    Webhook::verify(BODY, ['webhook-signature' => 'v1a,xyz v1,AAAA ' . signed()['webhook-signature']] + signed(), secret(), now: 1000);
    Webhook::verify(BODY, signed(letter: 'o'), [secret(), secret('o')], now: 1000);
    refused(BODY, signed(letter: 'o'));
});

test('the timestamped form is verified where it is asked for', function (): void {
    $signed = static fn (string $secret): string => hash_hmac('sha256', '1000.' . BODY, $secret);
    $both = "t=1000,v1={$signed('whsec_b29v')},v1={$signed(secret())}";
    $verified = static fn (string $value, int $now = 1000): WebhookEvent => Webhook::verify(BODY, ['Webhook-Id' => 'e-1', 'SVC-Signature' => $value], secret(), now: $now, timestamped: 'Svc-Signature');
    same($verified($both)->id, 'e-1');
    foreach ([str_replace('t=1000', 't=1001', $both), "t=1000,v1={$signed('whsec_b29v')}", 't=1000', '', $signed(secret())] as $wrong) {
        throws(SignatureException::class, fn () => $verified($wrong), $wrong);
    }
    throws(SignatureException::class, fn () => $verified($both, 1301), 'a replay');
});

test('what is no signature, no secret or no event is refused', function (): void {
    $right = signed()['webhook-signature'];
    foreach (['', 'v1,', substr($right, 3), 'v2' . substr($right, 2), substr($right, 0, -1), 'v1,é'] as $wrong) {
        refused(BODY, ['webhook-signature' => $wrong] + signed());
    }
    foreach (['', 'x', '-1', '1e3', "1000\n", '９９９'] as $wrong) {
        refused(BODY, ['webhook-timestamp' => $wrong] + signed());
    }
    refused(BODY, []);
    foreach (['', 'whsec_', 'whsec_*', 'whsec_A'] as $wrong) {
        throws(InvalidArgumentException::class, fn () => Webhook::verify(BODY, signed(), $wrong, now: 1000));
    }
    foreach (['[]', '{}', 'null', '{', "\xff"] as $body) {
        refused($body, signed($body));
    }
});
