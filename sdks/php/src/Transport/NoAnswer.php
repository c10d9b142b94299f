<?php

declare(strict_types=1);

namespace Pasarela\Transport;

/** No whole answer came. `wasSent` says whether the server may have got the request. */
final class NoAnswer extends \RuntimeException
{
    public function __construct(string $message, public readonly bool $wasSent)
    {
        parent::__construct($message);
    }
}
