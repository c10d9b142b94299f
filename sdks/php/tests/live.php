<?php

/** The client against a running server: PASARELA_URL, PASARELA_KEY, PASARELA_TRANSPORT=curl|stream. Every reference has a name of this run in it. */

declare(strict_types=1);

use Pasarela\Exception\{Conflict, ConnectionFailed, InvalidRequest, NotFound, Refused, SignatureException, Unauthorized};
use Pasarela\{Model, Money, Pasarela, Policy, StreamCall, StreamOutcome, Webhook};
use Pasarela\Transport\{Answer, CurlTransport, NoAnswer, StreamTransport, Transport};

require getenv('PASARELA_AUTOLOAD') ?: __DIR__ . '/../autoload.php';
require __DIR__ . '/check.php';

define('RUN', 'php-' . bin2hex(random_bytes(4)));

function transport(): Transport
{
    return getenv('PASARELA_TRANSPORT') === 'curl' ? new CurlTransport(getenv('PASARELA_URL')) : new StreamTransport(getenv('PASARELA_URL'));
}

function client(?Transport $transport = null, ?string $key = null): Pasarela
{
    return new Pasarela($key ?? getenv('PASARELA_KEY'), baseUrl: getenv('PASARELA_URL'), transport: $transport ?? transport());
}

/** A transport whose first answer to a POST is lost on the way back: the server did it, and the caller cannot know. */
final class LosesAnswers implements Transport
{
    public int $lost = 0;

    public function __construct(private readonly Transport $inner)
    {
    }

    public function send(string $method, string $target, array $headers, ?string $body, float $timeout): Answer
    {
        $answer = $this->inner->send($method, $target, $headers, $body, $timeout);
        return $method === 'POST' && $this->lost++ === 0 ? throw new NoAnswer('the answer is lost', true) : $answer;
    }
}

function c2p(Pasarela $client, string $name, string $token = '12345678'): Model\Payment
{
    $payer = ['debtorId' => 'V12345678', 'debtorCellPhone' => '04141234567', 'debtorBankCode' => 134, 'usdAmount' => '10', 'externalRef' => RUN . "-{$name}"];
    $intent = $client->payments->requestC2p(...$payer);
    return $client->payments->executeC2p(...$payer, intentId: $intent->intentId, token: $token);
}

function charge(Pasarela $client, string $name, ?string $key = null): Model\Payment
{
    $card = new Model\Card(number: '4111111111111111', expMonth: 12, expYear: 2035, cvv: '123', holderName: 'Ana Pérez', holderId: 'V12345678');
    return $client->payments->chargeCard(usdAmount: '25.50', card: $card, externalRef: RUN . "-{$name}", idempotencyKey: $key);
}

test('a first payment is held and released', function (): void {
    $client = client();
    $payment = c2p($client, 'first');
    same($payment->status, 'COMPLETED');
    same(Money::equals($payment->usdAmount, 10) && Money::equals($payment->netVes, Money::subtract($payment->vesAmount, $payment->feeVes)), true);
    same(Money::compare($client->balance->get()->heldVes, $payment->netVes) >= 0, true);
    $client->test->moveClock(advanceSeconds: 86_400);
    same($client->balance->get()->heldVes, '0.00');
    same($client->payments->get($payment->paymentId)->raw, $client->payments->getByRef(RUN . '-first')->raw);
});

test('a declined payment is an answer', function (): void {
    $payment = c2p(client(), 'declined', '99999999');
    same([$payment->status, $payment->failureCode], ['FAILED', 'AM04']);
});

test('a payment is refunded once', function (): void {
    $client = client();
    $payment = c2p($client, 'refund');
    same($client->payments->reverse($payment->paymentId)->status, 'REVERSED');
    same(throws(Conflict::class, fn () => $client->payments->reverse($payment->paymentId))->requestId !== null, true);
});

test('a call shows what it would do', function (): void {
    $shown = client()->test->fundBalance(currency: 'VES', amount: 7, dryRun: true);
    same([$shown->status, count($shown->movements), $shown->body['amountVes']], [201, 1, '7.00']);
});

test('a seller is verified and paid', function (): void {
    $client = client();
    $client->test->fundBalance(currency: 'VES', amount: 500);
    $seller = $client->merchants->register(externalRef: RUN . '-seller', name: 'Bodega', identification: 'V87654321', bankCode: '0134', phone: '04147654321');
    $method = $seller->payoutMethods[0]->payoutMethodId;
    $client->merchants->startVerification($seller->merchantId, $method);
    same($client->merchants->verifyPayoutMethod($seller->merchantId, $method, amount1: '0.32', amount2: '0.45')->status, 'verified');
    $asked = ['merchantId' => $seller->merchantId, 'monto' => 100, 'concepto' => 'liquidacion', 'externalRef' => RUN . '-payout'];
    $payout = $client->payouts->create(...$asked);
    same([$payout->status, $payout->monto], ['completed', '100.00']);
    same($client->payouts->create(...$asked)->payoutId, $payout->payoutId);
    $conflict = throws(Conflict::class, fn () => $client->payouts->create(...['monto' => 101] + $asked));
    same([$conflict->differs, $conflict->existingId], [['monto'], $payout->payoutId]);
    $refused = throws(Refused::class, fn () => $client->payouts->create(...['monto' => '99999999', 'externalRef' => RUN . '-all'] + $asked));
    same([$refused->error, isset($refused->body['availableVes'])], ['insufficient_balance', true]);
    same($client->merchants->getByRef(RUN . '-seller')->merchantId, $seller->merchantId);
    $item = static fn (string $monto): Model\MerchantPayoutItem => new Model\MerchantPayoutItem(merchantId: $seller->merchantId, monto: $monto, concepto: 'lote', externalRef: RUN . "-item-{$monto}");
    $batch = $client->payouts->createBatch(externalRef: RUN . '-batch', items: [$item('1'), $item('2.50')]);
    same(array_map(static fn (Model\Payout $payout): string => $payout->monto, $batch->items), ['1.00', '2.50']);
});

test('a lost answer does not charge twice', function (): void {
    $transport = new LosesAnswers(transport());
    $unlucky = client($transport);
    charge($unlucky, 'lost');
    same([$transport->lost, $unlucky->lastResponse()->replayed], [2, true]);
    same(count(client()->payments->list(externalRef: RUN . '-lost')), 1);
});

test('one key is one charge', function (): void {
    $client = client();
    $first = charge($client, 'key', RUN . '-key');
    same($client->lastResponse()->replayed, false);
    same([charge($client, 'key', RUN . '-key')->raw, $client->lastResponse()->replayed], [$first->raw, true]);
    same($client->reference->getIdempotencyKey(RUN . '-key')->state, 'done');
    same(throws(Refused::class, fn () => charge($client, 'other', RUN . '-key'))->error, 'idempotency_key_reused');
});

test('lists are walked page by page', function (): void {
    $client = client();
    $made = array_map(static fn (int $number): string => charge($client, "page-{$number}")->paymentId, range(1, 5));
    $found = [];
    foreach ($client->payments->list(method: 'VPOS', limit: 2)->autoPaging() as $payment) {
        $found[] = $payment->paymentId;
    }
    same(array_values(array_intersect($found, $made)), array_reverse($made));
    same(count(array_unique($found)), count($found));
});

/** @return array{string, array<string, string>} the body and the headers of the next request to a listener */
function delivery(mixed $listener): array
{
    $connection = stream_socket_accept($listener, 20.0);
    $headers = [];
    fgets($connection);
    while (($line = trim((string) fgets($connection))) !== '') {
        [$name, $value] = explode(':', $line, 2);
        $headers[$name] = trim($value);
    }
    $body = stream_get_contents($connection, (int) ($headers['content-length'] ?? $headers['Content-Length']));
    fwrite($connection, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    fclose($connection);
    return [$body, $headers];
}

test('deliveries are verified', function (): void {
    $client = client();
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $endpoint = $client->webhooks->create(url: 'http://' . stream_socket_get_name($listener, false) . '/', events: ['payment.completed']);
    $payment = charge($client, 'webhook');
    [$body, $headers] = delivery($listener);
    $event = Webhook::verify($body, $headers, $endpoint->secret);
    same([$event->event, $event->model()::class, $event->model()->raw], ['payment.completed', Model\Payment::class, $payment->raw]);
    throws(SignatureException::class, fn () => Webhook::verify("{$body} ", $headers, $endpoint->secret));
    $newer = $client->webhooks->rotateSecret($endpoint->id);
    $client->webhooks->resendEvent($event->id);
    [$body, $headers] = delivery($listener);
    same(Webhook::verify($body, $headers, [$endpoint->secret, $newer->secret])->id, $event->id);
    same($client->webhooks->delete($endpoint->id)->deleted, true);
});

/** A proxy in a process of its own, which takes one connection, answers for everybody, and says what it was asked. */
function proxy(string $answer): array
{
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($listener, false);
    [$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $child = pcntl_fork();
    if ($child === 0) {
        $connection = stream_socket_accept($listener, 20.0);
        $head = '';
        while (($line = fgets($connection)) !== false && trim($line) !== '') {
            $head .= $line;
        }
        fwrite($connection, $answer);
        fwrite($theirs, $head);
        posix_kill(posix_getpid(), SIGKILL); // without the end of the tests, which is the parent's
    }
    fclose($theirs);
    fclose($listener);
    return ["http://shop:p%40ss@{$address}", $ours, $child];
}

if (function_exists('pcntl_fork')) {
    test('calls go through a proxy, and tell it who asks', function (): void {
        $body = '{"now": "2026-11-21T02:13:00.000Z", "livemode": false}';
        $through = static fn (string $base, string $proxy): Transport => getenv('PASARELA_TRANSPORT') === 'curl' ? new CurlTransport($base, proxy: $proxy) : new StreamTransport($base, proxy: $proxy);
        [$address, $asked, $child] = proxy("HTTP/1.1 200 OK\r\nContent-Length: " . strlen($body) . "\r\nConnection: close\r\n\r\n{$body}");
        $client = new Pasarela('pk_test_x', baseUrl: 'http://pay.example', transport: $through('http://pay.example', $address));
        same($client->test->getClock(maxRetries: 0)->livemode, false);
        $head = stream_get_contents($asked);
        same(preg_match('#^GET http://pay\.example(:80)?/v1/test/clock HTTP/1\.1#', $head), 1, $head);
        same(preg_match('/^Proxy-Authorization: Basic c2hvcDpwQHNz\r$/mi', $head), 1, $head);
        pcntl_waitpid($child, $_);
        [$address, $asked, $child] = proxy("HTTP/1.1 407 Who\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        $lost = throws(NoAnswer::class, fn () => $through('https://pay.example', $address)->send('POST', '/', [], '{}', 5.0));
        same([$lost->wasSent, preg_match('#^CONNECT pay\.example:443 HTTP/1\.[01]\r\n.*Proxy-Authorization: Basic c2hvcDpwQHNz#is', stream_get_contents($asked))], [false, 1], $lost->getMessage());
        pcntl_waitpid($child, $_);
        foreach (['proxy:3128', 'https://proxy', 'socks5://proxy', 'http://'] as $wrong) {
            throws(InvalidArgumentException::class, fn () => new Pasarela('k', baseUrl: 'http://pay.example', proxy: $wrong), $wrong);
        }
        throws(InvalidArgumentException::class, fn () => new Pasarela('k', baseUrl: 'http://pay.example', proxy: 'http://proxy', transport: transport()));
    });
}

test('a call without a method of its own', function (): void {
    $client = client();
    $card = ['number' => '4111111111111111', 'expMonth' => 12, 'expYear' => 2035, 'cvv' => '123', 'holderName' => 'Ana Pérez', 'holderId' => 'V12345678'];
    $asked = ['usdAmount' => 5, 'card' => $card, 'externalRef' => RUN . '-raw'];
    $first = $client->request('POST', '/v1/payments/vpos', body: $asked, idempotencyKey: RUN . '-raw', requestId: RUN . '-name');
    same($client->request('POST', '/v1/payments/vpos', body: $asked, idempotencyKey: RUN . '-raw'), $first);
    same([$client->lastResponse()->replayed, $client->finding->getRequest(RUN . '-name')->status], [true, 201]);
    throws(NotFound::class, fn () => $client->request('GET', '/v1/payments/nobody'));
});

test('exceptions name what is wrong', function (): void {
    $client = client();
    $bad = throws(InvalidRequest::class, fn () => $client->payments->chargeCard(usdAmount: '0.001', card: new Model\Card('4111111111111111', 12, 2035, '123', 'Ana', 'V12345678'), externalRef: ' '));
    $fields = array_column($bad->fields, 'field');
    sort($fields);
    same($fields, ['externalRef', 'usdAmount']);
    throws(NotFound::class, fn () => $client->payments->get('not/there'));
    throws(Unauthorized::class, fn () => client(key: 'pk_test_nobody')->balance->get());
});

test('the fields of a card make a token or pay', function (): void {
    $client = client();
    $card = new Model\Card('4111111111111111', 12, 2035, '123', 'Ana Pérez', 'V12345678');
    $opened = $client->checkoutSessions->create(amountUsd: '25.50');
    $made = $client->checkoutPage->payCard($opened->id, $opened->clientSecret, $card, tokenize: true);
    same([$made::class, $made->cardBrand, $made->cardLast4], [Model\MadeCardToken::class, 'visa', '1111']);
    $state = $client->checkoutPage->payCard($opened->id, $opened->clientSecret, $card);
    same([$state::class, $state->status], [Model\CheckoutState::class, 'paid']);
});

test('nobody there is an unsent request, and a broken answer an unknown outcome', function (): void {
    $none = getenv('PASARELA_TRANSPORT') === 'curl' ? new CurlTransport('http://127.0.0.1:1') : new StreamTransport('http://127.0.0.1:1');
    same(throws(NoAnswer::class, fn () => $none->send('POST', '/', [], '{}', 5.0))->wasSent, false);
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $address = 'http://' . stream_socket_get_name($listener, false);
    $breaks = getenv('PASARELA_TRANSPORT') === 'curl' ? new CurlTransport($address) : new StreamTransport($address);
    same(throws(NoAnswer::class, fn () => $breaks->send('POST', '/', [], '{}', 0.2))->wasSent, true);
});

/** @return list<StreamCall> */
function funds(string $name, int $count): array
{
    return array_map(fn (int $n): StreamCall => new StreamCall('/v1/test/fund', ['currency' => 'USDT', 'amount' => '1.00'], key: RUN . "-{$name}-{$n}"), range(1, $count));
}

/**
 * @param iterable<StreamOutcome> $outcomes
 * @return list<StreamOutcome>
 */
function sorted(iterable $outcomes): array
{
    $all = iterator_to_array($outcomes, false);
    usort($all, fn (StreamOutcome $one, StreamOutcome $other): int => $one->line <=> $other->line);
    return $all;
}

test('a stream yields what became of each call', function (): void {
    $calls = [...funds('stream', 3), new StreamCall('/v1/test/fund', ['currency' => 'X']), new StreamCall('/v1/crypto/balance', method: 'GET')];
    $first = sorted(client()->stream($calls));
    same(array_map(fn ($outcome) => [$outcome->line, $outcome->status], $first), [[1, 201], [2, 201], [3, 201], [4, 400], [5, 200]]);
    same([$first[3]->error() instanceof InvalidRequest, is_string($first[3]->key), $first[4]->key, $first[0]->error()], [true, true, null, null]);
    $again = sorted(client()->stream(new ArrayIterator(array_slice($calls, 0, 3))));
    same(array_map(fn ($outcome) => [$outcome->replayed, $outcome->walSeq, $outcome->body], $again), array_map(fn ($outcome) => [true, $outcome->walSeq, $outcome->body], array_slice($first, 0, 3)));
    same(sorted(client()->stream([])), []);
    foreach (client()->stream($calls) as $outcome) {
        break;
    }
    same(count(array_filter(sorted(client()->stream(funds('many', 3000))), fn ($outcome) => $outcome->status === 201)), 3000);
});

test('a stream with a wrong key or without a server is an exception', function (): void {
    throws(Unauthorized::class, fn () => sorted(client(key: 'pk_test_wrong')->stream(funds('wrong', 1))));
    $nobody = new Pasarela(getenv('PASARELA_KEY'), baseUrl: 'http://127.0.0.1:1', policy: new Policy(firstWait: 0.01));
    throws(ConnectionFailed::class, fn () => sorted($nobody->stream(funds('nobody', 1), patience: 0.2)));
});

test('everything that is read can be read', function (): void {
    $client = client();
    foreach ([
        $client->usdt->getBalance(...), $client->cop->getBalance(...), $client->conversions->getSettings(...), $client->reference->listBanks(...), $client->payments->listMethods(...),
        $client->events->list(...), $client->merchants->list(...), $client->payouts->list(...), $client->chargebacks->list(...), $client->conversions->list(...),
        $client->products->list(...), $client->checkoutSessions->list(...), $client->webhooks->list(...), $client->health->get(...), $client->health->getReadiness(...),
        $client->test->getClock(...), $client->rates->getWithdrawalFeeSchedule(...),
    ] as $read) {
        same($read() !== null, true);
    }
    $payment = c2p($client, 'receipt');
    same(substr($client->payments->getReceipt($payment->paymentId, media: 'application/pdf'), 0, 4), '%PDF');
    same(in_array('payment', array_map(static fn (Model\Found $found): string => $found->kind, $client->finding->search($payment->paymentId)->items), true), true);
});
