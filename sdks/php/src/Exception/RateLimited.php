<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 429: too much at once; nothing was done. */
final class RateLimited extends ApiException
{
}
