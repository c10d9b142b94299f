<?php

declare(strict_types=1);

namespace Pasarela;

use Pasarela\Resource\Resources;
use Pasarela\Transport\CurlTransport;
use Pasarela\Transport\StreamTransport;
use Pasarela\Transport\Transport;

/**
 * A client of one account in one mode: the key says which.
 *
 *     $client = new Pasarela('pk_test_demo', baseUrl: 'http://127.0.0.1:8080');
 *     $client->balance->get()->availableVes;
 *
 * Every POST bears an Idempotency-Key: yours (`idempotencyKey:`) or a new one. Lost answers, 429 and the 503 that pass
 * are tried again under the same key, `$maxRetries` times, after a wait that grows.
 */
final class Pasarela extends Resources
{
    private readonly Session $session;

    /**
     * @param float $timeout seconds, of each try
     * @param ?Transport $transport what carries requests, in the place of curl or streams
     * @param ?\Closure(float): void $sleep what waits between tries, for tests
     */
    public function __construct(
        #[\SensitiveParameter] string $key,
        string $baseUrl,
        float $timeout = 60.0,
        int $maxRetries = 2,
        ?Policy $policy = null,
        ?Transport $transport = null,
        ?\Closure $sleep = null,
    ) {
        $address = parse_url($baseUrl);
        if (!in_array($address['scheme'] ?? '', ['http', 'https'], true) || ($address['host'] ?? '') === '' || array_intersect_key($address, ['user' => 1, 'query' => 1, 'fragment' => 1])) {
            throw new \InvalidArgumentException('baseUrl must be http or https, without user, query or fragment, such as https://pay.example');
        }
        $baseUrl = rtrim($baseUrl, '/');
        $transport ??= \function_exists('curl_init') ? new CurlTransport($baseUrl) : new StreamTransport($baseUrl);
        $sleep ??= static function (float $seconds): void {
            usleep((int) ($seconds * 1_000_000));
        };
        $this->session = new Session($key, $transport, $policy ?? new Policy(maxRetries: $maxRetries), $timeout, $sleep);
        parent::__construct($this->session);
    }

    /** What the last answer said besides its body. */
    public function lastResponse(): ?ResponseInfo
    {
        return $this->session->last();
    }
}
