<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Cop buyer. */
final class CopBuyer extends Model
{
    public const WIRE = ['email' => '', 'phone' => '', 'documentType' => '', 'documentNumber' => ''];
    public const REQUIRED = [];

    /**
     * @param ?string $phone A Colombian mobile phone, with +57 in front or not.
     * @param 'CC'|'CE'|'TI'|'NIT'|'PP'|null $documentType
     */
    public function __construct(
        public readonly ?string $email = null,
        public readonly ?string $phone = null,
        public readonly ?string $documentType = null,
        public readonly ?string $documentNumber = null,
    ) {
        parent::__construct();
    }
}
