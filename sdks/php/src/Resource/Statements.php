<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/**
 * What moved on each day. Days are those of Caracas, and of Bogotá for pesos; midnight belongs to the new day.
 * `opening` and all columns add up to `closing`, which is the next day's `opening`. Holds and the reserve are not in
 * it.
 */
final class Statements
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /**
     * A statement by days.
     *
     * Needs the scope `read`.
     *
     * @param 'VES'|'COP'|'USDT' $currency
     * @param string $from The first day.
     * @param string $to The last day; 400 days at most. Days to come are left out.
     */
    public function get(
        string $currency,
        string $from,
        string $to,
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\Statement {
        $call = new Call(
            'GET',
            '/v1/statements',
            query: ['currency' => $currency, 'from' => $from, 'to' => $to],
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@Statement');
    }
}
