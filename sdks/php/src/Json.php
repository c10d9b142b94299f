<?php

declare(strict_types=1);

namespace Pasarela;

/**
 * JSON of the gateway. Numbers with decimals never become a float: they are read as strings, as they were written. What
 * of a model needs care has a kind: `n` is an amount that is a JSON number, `t` one that is a string, `t2` one with
 * exactly two decimals, `o` a free object, `@Name` another model or a list of it (or one of several, joined by `|`).
 *
 * @internal
 */
final class Json
{
    /** @throws \JsonException */
    public static function read(string $text): mixed
    {
        // A text is skipped as a whole, so that what looks like a number in it stays.
        $exact = preg_replace_callback(
            '/"(?:[^"\\\\]++|\\\\.)*+"|-?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+/s',
            static fn (array $found): string => strpbrk($found[0], '.eE') !== false && $found[0][0] !== '"' ? '"' . $found[0] . '"' : $found[0],
            $text,
        );
        return json_decode($exact ?? '', true, 128, JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
    }

    public static function decode(string $kind, mixed $value): mixed
    {
        if ($value === null || $kind === '') {
            return $value;
        }
        if ($kind === 'n') {
            return is_int($value) ? (string) $value : $value;
        }
        if ($kind[0] !== '@' || !is_array($value)) {
            return $value;
        }
        return array_is_list($value)
            ? array_map(static fn (mixed $item): mixed => is_array($item) ? self::model($kind, $item) : $item, $value)
            : self::model($kind, $value);
    }

    /** @param array<string, mixed> $data */
    private static function model(string $kind, array $data): Model
    {
        $classes = array_map(static fn (string $name): string => 'Pasarela\\Model\\' . $name, explode('|', substr($kind, 1)));
        foreach ($classes as $class) {
            if (array_diff($class::REQUIRED, array_keys($data)) === []) {
                return $class::fromArray($data);
            }
        }
        return $classes[0]::fromArray($data);
    }

    /**
     * A body as text: amounts are checked, and what is null is left out, which is what null means to the gateway.
     *
     * @param array<string, array{string, mixed}> $members kinds and values
     */
    public static function body(#[\SensitiveParameter] array $members): string
    {
        $given = array_filter($members, static fn (array $member): bool => $member[1] !== null);
        $written = array_map(static fn (array $member): string => self::member($member[0], $member[1]), $given);
        $named = array_map(static fn (string $name, string $value): string => self::scalar($name) . ':' . $value, array_keys($written), $written);
        return '{' . implode(',', $named) . '}';
    }

    private static function member(string $kind, #[\SensitiveParameter] mixed $value): string
    {
        if ($value instanceof Model) {
            return self::body($value->members());
        }
        if (is_array($value) && $kind !== 'o' && array_is_list($value)) {
            return '[' . implode(',', array_map(static fn (mixed $item): string => self::member($kind, $item), $value)) . ']';
        }
        return match (true) {
            $kind === 'n' => Money::exact($value),
            $kind !== '' && $kind[0] === 't' => self::scalar(Money::padded($value, (int) substr($kind, 1))),
            $kind === 'o' => self::scalar((object) $value),
            default => self::scalar($value instanceof \DateTimeInterface ? self::instant($value) : $value),
        };
    }

    public static function instant(\DateTimeInterface $time): string
    {
        return \DateTimeImmutable::createFromInterface($time)->setTimezone(new \DateTimeZone('UTC'))->format('Y-m-d\TH:i:s.v\Z');
    }

    private static function scalar(#[\SensitiveParameter] mixed $value): string
    {
        return json_encode($value, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    }
}
