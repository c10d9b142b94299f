<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 401: no key, an unknown, revoked or expired one. */
final class Unauthorized extends ApiException
{
}
