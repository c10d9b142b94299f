<?php

declare(strict_types=1);

namespace Pasarela;

use Pasarela\Exception\ApiException;
use Pasarela\Exception\ConnectionFailed;
use Pasarela\Transport\Answer;
use Pasarela\Transport\Connection;
use Pasarela\Transport\NoAnswer;
use Pasarela\Transport\Transport;

/**
 * The way of a call: path and body, key, Idempotency-Key, tries, answer or exception.
 *
 * @internal
 */
final class Session
{
    private ?ResponseInfo $last = null;

    public function __construct(
        #[\SensitiveParameter] private readonly string $key,
        private readonly Transport $transport,
        private readonly Policy $policy,
        private readonly float $timeout,
        private readonly \Closure $sleep,
        private readonly ?object $logger = null,
    ) {
        Checks::key($key);
        Checks::policy($policy);
        Checks::timeout($timeout);
    }

    public function last(): ?ResponseInfo
    {
        return $this->last;
    }

    /** Bytes as they come. */
    public function download(Call $call): string
    {
        return $this->send($call, $this->keyOf($call), $call->target())->body;
    }

    /** @return array<mixed>|string|null JSON with numbers as Json reads them, null if there is nothing, bytes of what was asked for as no JSON */
    public function raw(Call $call): array|string|null
    {
        return $call->accept === 'application/json' ? $this->data($call, $call->target(), true) : $this->download($call);
    }

    /** One of the models of a kind, or a list of it. */
    public function model(Call $call, string $kind): mixed
    {
        return Json::decode($kind, $this->data($call, $call->target()));
    }

    /** @return Page<Model> */
    public function page(Call $call, string $kind, string $cursor = ''): Page
    {
        $data = $this->data($call, $call->target($cursor));
        $fetch = fn (string $next): Page => $this->page($call, $kind, $next);
        return new Page(Json::decode($kind, $data['items'] ?? []), $data['nextCursor'] ?? null, $fetch);
    }

    /**
     * @param iterable<StreamCall> $calls
     * @param \Closure(array<string, string>, float): Connection $connect opens a connection with these headers
     * @return \Generator<int, StreamOutcome>
     */
    public function stream(iterable $calls, \Closure $connect, float $patience): \Generator
    {
        Checks::timeout($patience);
        $type = 'application/x-ndjson';
        $headers = ['accept' => $type, 'user-agent' => 'pasarela-php/' . Version::VERSION, 'x-api-key' => $this->key, 'content-type' => $type];
        $open = fn (): Connection => $connect($headers, $this->timeout);
        $each = $calls instanceof \Iterator ? $calls : (static fn () => yield from $calls)();
        return (new Streaming($each, $open, $this->policy, $patience, $this->sleep))->outcomes();
    }

    /** @return ?array<mixed> null of nothing, where that may be */
    private function data(Call $call, string $target, bool $mayBeEmpty = false): ?array
    {
        $key = $this->keyOf($call);
        $answer = $this->send($call, $key, $target);
        if ($mayBeEmpty && $answer->body === '') {
            return null;
        }
        try {
            $data = Json::read($answer->body);
        } catch (\JsonException $failure) {
            $data = null;
        }
        if (!is_array($data)) {
            throw new ConnectionFailed(sprintf(Shared::UNREADABLE, $answer->status), $call->method !== 'GET', $key, $failure ?? null);
        }
        return $data;
    }

    private function keyOf(Call $call): ?string
    {
        return $call->keyed ? $call->idempotencyKey ?? self::uuid() : null;
    }

    private function send(Call $call, ?string $key, string $target): Answer
    {
        Checks::call($call);
        $body = $call->body === null ? null : Json::body($call->body);
        $headers = $this->headers($call, $body, $key);
        // What may be done twice without being two things.
        $repeatable = $key !== null || $call->dryRun || in_array($call->method, ['GET', 'PUT'], true);
        $policy = $this->policy->withMaxRetries($call->maxRetries);
        for ($tries = 1; ; $tries++) {
            $began = hrtime(true);
            [$answer, $reason] = [null, ''];
            try {
                $answer = $this->transport->send($call->method, $target, $headers, $body, $call->timeout ?? $this->timeout);
                $this->last = self::info($answer);
                if ($answer->status >= 200 && $answer->status < 300) {
                    $this->log($call, $tries, $began, $answer);
                    return $answer;
                }
                $failure = ApiException::of($answer, $key);
                $outcome = new Outcome($answer->status, $failure->error, $failure->retryAfter);
            } catch (NoAnswer $lost) {
                $unknown = $lost->wasSent && $call->method !== 'GET';
                $reason = $lost->getMessage();
                $failure = new ConnectionFailed(sprintf(Shared::FAILED_CALL, $call->method, $call->path, $reason), $unknown, $key, $lost);
                $outcome = new Outcome(wasSent: $lost->wasSent);
            }
            $wait = $policy->wait($tries, $outcome, $repeatable, random_int(0, 1000) / 1000);
            $this->log($call, $tries, $began, $answer, $outcome->error ?: $reason, $wait);
            if ($wait === null) {
                throw $failure;
            }
            ($this->sleep)($wait);
        }
    }

    /** A line per try. The path has names in the place of `$parts`, and no query; there is no key and no body. */
    private function log(Call $call, int $tries, int $began, ?Answer $answer, string $error = '', ?float $wait = null): void
    {
        if ($this->logger === null) {
            return;
        }
        $ms = intdiv(hrtime(true) - $began, 1_000_000);
        $id = $answer?->headers['x-request-id'] ?? $call->requestId;
        $said = $answer === null
            ? sprintf(Shared::LOG_NO_ANSWER, $call->method, $call->path, $error, $ms)
            : sprintf(Shared::LOG_ANSWER, $call->method, $call->path, rtrim("{$answer->status} {$error}"), $ms, $id ?? '');
        $context = [
            'method' => $call->method,
            'path' => $call->path,
            'status' => $answer?->status,
            'durationMs' => $ms,
            'requestId' => $id,
            'retry' => $tries - 1,
            'error' => $error === '' ? null : $error,
        ];
        if ($wait !== null) {
            $said = sprintf(Shared::LOG_RETRY, $said, $tries, (int) round($wait * 1000));
        }
        $level = $answer === null || $wait !== null ? 'warning' : 'info';
        try {
            $this->logger->{$level}($said, $context);
        } catch (\Throwable) {
            // A full disk of the log's: the payment was made all the same.
        }
    }

    /** @return array<string, string> */
    private function headers(Call $call, #[\SensitiveParameter] ?string $body, ?string $key): array
    {
        $headers = ['accept' => $call->accept, 'user-agent' => 'pasarela-php/' . Version::VERSION];
        if ($call->secret !== null) {
            $headers['authorization'] = 'Bearer ' . $call->secret;
        } elseif ($call->usesKey) {
            $headers['x-api-key'] = $this->key;
        }
        if ($body !== null) {
            $headers['content-type'] = 'application/json';
        }
        if ($key !== null) {
            $headers['idempotency-key'] = $key;
        }
        if ($call->requestId !== null) {
            $headers['x-request-id'] = $call->requestId;
        }
        if ($call->dryRun) {
            $headers['dry-run'] = 'true';
        }
        $headers += array_filter($call->headers, static fn (?string $value): bool => $value !== null);
        Checks::headers($headers);
        return $headers;
    }

    private static function info(Answer $answer): ResponseInfo
    {
        $sequence = $answer->headers['wal-seq'] ?? '';
        $replayed = ($answer->headers['idempotent-replayed'] ?? '') === 'true';
        return new ResponseInfo($answer->status, $answer->headers['x-request-id'] ?? null, $replayed, ctype_digit($sequence) ? (int) $sequence : null);
    }

    public static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }

    /** @return array<string, mixed> never the key */
    public function __debugInfo(): array
    {
        return [];
    }
}
