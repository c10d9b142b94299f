<?php

/** Loads the classes of the SDK where there is no Composer: require this file, once. */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Pasarela\\')) {
        $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, strlen('Pasarela\\'))) . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
