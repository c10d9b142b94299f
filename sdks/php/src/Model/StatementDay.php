<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Statement day. */
final class StatementDay extends Model
{
    public const WIRE = ['date' => '', 'opening' => 't', 'payments' => 't', 'fees' => 't', 'platformFees' => 't', 'sellerTransfers' => 't', 'reversals' => 't', 'chargebacks' => 't', 'payouts' => 't', 'payoutReversals' => 't', 'conversions' => 't', 'deposits' => 't', 'adjustments' => 't', 'closing' => 't', 'movements' => ''];
    public const REQUIRED = ['date', 'opening', 'payments', 'fees', 'platformFees', 'sellerTransfers', 'reversals', 'chargebacks', 'payouts', 'payoutReversals', 'conversions', 'deposits', 'adjustments', 'closing', 'movements'];

    public readonly string $date;
    /** The balance when the day began. */
    public readonly string $opening;
    /** Sales. Signed like all columns; negative is money out. */
    public readonly string $payments;
    /** Fees of sales, less those that came back. */
    public readonly string $fees;
    /** The operator's shares of sales through links. */
    public readonly string $platformFees;
    /** Sellers' shares of sales, less those that came back. */
    public readonly string $sellerTransfers;
    /** Sales that were given back. */
    public readonly string $reversals;
    /** Card sales that banks took back, fees of that, and what won disputes returned. */
    public readonly string $chargebacks;
    /** Money sent out, and its fees. */
    public readonly string $payouts;
    /** Payouts that failed, with their fees. */
    public readonly string $payoutReversals;
    /** Money that became USDT, less what was canceled. */
    public readonly string $conversions;
    /** USDT received. */
    public readonly string $deposits;
    /** The operator's corrections, and test money. */
    public readonly string $adjustments;
    /** `opening` and all columns: the next day's `opening`. */
    public readonly string $closing;
    public readonly int $movements;
}
