<?php

declare(strict_types=1);

namespace Pasarela\Exception;

use Pasarela\Json;
use Pasarela\Transport\Answer;

/** The gateway said no. A payment that a bank declined is no exception: it is a payment with `status` "FAILED". */
class ApiException extends PasarelaException
{
    /** The stable code, such as `insufficient_balance`. The public calls have none: there it is the text of the status. */
    public readonly string $error;
    /** What support needs to find the request. */
    public readonly ?string $requestId;
    /** The address of the page about the code, of all but the public calls. */
    public readonly ?string $docs;
    /** @var list<array{field: string, message: string}> every bad field at once, of `invalid_data` */
    public readonly array $fields;
    /** @var list<string> the fields that differ, of `external_ref_conflict` */
    public readonly array $differs;
    /** What the reference was used for, of `external_ref_conflict`. */
    public readonly ?string $existingId;
    /** Seconds after which to ask again, if the gateway said. */
    public readonly ?int $retryAfter;

    /**
     * @param array<string, mixed> $body the whole answer, for members of single codes, such as `availableVes`
     * @param array<string, string> $headers
     */
    final public function __construct(public readonly int $status, public readonly array $body, array $headers, public readonly ?string $idempotencyKey)
    {
        $this->error = is_string($body['error'] ?? null) ? $body['error'] : "http_{$status}";
        $this->requestId = $headers['x-request-id'] ?? $body['requestId'] ?? null;
        $this->docs = $body['docs'] ?? null;
        $this->fields = $body['fields'] ?? [];
        $this->differs = $body['differs'] ?? [];
        $this->existingId = $body['existingId'] ?? null;
        $after = $headers['retry-after'] ?? '';
        $this->retryAfter = ctype_digit($after) ? (int) $after : null;
        $said = implode('; ', (array) ($body['message'] ?? "the answer was {$status}"));
        $bad = array_map(static fn (array $field): string => "{$field['field']}: {$field['message']}", $this->fields);
        $differing = array_filter($this->differs, static fn (string $name): bool => !str_contains($said, $name));
        $more = [...$bad, ...array_map(static fn (string $name): string => "differs: {$name}", $differing)];
        $text = implode('; ', [$said, ...array_filter($more, static fn (string $one): bool => !str_contains($said, $one))]); // nothing twice
        parent::__construct("{$status} {$this->error}: {$text} (request {$this->requestId})", $status);
    }

    /** Whether the request may have been carried out all the same. Then call again with the same `idempotencyKey`. */
    public function outcomeUnknown(): bool
    {
        return in_array($this->status, [500, 502, 504], true) || in_array($this->error, ['storage_unavailable', 'http_503'], true);
    }

    /** An exception of the class that the status of an answer has. */
    public static function of(Answer $answer, ?string $idempotencyKey): self
    {
        try {
            $body = Json::read($answer->body);
        } catch (\JsonException) {
            $body = []; // of a proxy in between
        }
        $class = match ($answer->status) {
            400, 413, 415 => InvalidRequest::class,
            401 => Unauthorized::class,
            403 => Forbidden::class,
            404 => NotFound::class,
            409, 410 => Conflict::class,
            422 => Refused::class,
            429 => RateLimited::class,
            default => $answer->status >= 500 ? Unavailable::class : self::class,
        };
        return new $class($answer->status, is_array($body) ? $body : [], $answer->headers, $idempotencyKey);
    }
}
