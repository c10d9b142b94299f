<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** A call that takes out more waits for an approval: by currency; none does of one that is not named. */
final class MandateApprovalAbove extends Model
{
    public const WIRE = ['VES' => 't', 'COP' => '', 'USDT' => 't'];
    public const REQUIRED = [];

    /**
     * @param string|int|null $VES At most two decimals, at most 999999999999.99.
     * @param string|int|null $USDT At most two decimals, at most 999999999999.99.
     */
    public function __construct(
        public readonly string|int|float|null $VES = null,
        public readonly ?int $COP = null,
        public readonly string|int|float|null $USDT = null,
    ) {
        parent::__construct();
    }
}
