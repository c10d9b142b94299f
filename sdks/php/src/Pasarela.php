<?php

declare(strict_types=1);

namespace Pasarela;

use Pasarela\Resource\Resources;
use Pasarela\Transport\Connection;
use Pasarela\Transport\CurlTransport;
use Pasarela\Transport\Proxy;
use Pasarela\Transport\StreamTransport;
use Pasarela\Transport\Transport;

/**
 * A client of one account in one mode: the key says which.
 *
 *     $client = new Pasarela('pk_test_demo', baseUrl: 'http://127.0.0.1:8080');
 *     $client->balance->get()->availableVes;
 *
 * Every POST takes an Idempotency-Key: yours (`idempotencyKey:`) or a new one. Lost answers, 429 and transient 503 are
 * retried under the same key, up to `$maxRetries` times, with exponential backoff.
 */
final class Pasarela extends Resources
{
    private readonly Session $session;

    private readonly ?Proxy $proxy;

    /**
     * @param float $timeout seconds, of each try
     * @param ?object $logger as PSR-3 has it (`Psr\Log\LoggerInterface`, such as Monolog): a line for each try
     * @param ?string $proxy where calls go through, such as `http://user:password@proxy:3128`
     * @param ?Transport $transport what carries requests, in the place of curl or streams
     * @param ?\Closure(float): void $sleep what waits between tries, for tests
     */
    public function __construct(
        #[\SensitiveParameter] string $key,
        private string $baseUrl,
        float $timeout = 60.0,
        int $maxRetries = 2,
        ?Policy $policy = null,
        ?Transport $transport = null,
        ?\Closure $sleep = null,
        ?object $logger = null,
        #[\SensitiveParameter] ?string $proxy = null,
    ) {
        $address = parse_url($baseUrl);
        if (!in_array($address['scheme'] ?? '', ['http', 'https'], true) || ($address['host'] ?? '') === '' || array_intersect_key($address, ['user' => 1, 'query' => 1, 'fragment' => 1])) {
            throw new \InvalidArgumentException(sprintf(Shared::BASE_URL, 'baseUrl'));
        }
        $this->baseUrl = $baseUrl = rtrim($baseUrl, '/');
        $this->proxy = Proxy::of($proxy);
        if ($logger !== null && !(is_callable([$logger, 'info']) && is_callable([$logger, 'warning']))) {
            throw new \InvalidArgumentException(Shared::LOGGER);
        }
        if ($proxy !== null && $transport !== null) {
            throw new \InvalidArgumentException(sprintf(Shared::PROXY_AND_TRANSPORT, 'transport'));
        }
        $transport ??= \function_exists('curl_init') ? new CurlTransport($baseUrl, proxy: $proxy) : new StreamTransport($baseUrl, proxy: $proxy);
        $sleep ??= static function (float $seconds): void {
            usleep((int) ($seconds * 1_000_000));
        };
        $this->session = new Session($key, $transport, $policy ?? new Policy(maxRetries: $maxRetries), $timeout, $sleep, $logger);
        parent::__construct($this->session);
    }

    /**
     * A call by its method and path, such as `request('GET', '/v1/payments/{id}', parts: [$paymentId])`, with the same key,
     * retries and exceptions as every other: for what this version of the library has no method for. The path is logged as
     * it stands here: ids and references belong in `$parts`. An Idempotency-Key goes with a POST under /v1/. Answers JSON,
     * in which numbers with decimals are strings; null where there is no body; a string if `$accept` is no JSON. With `$dryRun`
     * nothing is done, and the answer shows what the call would do.
     *
     * @param list<string> $parts what stands for the names in braces of the path
     * @param ?array<string, mixed> $body
     * @param array<string, mixed> $query
     * @return array<mixed>|string|null
     */
    public function request(
        string $method,
        string $path,
        #[\SensitiveParameter] ?array $body = null,
        array $query = [],
        string $accept = 'application/json',
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
        array $parts = [],
        bool $dryRun = false,
    ): array|string|null {
        return $this->session->raw(Call::raw($method, $path, $parts, $body, $query, $accept, $idempotencyKey, $timeout, $maxRetries, $requestId, $dryRun));
    }

    /**
     * Makes many calls over one connection; yields what became of each, as it becomes certain. They are decided in their
     * order. A refused call is an outcome with `error()`, and the others go on. The iterable is asked as fast as the server
     * takes calls, and at most some thousand ahead of their outcomes.
     *
     * After a cut or a failover it goes on by itself, under the same keys; 429, 503 and a key that is under way are sent
     * again with exponential backoff. ConnectionFailed if nothing went on for `$patience` seconds.
     *
     * @param iterable<StreamCall> $calls
     * @param array<string, mixed> $ssl options of PHP's ssl context, such as cafile
     * @return \Generator<int, StreamOutcome>
     */
    public function stream(iterable $calls, float $patience = 300.0, array $ssl = []): \Generator
    {
        $connect = fn (array $headers, float $timeout): Connection => Connection::open($this->baseUrl, '/v1/stream', $headers, $this->proxy, $ssl, $timeout);
        return $this->session->stream($calls, $connect, $patience);
    }

    /** What the last answer said besides its body. */
    public function lastResponse(): ?ResponseInfo
    {
        return $this->session->last();
    }
}
