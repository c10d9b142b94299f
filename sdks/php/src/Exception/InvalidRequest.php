<?php

declare(strict_types=1);

namespace Pasarela\Exception;

/** 400, 413 or 415: the request is not right. `fields` names every bad one. */
final class InvalidRequest extends ApiException
{
}
