<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/**
 * No whole answer came: the address is wrong, the network is down, or it took too long. `outcomeUnknown` says whether the
 * request may have been carried out. Then do not guess: call again with the same `idempotencyKey`, or ask
 * `$client->reference->getIdempotencyKey`.
 */
final class ConnectionFailed extends PasarelaException
{
    public function __construct(string $message, public readonly bool $outcomeUnknown, public readonly ?string $idempotencyKey, ?\Throwable $previous = null)
    {
        parent::__construct($message, 0, $previous);
    }
}
