<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Crypto network. */
final class CryptoNetwork extends Model
{
    public const WIRE = ['network' => '', 'networkFeeUsdt' => 't2', 'confirmations' => '', 'minDepositUsdt' => 't2', 'minPayoutUsdt' => 't2'];
    public const REQUIRED = ['network', 'networkFeeUsdt', 'confirmations', 'minDepositUsdt', 'minPayoutUsdt'];

    /** @var 'TRC20'|'ERC20'|'BEP20'|'POLYGON' */
    public readonly string $network;
    /** What a payout costs on top. */
    public readonly string $networkFeeUsdt;
    /** Blocks after which a transfer counts; null where no node is configured. */
    public readonly ?int $confirmations;
    /** Null: no minimum. */
    public readonly ?string $minDepositUsdt;
    /** Null: no minimum. */
    public readonly ?string $minPayoutUsdt;
}
