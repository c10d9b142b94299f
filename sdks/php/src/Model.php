<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * An object of the API. Its members are read-only properties under the names of the wire; a member that the gateway
 * left out, because it is older than this library, is not initialised, and reading it throws. Members that this version
 * does not know are in `raw`.
 */
abstract class Model implements \JsonSerializable
{
    /** @var array<string, string> members with their kinds: see Json */
    public const WIRE = [];
    /** @var list<string> */
    public const REQUIRED = [];
    /** @var list<string> what is not shown by var_dump */
    public const SECRET = [];

    /** @var array<string, mixed> */
    public readonly array $raw;

    public function __construct()
    {
        $this->raw = [];
    }

    /** @param array<string, mixed> $data as Webhook and Json read it: numbers with decimals are strings */
    public static function fromArray(array $data): static
    {
        $model = (new \ReflectionClass(static::class))->newInstanceWithoutConstructor();
        $model->raw = $data;
        $values = [];
        foreach (static::WIRE as $name => $kind) {
            if (array_key_exists($name, $data) || !in_array($name, static::REQUIRED, true)) {
                $values[$name] = Json::decode($kind, $data[$name] ?? null);
            }
        }
        $initialise = function (array $values): void {
            foreach ($values as $name => $value) {
                $this->{$name} = $value;
            }
        };
        \Closure::bind($initialise, $model, static::class)($values);
        return $model;
    }

    /**
     * @internal
     * @return array<string, array{string, mixed}> kinds and values
     */
    public function members(): array
    {
        $members = [];
        foreach (static::WIRE as $name => $kind) {
            $members[$name] = [$kind, $this->{$name} ?? null];
        }
        return $members;
    }

    /** @return array<string, mixed> what the gateway answered */
    public function jsonSerialize(): array
    {
        return $this->raw !== [] ? $this->raw : array_map(static fn (array $member): mixed => $member[1], $this->members());
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        $shown = array_map(static fn (array $member): mixed => $member[1], $this->members());
        foreach (static::SECRET as $name) {
            $shown[$name] = '…';
        }
        return $shown;
    }
}
