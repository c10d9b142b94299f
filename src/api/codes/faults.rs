//! THE TABLE of faults in Spanish: the text by which the API says what is wrong with a member, beside what
//! the pages say of it. The API answers in English; a person reads a page in their own language. The text
//! is the key because a second language beside each reader would put pages into the pure readers, and a
//! code for each fault would be a contract that no caller asked for. `tests/tidy/faults.rs` finds a text
//! that the readers have and this table lacks.

/// A fault in Spanish, if it is one of the readers'.
pub fn spanish(english: &str) -> Option<String> {
    FAULTS.iter().find_map(|(pattern, words)| Some(filled(words, &holes(pattern, english)?)))
}

/// The English texts of the table, with `{}` where a value stands.
pub fn all() -> impl Iterator<Item = &'static str> {
    FAULTS.iter().map(|(english, _)| *english)
}

/// The values in the holes of a pattern, if the text is made of it.
fn holes<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut found = Vec::new();
    for part in parts {
        let end = if part.is_empty() { rest.len() } else { rest.find(part)? };
        found.push(&rest[..end]);
        rest = &rest[end + part.len()..];
    }
    rest.is_empty().then_some(found)
}

fn filled(words: &str, values: &[&str]) -> String {
    values.iter().fold(words.to_owned(), |text, value| text.replacen("{}", value, 1))
}

/// English, Spanish: a text without holes before one with holes that would fit it too.
#[rustfmt::skip] // A row is read across: its Spanish below its English.
static FAULTS: &[(&str, &str)] = &[
    // Any member.
    ("is required", "falta"),
    ("is unknown", "no se conoce este dato"),
    ("is unknown; did you mean {}?", "no se conoce este dato; ¿querías decir {}?"),
    ("is one parameter too many", "sobra"),
    ("must be given once", "va una sola vez"),
    ("must be an object", "tiene que ser un objeto"),
    ("must have at least one member", "tiene que llevar al menos un dato"),
    ("must change something: null reads as missing", "tiene que cambiar algo: un valor vacío no cuenta"),
    ("must be JSON", "tiene que ser JSON"),
    ("must be a string", "tiene que ser un texto"),
    ("must begin with a slash", "tiene que empezar con una barra"),
    ("must have 1 to 255 characters of ASCII", "tiene que tener de 1 a 255 caracteres de ASCII"),
    ("must not be blank", "no puede estar en blanco"),
    ("must be true or false", "tiene que ser sí o no"),
    ("must be true", "tiene que ser sí"),
    ("must be a list", "tiene que ser una lista"),
    ("must be a UUID", "no es un id: cópialo completo"),
    ("must be UTF-8", "tiene que ser texto en UTF-8"),
    ("must be percent-encoded UTF-8", "tiene que ser texto en UTF-8"),
    ("must name each one once", "cada uno va una sola vez"),
    ("must be listed once", "cada uno va una sola vez"),
    ("must be a nextCursor of this list with the same filters", "la página que sigue es de otra lista: vuelve al principio"),
    ("must be comma or semicolon, once", "tiene que ser «comma» o «semicolon», una sola vez"),
    ("is not taken with text/csv, which is the whole list", "no va con un CSV, que es la lista completa"),
    ("is not taken", "aquí no va"),
    ("has too many parts", "tiene demasiadas partes"),
    ("is no form that can be read", "no es un formulario que se pueda leer"),
    ("is not as the page showed it; open the page again", "no es lo que la página mostró; ábrela de nuevo"),
    // Texts.
    ("must be a text of 1 to 64 characters", "tiene que ser un texto de 1 a 64 caracteres"),
    ("must have {} to {} characters", "tiene que llevar de {} a {} caracteres"),
    ("must have at most {} characters", "lleva hasta {} caracteres"),
    ("must have {} characters", "tiene que llevar {} caracteres"),
    ("is at most {}, the setting chargebackFeeMax, without an approval", "es como máximo {}, el ajuste chargebackFeeMax, si no hay una aprobación"),
    ("must have at most {} bytes", "lleva hasta {} bytes"),
    ("must have {} to {} elements", "tiene que llevar de {} a {} elementos"),
    ("must not contain control characters", "no puede llevar caracteres invisibles"),
    ("must not have control characters, nor marks of the direction of writing", "no puede llevar caracteres invisibles"),
    ("must be one line, without tabs", "tiene que ser un solo renglón, sin tabulaciones"),
    ("must have 1 to 32 letters, digits or underscores", "lleva de 1 a 32 letras, números o guiones bajos, sin espacios"),
    ("must begin with {} and have 9 to 200 visible ASCII characters", "empieza por {} y lleva de 9 a 200 caracteres ASCII, sin espacios"),
    ("must not be another tenant's", "ya es de otro comercio"),
    ("must be one of {}", "tiene que ser uno de: {}"),
    ("must be false with held or merchantId", "no va junto con held ni con merchantId"),
    ("must be live or test", "tiene que ser «live» (real) o «test» (prueba)"),
    ("must be VES, COP or USDT", "tiene que ser VES, COP o USDT"),
    ("must be VES for a merchant", "de un vendedor solo hay VES"),
    ("must be a type of movement", "tiene que ser un tipo de movimiento"),
    ("must be viewer, support, treasury or admin", "tiene que ser viewer, support, treasury o admin"),
    ("must be active or disabled", "tiene que ser active o disabled"),
    ("must be active, suspended or inactive", "tiene que ser active, suspended o inactive"),
    ("must be root or an operator's id", "tiene que ser root o el id de un operador"),
    ("must be the name of a node", "tiene que ser el nombre de un nodo"),
    // Numbers and amounts.
    ("must be a number with fewer decimals", "tiene demasiados decimales"),
    ("must be a number from 0.01 to 999999999999.99 with at most 2 decimals", "tiene que ser un número de 0.01 a 999999999999.99, con hasta 2 decimales"),
    ("must be a number", "tiene que ser un número"),
    ("must be a smaller number", "es un número demasiado grande"),
    ("must be a smaller amount at this rate", "es un monto demasiado grande a esta tasa"),
    ("must be a smaller amount", "es un monto demasiado grande"),
    ("is too large at the rate in force", "es un monto demasiado grande a la tasa vigente"),
    ("must be worth from 0.01 to 100000 USD at the rate in force", "tiene que valer de 0.01 a 100000 US$ a la tasa vigente"),
    ("comes to more than 100000 USD", "pasa de 100000 US$"),
    ("must be a whole number of pesos from {} to {}", "tiene que ser un número entero de pesos, de {} a {}"),
    ("must be a whole number from {} to {}", "tiene que ser un número entero, de {} a {}"),
    ("must be a string with exactly two decimals, such as \"10.00\"", "tiene que ser un monto mayor que cero, con dos decimales: 1.250,00"),
    ("must be a string with at most two decimals, such as \"10.00\"", "tiene que ser un monto, con hasta dos decimales: 1.250,00"),
    ("must be a string of more than nothing with at most two decimals, such as \"10.00\"", "tiene que ser mayor que cero, con hasta dos decimales: 1.250,00"),
    ("must be a string with at most two decimals and not zero, such as \"-12.50\"", "lleva su signo y hasta dos decimales, y no es cero: -1.250,00"),
    ("must be a string with a whole amount and not zero, such as \"-20000\"", "es un monto entero con su signo, y no es cero: -20000"),
    ("must be a string with a whole amount, such as \"20000\"", "es un monto entero: 20000"),
    ("must be a positive whole amount up to 999999999999, such as \"20000\"", "es un monto entero, hasta 999999999999: 20000"),
    ("must be a string from \"0.01\" to \"100000.00\" with at most 2 decimals", "tiene que ir de 0.01 a 100000.00, con hasta 2 decimales y con punto"),
    ("must be a string from \"0\" to \"100\" with at most four decimals, such as \"1.5000\"", "tiene que ir de 0 a 100, con hasta cuatro decimales y con punto: 1.5000"),
    ("must be from 0.01 to 100000 with at most 2 decimals", "tiene que ir de 0.01 a 100000, con hasta 2 decimales"),
    ("must be from 0 to 100 with at most 4 decimals", "tiene que ir de 0 a 100, con hasta 4 decimales"),
    ("must be at most 999999999999.99", "es 999999999999.99 como máximo"),
    ("must be more than 0.00", "tiene que ser mayor que 0.00"),
    ("is more than a balance can hold", "es más de lo que cabe en un saldo"),
    ("is more than the bank can carry at once", "es más de lo que el banco mueve de una vez"),
    ("the commission and the fee together exceed the amount", "las comisiones juntas superan el monto"),
    ("must be given as usdAmount or as vesAmount, one of the two", "va uno de los dos, usdAmount o vesAmount: falta uno o sobra uno"),
    ("needs a merchantId", "necesita un vendedor"),
    ("is required with applicationFeePercent", "falta: la comisión de la plataforma necesita un vendedor"),
    ("must be at least the operator's share of sales through links, which comes out of it", "no puede ser menor que la parte del operador en las ventas por enlace, que sale de ahí"),
    // Days and instants.
    ("must be a timestamp such as 2026-11-21T02:13:00.000Z", "tiene que ser una fecha con hora, como 2026-11-21T02:13:00.000Z"),
    ("must be a date and time as in RFC 3339, for example 2026-11-21T02:13:00.000Z", "tiene que ser una fecha con hora, como 2026-11-21T02:13:00.000Z"),
    ("must be a date such as 2026-11-21", "tiene que ser un día, como 2026-11-21"),
    ("must be a date of the calendar as YYYY-MM-DD", "tiene que ser un día del calendario, como 2026-11-21"),
    ("must not be after `to`", "es posterior a «Hasta»"),
    ("must be before endDate", "tiene que ser anterior al final"),
    ("must not stand beside startDate", "no va junto con el comienzo"),
    ("must be at most {} days before the end of to", "queda más de {} días antes de «Hasta»"),
    ("must not be in the future in Caracas", "es un día que todavía no llega en Caracas"),
    ("must not be in the future", "no puede estar en el futuro"),
    ("must not be more than 30 days ago", "no puede tener más de 30 días"),
    ("must be in the future", "tiene que estar en el futuro"),
    ("must be the partition that it is in: an account with live mode does not move",
        "tiene que ser la partición en la que está: una cuenta con modo real no se mueve"),
    ("must be a partition of this cluster", "tiene que ser una partición de este clúster"),
    ("must lie ahead, 30 days at most", "tiene que estar en el futuro, a 30 días como máximo"),
    ("must not lie ahead; only official rates of the dollar have days to come", "no puede estar en el futuro: solo las tasas oficiales del dólar tienen días por venir"),
    ("must leave the test clock before the year 9000", "el reloj de prueba no llega al año 9000"),
    // People, phones and accounts.
    ("must be an identity document: V, E, J, P or G and 5 to 9 digits, for example V12345678", "es V, E, J, P o G y de 5 a 9 números: V12345678"),
    ("must be a Venezuelan mobile phone: 0412, 0414, 0416, 0422, 0424 or 0426 and 7 digits, for example 04141234567", "es un celular venezolano, 0412, 0414, 0416, 0422, 0424 o 0426 y 7 números: 04141234567"),
    ("must be a Colombian mobile phone: 10 digits that start with 3, with or without +57, for example 3001234567", "es un celular colombiano, 10 números que empiezan por 3: 3001234567"),
    ("must be a phone such as +58 212 555 0101", "es un teléfono como +58 212 555 0101"),
    ("must be an e-mail address such as ventas@tienda.example", "es un correo como ventas@tienda.example"),
    ("must be an e-mail address", "tiene que ser un correo"),
    ("must be a RIF such as J-12345678-9", "es un RIF como J-12345678-9"),
    ("must have 3 to 20 letters, digits or dashes", "lleva de 3 a 20 letras, números o guiones"),
    ("must be a bank code of 4 digits, for example 0134", "es el código de un banco, de 4 números: 0134"),
    ("must be a bank code as a number, for example 134", "es el código de un banco como número: 134"),
    ("must be a bank that takes credits; see GET /v1/banks", "ese banco no recibe pagos; elige otro"),
    ("must be a bank that offers immediate debit; see GET /v1/banks", "ese banco no tiene débito inmediato; elige otro"),
    ("must be a bank that offers C2P; see GET /v1/banks", "ese banco no tiene C2P; elige otro"),
    ("must be a bank that offers Pago Móvil; see GET /v1/banks", "ese banco no tiene Pago Móvil; elige otro"),
    ("must be the number of a bank that offers Pago Móvil; see GET /v1/banks", "ese banco no tiene Pago Móvil; elige otro"),
    ("must be one of C2P, PAGO_MOVIL, DEBIT, CREDIT", "tiene que ser uno de: C2P, PAGO_MOVIL, DEBIT, CREDIT"),
    ("must be one of read, collect, payout, convert, manage, keys", "tiene que ser uno de: read, collect, payout, convert, manage, keys"),
    ("must not be later than the end of the key that asks", "no puede ser después del fin de la llave que lo pide"),
    ("must not be on a key with the scope keys", "una llave con el permiso keys no lleva mandato"),
    ("must be the id of a merchant, an account, a phone or the address of a wallet", "es el id de un vendedor, una cuenta, un teléfono o la dirección de una billetera"),
    ("is required of a key that may only make keys", "falta: una llave que solo crea llaves tiene que decir qué podrá hacer la nueva"),
    ("must be a bank account of 20 digits with both check digits right", "es una cuenta de 20 números, y sus dígitos de control no cuadran: revísala"),
    ("must be an account of a known bank", "esa cuenta no es de un banco conocido"),
    ("must be an account number of 5 to 20 digits", "es una cuenta de 5 a 20 números"),
    ("must have 20 digits", "lleva 20 números, sin espacios ni guiones"),
    ("must have 4 to 20 digits", "lleva de 4 a 20 números"),
    ("must have 6 to 8 digits", "lleva de 6 a 8 números"),
    ("must have 4 to 8 digits", "lleva de 4 a 8 números"),
    ("must be a string of {} to {} digits", "lleva de {} a {} números"),
    ("must be a string of {} digits", "lleva {} números"),
    ("is required with bankCode", "falta: va junto con el banco"),
    ("is required with phone", "falta: va junto con el teléfono"),
    ("no payout method exists; add one with POST /v1/merchants/:id/payout-methods", "el vendedor no tiene cómo recibir pagos; agrégale uno"),
    ("is no tenant's", "no es de ningún comercio"),
    ("is not one by which this channel knows a buyer", "con este canal el comprador no se identifica así"),
    // Cards.
    ("must have 13 to 19 digits", "lleva de 13 a 19 números"),
    ("is not a card number: a digit is wrong", "no es un número de tarjeta: hay un dígito mal"),
    ("must have 3 digits: only American Express has 4", "lleva 3 números: solo American Express lleva 4"),
    ("must have 3 or 4 digits", "lleva 3 o 4 números"),
    ("is over: the card has expired", "ya pasó: la tarjeta venció"),
    ("is not a card token of this account in this mode", "no es el token de una tarjeta de esta cuenta en este modo"),
    ("is not a quote of this session", "no es un precio de esta sesión"),
    // Networks.
    ("must be a TRON address: T and 33 characters of base58 with a right checksum", "no es una dirección de TRON: cópiala de nuevo, completa"),
    ("must be 0x and 40 hexadecimal digits", "es 0x y 40 dígitos hexadecimales: cópiala de nuevo, completa"),
    ("has a wrong checksum (EIP-55); copy it anew, or write it in lower case", "tiene un carácter mal: cópiala de nuevo, completa"),
    ("must be the address's own", "tiene que ser el de la dirección"),
    // Products, links and webhooks.
    ("must be 1: this link sells one at a time", "es 1: este enlace vende de a uno"),
    ("must be at least 1 and at most the link's maxQuantity", "es 1 como mínimo, y el máximo lo pone el enlace"),
    ("must have 3 to 64 characters of a-z, 0-9 and dash", "lleva de 3 a 64 caracteres: letras minúsculas sin acentos, números y guiones"),
    ("must be an http or https URL of at most {} characters", "es una dirección http o https de hasta {} caracteres"),
    ("must be an https URL in live mode", "en modo real es una dirección https"),
    ("must be an https address, or http to loopback", "es una dirección https, o http a este mismo equipo"),
    ("must be an https address", "tiene que ser una dirección https"),
    ("must not hold a user or a password", "no puede llevar usuario ni contraseña"),
    ("must not have port 0", "no puede llevar el puerto 0"),
    ("must not lead to a loopback, private or otherwise special address", "no puede llevar a una red privada ni a este mismo equipo"),
    ("must be an origin such as https://shop.example in lower case and without a path; http is for loopback alone", "es un origen como https://shop.example, en minúsculas y sin ruta"),
    ("must be a data URI of a PNG, JPEG or WebP in base64, of at most 12288 characters", "es una imagen PNG, JPEG o WebP como data URI en base64, de hasta 12288 caracteres"),
    // Rates.
    ("must be two currencies of 3 to 5 letters, for example USDT/VES", "son dos monedas de 3 a 5 letras: USDT/VES"),
    ("must be 1 to 32 letters, digits, dashes, dots or underscores", "lleva de 1 a 32 letras, números, guiones, puntos o guiones bajos"),
    ("must be a price of at least 0.00005 with at most 8 decimals", "es un precio de 0.00005 o más, con hasta 8 decimales y con punto"),
    ("must be a price, as a string or a number", "tiene que ser un precio, con punto para los decimales"),
    ("is not clear: write it without a sign for thousands, such as 4100, and three decimals with a zero more", "no está claro: escríbelo sin signo de miles, por ejemplo 4100, y si lleva tres decimales, con un cero más"),
    ("is required with pinnedUntil", "falta: una tasa fija lleva motivo"),
    ("is for a price with pinnedUntil alone", "solo va con «Fija hasta»"),
    // Keys.
    ("has to name one at least", "marca al menos uno"),
    // Operators.
    ("is required with this outcome", "hace falta con el resultado elegido"),
    ("does not go with this outcome", "es del otro resultado: déjalo vacío, o cambia el resultado"),
    ("does not go with `all`", "no va cuando se aceptan todas"),
    ("is required without `all`", "falta: di cuáles, o acéptalas todas"),
    ("is searched for deposits by this deployment; such a tenant cannot move yet", "este servidor le busca depósitos: todavía no se puede mudar"),
    ("waits for its payer or for a bank", "espera a su pagador o a un banco"),
    // A bank's statement.
    ("must have a header", "tiene que llevar el encabezado"),
    ("must have at most {} lines", "lleva hasta {} renglones"),
    ("must be CSV in UTF-8 or Windows-1252", "tiene que ser un CSV en UTF-8 o Windows-1252"),
    ("must close the quote that line {} opens", "tiene que cerrar las comillas que abre el renglón {}"),
    ("must have every quote inside a quoted cell twice", "dentro de una celda entre comillas, cada comilla va dos veces"),
    ("must be one column only", "es una sola columna"),
    ("is a required column", "falta esta columna"),
    ("must have as many cells as the header", "no tiene tantas celdas como el encabezado"),
    ("{} must be a day as YYYY-MM-DD", "{}: es un día como 2026-11-21"),
    ("{} must have 1 to 64 digits and nothing else", "{}: lleva de 1 a 64 números y nada más"),
    ("{} must have two decimals, such as 1250.00, and be above zero", "{}: lleva dos decimales con punto, como 1250.00, y es mayor que cero"),
    ("{} must be credit or debit", "{}: es credit o debit"),
    ("the amounts differ", "los montos no son iguales"),
    ("the line answers an operation without an outcome", "el renglón responde por una operación sin resultado"),
    ("several operations without an outcome are like the line", "varias operaciones sin resultado se parecen al renglón"),
    // After those that begin like it.
    ("must be at least {}", "es {} como mínimo"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_the_spanish_too() {
        let of = |english| spanish(english).unwrap_or_default();
        assert_eq!(of("must have 3 to 64 characters"), "tiene que llevar de 3 a 64 caracteres");
        assert_eq!(of("must have 64 characters"), "tiene que llevar 64 caracteres");
        assert_eq!(of("must be one of VES, COP"), "tiene que ser uno de: VES, COP");
        assert_eq!(of("must be a whole number from 1 to 9"), "tiene que ser un número entero, de 1 a 9");
        assert_eq!(spanish("must be anything else"), None);
    }

    #[test]
    fn every_row_is_reached_and_has_the_holes_of_its_english() {
        for (english, words) in FAULTS {
            let holes = |text: &str| text.matches("{}").count();
            assert_eq!(holes(english), holes(words), "{english}");
            let text = (1..=holes(english))
                .fold((*english).to_owned(), |text, n| text.replacen("{}", &n.to_string(), 1));
            let expected = (1..=holes(words))
                .fold((*words).to_owned(), |text, n| text.replacen("{}", &n.to_string(), 1));
            assert_eq!(spanish(&text), Some(expected), "{english}");
        }
    }
}
