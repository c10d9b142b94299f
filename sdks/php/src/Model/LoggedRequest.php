<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Model;

use Pasarela\Model;

/** Logged request. */
final class LoggedRequest extends Model
{
    public const WIRE = ['requestId' => '', 'at' => '', 'method' => '', 'route' => '', 'status' => '', 'error' => '', 'keyId' => '', 'ms' => '', 'entityId' => ''];
    public const REQUIRED = ['requestId', 'at', 'method', 'route', 'status', 'error', 'keyId', 'ms', 'entityId'];

    public readonly string $requestId;
    public readonly string $at;
    public readonly string $method;
    /** The template of the path, such as `/v1/payments/{id}`. */
    public readonly string $route;
    public readonly int $status;
    /** The code of the error. */
    public readonly ?string $error;
    /** The key that called. */
    public readonly string $keyId;
    public readonly int $ms;
    /** What was made or changed. */
    public readonly ?string $entityId;
}
