<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 404: no such object for this key. */
final class NotFound extends ApiException
{
}
