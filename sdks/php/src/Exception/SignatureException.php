<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** A delivery that is not from the gateway, was changed on its way, or was not sent just now. Answer it with 400 and do nothing. */
final class SignatureException extends PasarelaException
{
}
