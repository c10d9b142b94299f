<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Account credit. */
final class AccountCredit extends Model
{
    public const WIRE = ['cuenta' => '', 'cedula' => '', 'nombre' => '', 'monto' => 't2', 'concepto' => '', 'externalRef' => ''];
    public const REQUIRED = ['cuenta', 'cedula', 'nombre', 'monto', 'concepto', 'externalRef'];

    /**
     * @param string $cuenta 20 digits with both check digits right.
     * @param string $cedula V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     */
    public function __construct(
        public readonly string $cuenta,
        public readonly string $cedula,
        public readonly string $nombre,
        public readonly string|int|float $monto,
        public readonly string $concepto,
        public readonly string $externalRef,
    ) {
        parent::__construct();
    }
}
