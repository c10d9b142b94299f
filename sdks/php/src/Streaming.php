<?php

declare(strict_types=1);

namespace Pasarela;

use Pasarela\Exception\ConnectionFailed;
use Pasarela\Transport\Connection;
use Pasarela\Transport\NoAnswer;

/**
 * Many calls over one connection (`POST /v1/stream`). It sends and reads by turns, as the connection lets it. What has no
 * answer when a connection is cut, or when the server stops, is sent again on the next one, under the same keys: nothing is
 * done twice.
 *
 * @internal
 */
final class Streaming
{
    /** The server has as many under way, and reads no more meanwhile. */
    private const AHEAD_MAX = 1024;
    /** A line that says nothing, but that we live: the server ends a connection that is silent for a minute. */
    private const SIGN_SECONDS = 20.0;
    /** A connection that says nothing for so long while calls wait for their answers is given up. */
    private const SILENCE_SECONDS = 60.0;
    private const PIECE_BYTES = 65536;

    private int $taken = 0;
    private int $tries = 0;
    private float $wentOn;
    /** @var list<array{int, string}> to be sent again: the number of the call and its line */
    private array $again = [];
    /** @var array<int, array{int, string}> what of this connection has no answer, by its line in it */
    private array $underWay = [];

    /**
     * @param \Iterator<StreamCall> $calls
     * @param \Closure(): Connection $open
     * @param \Closure(float): void $sleep
     */
    public function __construct(
        private readonly \Iterator $calls,
        private readonly \Closure $open,
        private readonly Policy $policy,
        private readonly float $patience,
        private readonly \Closure $sleep,
    ) {
        $this->wentOn = microtime(true);
    }

    /** @return \Generator<int, StreamOutcome> */
    public function outcomes(): \Generator
    {
        $this->calls->rewind();
        while (true) {
            try {
                yield from $this->connection();
                return;
            } catch (NoAnswer $cut) {
                $this->again = [...array_values($this->underWay), ...$this->again];
                $this->underWay = [];
                if (microtime(true) - $this->wentOn > $this->patience) {
                    throw new ConnectionFailed(sprintf(Shared::FAILED_CALL, 'POST', '/v1/stream', $cut->getMessage()), true, null, $cut);
                }
                ($this->sleep)($this->wait());
            }
        }
    }

    /** Exponential backoff with jitter, until something goes on. */
    private function wait(): float
    {
        $this->tries++;
        $longest = min($this->policy->longestWait, $this->policy->firstWait * 2 ** min($this->tries - 1, 10));
        return $longest * (0.5 + random_int(0, 1000) / 2000);
    }

    /** @return ?array{int, string} the call to be sent next */
    private function next(): ?array
    {
        if (count($this->underWay) >= self::AHEAD_MAX) {
            return null;
        }
        if ($this->again !== []) {
            return array_shift($this->again);
        }
        if (!$this->calls->valid()) {
            return null;
        }
        $line = $this->calls->current()->line();
        $this->calls->next();
        return [++$this->taken, $line];
    }

    /** @return \Generator<int, StreamOutcome> */
    private function connection(): \Generator
    {
        $connection = ($this->open)();
        try {
            [$sent, $out, $signed, $restsUntil, $isEnded] = [0, '', microtime(true), 0.0, false];
            $heard = $signed;
            while (true) {
                $now = microtime(true);
                while (!$isEnded && $now >= $restsUntil && strlen($out) < self::PIECE_BYTES && ($call = $this->next()) !== null) {
                    $this->underWay[++$sent] = $call;
                    $out .= self::chunk($call[1]);
                    $signed = $now;
                }
                if (!$isEnded && $this->underWay === [] && $this->again === [] && !$this->calls->valid()) {
                    $isEnded = true;
                    $out .= "0\r\n\r\n";
                } elseif (!$isEnded && $out === '' && $now - $signed > self::SIGN_SECONDS) {
                    $out = self::chunk("\n");
                    $signed = $now;
                }
                $out = substr($out, $connection->turn($out));
                if ($this->underWay === []) {
                    $heard = $now;
                } elseif ($now - $heard > self::SILENCE_SECONDS) {
                    throw new NoAnswer(sprintf(Shared::NO_ANSWER, Shared::BROKE_OFF), true);
                }
                foreach ($connection->lines() as $text) {
                    $heard = $now;
                    $line = self::read($text);
                    if (isset($line['end'])) {
                        if ($line['end'] === true && $isEnded) {
                            return;
                        }
                        throw new NoAnswer(sprintf(Shared::NO_ANSWER, $line['code'] ?? Shared::BROKE_OFF), true);
                    }
                    [$number, $again] = $this->underWay[$line['line']];
                    unset($this->underWay[$line['line']]);
                    if (self::isOpen($line)) {
                        $this->again[] = [$number, $again];
                        $restsUntil = max($restsUntil, $now >= $restsUntil ? $now + $this->wait() : 0.0);
                        continue;
                    }
                    [$this->tries, $this->wentOn] = [0, microtime(true)];
                    yield new StreamOutcome($number, $line['key'], $line['status'], $line['replayed'], $line['walSeq'], $line['body']);
                }
            }
        } finally {
            $connection->close();
        }
    }

    /** @return array<string, mixed> */
    private static function read(string $text): array
    {
        try {
            $line = Json::read($text);
        } catch (\JsonException) {
            $line = null;
        }
        return is_array($line) ? $line : throw new NoAnswer(sprintf(Shared::NO_ANSWER, Shared::BROKE_OFF), true);
    }

    /**
     * Nothing came of the call yet: it is sent again.
     *
     * @param array<string, mixed> $line
     */
    private static function isOpen(array $line): bool
    {
        return in_array($line['status'], [429, 503], true) || $line['status'] === 409 && $line['body']['error'] === 'idempotency_in_progress';
    }

    private static function chunk(string $data): string
    {
        return sprintf("%x\r\n%s\r\n", strlen($data), $data);
    }
}
