<?php

// Written by sdks/generate from the server's description: change that, not this.

declare(strict_types=1);

namespace Pasarela\Resource;

use Pasarela\Call;
use Pasarela\Model;
use Pasarela\Session;

/** For load balancers and supervisors. */
final class Health
{
    /** @internal */
    public function __construct(private readonly Session $session)
    {
    }

    /** Whether the process lives. */
    public function get(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\GetHealthResult {
        $call = new Call(
            'GET',
            '/healthz',
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@GetHealthResult');
    }

    /** Whether requests are served. */
    public function getReadiness(
        ?float $timeout = null,
        ?int $maxRetries = null,
        ?string $requestId = null,
    ): Model\GetReadinessResult {
        $call = new Call(
            'GET',
            '/readyz',
            usesKey: false,
            timeout: $timeout,
            maxRetries: $maxRetries,
            requestId: $requestId,
        );
        return $this->session->model($call, '@GetReadinessResult');
    }
}
