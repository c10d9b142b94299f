<?php

/** A runner of tests that needs nothing: `test` runs one, the end of the program fails if any did. */

declare(strict_types=1);

set_error_handler(static fn (int $level, string $message, string $file, int $line): bool => error_reporting() & $level ? throw new ErrorException($message, 0, $level, $file, $line) : true);

$GLOBALS['ran'] = $GLOBALS['failed'] = 0;

function test(string $name, Closure $test): void
{
    $GLOBALS['ran']++;
    try {
        $test();
    } catch (Throwable $failure) {
        $GLOBALS['failed']++;
        fwrite(STDERR, "FAILED: {$name}\n{$failure}\n\n");
    }
}

function same(mixed $found, mixed $wanted, string $about = ''): void
{
    if ($found !== $wanted) {
        throw new LogicException($about . ' ' . var_export($found, true) . ' is not ' . var_export($wanted, true));
    }
}

function throws(string $class, Closure $code, string $about = ''): Throwable
{
    try {
        $code();
    } catch (Throwable $thrown) {
        if ($thrown instanceof $class) {
            return $thrown;
        }
        throw new LogicException("{$about}: thrown was " . $thrown::class . ": {$thrown->getMessage()}", 0, $thrown);
    }
    throw new LogicException("{$about}: nothing was thrown in the place of {$class}");
}

register_shutdown_function(static function (): void {
    echo "{$GLOBALS['ran']} tests, {$GLOBALS['failed']} failed\n";
    if ($GLOBALS['failed'] > 0) {
        exit(1);
    }
});
