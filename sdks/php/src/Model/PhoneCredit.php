<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Phone credit. */
final class PhoneCredit extends Model
{
    public const WIRE = ['banco' => '', 'telefono' => '', 'cedula' => '', 'monto' => 't2', 'concepto' => '', 'externalRef' => ''];
    public const REQUIRED = ['banco', 'telefono', 'cedula', 'monto', 'concepto', 'externalRef'];

    /**
     * @param string $banco Four digits; see `GET /v1/banks`.
     * @param string $telefono A Venezuelan mobile phone, with 0, 58 or +58 in front.
     * @param string $cedula V, E, J, P or G and 5 to 9 digits, with or without a dash.
     * @param string|int $monto Exactly two decimals, from 0.01 to 999999999999.99.
     * @param string $concepto What the receiver reads.
     * @param string $externalRef Your own reference, 1 to 64 characters after trimming. The same reference with the
     *     same payload answers what is there; with another payload it is 409 `external_ref_conflict`.
     */
    public function __construct(
        public readonly string $banco,
        public readonly string $telefono,
        public readonly string $cedula,
        public readonly string|int|float $monto,
        public readonly string $concepto,
        public readonly string $externalRef,
    ) {
        parent::__construct();
    }
}
