<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Merchant payout item. */
final class MerchantPayoutItem extends Model
{
    public const WIRE = ['merchantId' => '', 'payoutMethodId' => '', 'monto' => 't2', 'concepto' => '', 'externalRef' => ''];
    public const REQUIRED = ['merchantId', 'monto', 'concepto', 'externalRef'];

    /**
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     * @param ?string $payoutMethodId The default method if missing.
     */
    public function __construct(
        public readonly string $merchantId,
        public readonly string|int|float $monto,
        public readonly string $concepto,
        public readonly string $externalRef,
        public readonly ?string $payoutMethodId = null,
    ) {
        parent::__construct();
    }
}
