<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** What the buyer does next, while there is something. */
final class CopPaymentNext extends Model
{
    public const WIRE = ['type' => '', 'qrPngBase64' => '', 'transferKey' => '', 'phoneMasked' => ''];
    public const REQUIRED = ['type'];

    /** @var 'show_qr'|'approve_in_app'|'submit_otp' */
    public readonly string $type;
    /** A PNG of the QR code, in base64; in test mode in the answer that creates the payment alone. */
    public readonly ?string $qrPngBase64;
    /** The key to paste in a bank's app; as the QR code. Null in live mode, whose QR code has none. */
    public readonly ?string $transferKey;
    public readonly ?string $phoneMasked;
}
