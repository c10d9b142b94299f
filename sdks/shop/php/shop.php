<?php

/**
 * A shop in one file: a product, the gateway's page to pay on, the webhook that says so, and a refund.
 *
 *     PASARELA_URL=http://127.0.0.1:8080 PASARELA_KEY=pk_test_demo php -S localhost:5000 shop.php
 *
 * It is at SHOP_URL (http://localhost:5000) and keeps its orders in SHOP_DATA (./shop.json). The SDK is in
 * vendor/pasarela, or where PASARELA_AUTOLOAD says.
 */

declare(strict_types=1);

use Pasarela\Exception\{ApiException, SignatureException};
use Pasarela\{Pasarela, Webhook};

require getenv('PASARELA_AUTOLOAD') ?: 'vendor/pasarela/autoload.php';

const PRODUCT = 'Camisa de lino';
const PRICE = '25.50';
define('SHOP_URL', getenv('SHOP_URL') ?: 'http://localhost:5000');
define('SHOP_DATA', getenv('SHOP_DATA') ?: 'shop.json');

function client(): Pasarela
{
    static $client;
    return $client ??= new Pasarela(getenv('PASARELA_KEY') ?: 'pk_test_demo', baseUrl: getenv('PASARELA_URL') ?: 'http://127.0.0.1:8080');
}

/**
 * Orders and the signing secret, in one file: what `$change` makes of them is written. A database has transactions for
 * this; here it is a lock and a rename.
 */
function store(?Closure $change = null): array
{
    $lock = fopen(SHOP_DATA . '.lock', 'c');
    flock($lock, LOCK_EX);
    $data = is_file(SHOP_DATA) ? json_decode(file_get_contents(SHOP_DATA), true) : ['secret' => null, 'orders' => []];
    if ($change !== null) {
        $data = $change($data);
        umask(0077);
        file_put_contents(SHOP_DATA . '.new', json_encode($data));
        rename(SHOP_DATA . '.new', SHOP_DATA);
    }
    return $data;
}

/** open -> paid -> refunded, and never back: an event that comes twice, or late, changes nothing. */
function move(string $order, string $to, ?string $payment = null): void
{
    store(static function (array $data) use ($order, $to, $payment): array {
        $found = $data['orders'][$order] ?? null;
        if ($found !== null && in_array("{$found['status']} {$to}", ['open paid', 'open refunded', 'paid refunded'], true)) {
            $data['orders'][$order] = ['status' => $to, 'payment' => $payment ?? $found['payment']] + $found;
        }
        return $data;
    });
}

/** Has the gateway send its events here, when the first page is seen. It shows the signing secret once. */
function register(): void
{
    if (store()['secret'] === null) {
        store(static fn (array $data): array => $data['secret'] !== null ? $data : ['secret' => client()->webhooks->create(
            url: SHOP_URL . '/webhook',
            events: ['payment.completed', 'payment.reversed'],
        )->secret] + $data);
    }
}

/** Opens an order, and a session in which it is paid. The address of the gateway's page. */
function buy(): string
{
    $order = bin2hex(random_bytes(16));
    store(static fn (array $data): array => ['orders' => [$order => ['status' => 'open', 'session' => null, 'payment' => null]] + $data['orders']] + $data);
    $session = client()->checkoutSessions->create(
        amountUsd: PRICE,
        description: PRODUCT,
        reference: $order,
        methods: ['c2p'],
        successUrl: SHOP_URL . "/orders/{$order}",
        idempotencyKey: "order-{$order}",
    );
    store(static function (array $data) use ($order, $session): array {
        $data['orders'][$order]['session'] = $session->id;
        return $data;
    });
    return $session->url;
}

/**
 * What an event says of an order. Others are taken too: a gateway adds events, and sends `notification.test`. Throws
 * SignatureException for what is not the gateway's.
 */
function delivered(string $body): void
{
    $event = Webhook::verify($body, $_SERVER, store()['secret'] ?? throw new SignatureException('no secret yet'));
    $to = ['payment.completed' => 'paid', 'payment.reversed' => 'refunded'][$event->event] ?? null;
    if ($to !== null) {
        move($event->data['checkoutSession']['reference'] ?? '', $to, $event->data['paymentId']);
    }
}

/** An order as it is. A delivery is tried once, so an order that is open is asked about as well. */
function look(string $order): ?array
{
    $found = store()['orders'][$order] ?? null;
    if ($found !== null && $found['status'] === 'open' && $found['session'] !== null) {
        $session = client()->checkoutSessions->get($found['session']);
        if ($session->status === 'paid') {
            move($order, 'paid', $session->paymentId);
        }
    }
    return store()['orders'][$order] ?? null;
}

/** Gives the money back: once, however often the button is pressed. In your shop this stands behind your login. */
function refund(string $order): void
{
    $payment = client()->payments->reverse(store()['orders'][$order]['payment'], idempotencyKey: "refund-{$order}");
    if ($payment->status === 'REVERSED') {
        move($order, 'refunded');
    }
}

function page(string $text, int $status = 200): void
{
    http_response_code($status);
    echo "<!doctype html><title>Tienda</title>{$text}";
}

function redirect(string $to): void
{
    header("location: {$to}", true, 303);
}

function answer(string $asked): void
{
    [, $kind, $order, $act] = [...explode('/', $asked), '', '', ''];
    if ($asked === 'GET /') {
        register();
        page('<p>' . PRODUCT . ', ' . PRICE . ' USD</p><form method="post" action="/buy"><button data-action="buy">Comprar</button></form>');
    } elseif ($asked === 'POST /webhook') {
        delivered(file_get_contents('php://input'));
        http_response_code(204);
    } elseif ($asked === 'POST /buy') {
        redirect(buy());
    } elseif ($kind !== 'orders' || ($found = look($order)) === null) {
        page('<p>No existe</p>', 404);
    } elseif ($asked === "POST /orders/{$order}/refund") {
        refund($order);
        redirect(SHOP_URL . "/orders/{$order}");
    } else {
        $button = "<form method=\"post\" action=\"/orders/{$order}/refund\"><button data-action=\"refund\">Devolver</button></form>";
        page('<p>' . PRODUCT . ": <strong data-status=\"{$found['status']}\">{$found['status']}</strong></p>" . ($found['status'] === 'paid' ? $button : ''));
    }
}

try {
    answer($_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
} catch (SignatureException) {
    http_response_code(400);
} catch (ApiException $failure) {
    error_log($failure->getMessage());
    page('<p>Ahora no se puede; intenta de nuevo</p>', 502);
}
