//! The words of the pages, in Spanish and English.

pub use crate::language::Language;

impl Language {
    pub const fn words(self) -> &'static Words {
        match self {
            Language::Spanish => &SPANISH,
            Language::English => &ENGLISH,
        }
    }
}

macro_rules! words {
    ($($name:ident: $spanish:literal, $english:literal;)*) => {
        pub struct Words {
            $(
                #[doc = $english]
                pub $name: &'static str,
            )*
        }

        const SPANISH: Words = Words { $($name: $spanish,)* };
        const ENGLISH: Words = Words { $($name: $english,)* };
    };
}

words! {
    title: "Pagar a", "Pay";
    skip: "Ir al contenido", "Skip to content";
    test_mode: "Modo de prueba: no se mueve dinero real", "Test mode: no real money moves";
    pay_to: "Pago a", "Payment to";
    order: "Pedido", "Order";
    total: "Total", "Total";
    in_bolivares: "A la tasa oficial del BCV", "At the official BCV rate";
    rate_bcv: "Tasa del BCV", "BCV rate";
    value_date: "fecha valor", "value date";
    choose: "¿Cómo quieres pagar?", "How would you like to pay?";
    c2p: "Banco venezolano", "Venezuelan bank";
    c2p_hint: "Pago móvil C2P", "C2P mobile payment";
    pago_movil: "Pago Móvil", "Pago Móvil transfer";
    pago_movil_hint: "Envíalo tú y escribe la referencia", "Send it yourself and type its reference";
    card: "Tarjeta", "Card";
    card_hint: "Crédito o débito", "Credit or debit";
    cop: "Pesos colombianos", "Colombian pesos";
    cop_hint: "QR, app o SMS", "QR, app or SMS";
    usdt: "USDT", "USDT";
    usdt_hint: "Desde tu billetera", "From your wallet";
    unavailable: "No disponible ahora", "Not available now";
    nothing_offered: "Ahora no se puede pagar aquí. Vuelve a intentarlo en unos minutos.",
        "You cannot pay here right now. Please try again in a few minutes.";
    step_details: "Paso 1 de 2 · Tus datos", "Step 1 of 2 · Your details";
    step_key: "Paso 2 de 2 · Tu clave", "Step 2 of 2 · Your code";
    bank: "Tu banco", "Your bank";
    bank_choose: "Elige tu banco", "Choose your bank";
    identity: "Cédula o RIF", "ID number (cédula or RIF)";
    identity_hint: "Por ejemplo, V12345678", "For example, V12345678";
    phone: "Teléfono registrado en tu banco", "Phone registered with your bank";
    phone_hint: "Por ejemplo, 04141234567", "For example, 04141234567";
    request_key: "Pedir clave por SMS", "Request the code by SMS";
    go_on: "Continuar", "Continue";
    key: "Clave de pago", "Payment code (clave)";
    key_hint: "De 6 a 8 dígitos. No es la contraseña de tu banco en línea; nunca te la pediremos.",
        "6 to 8 digits. It is not your online banking password; we will never ask for that.";
    pay: "Pagar", "Pay";
    change_details: "Cambiar mis datos", "Change my details";
    sent_sms: "Tu banco te envió la clave por SMS.", "Your bank has sent you the code by SMS.";
    how_to_key: "Cómo obtener la clave en cada banco", "How to get the code at each bank";
    exact_amount: "Monto exacto", "Exact amount";
    error_bank: "Elige tu banco de la lista.", "Choose your bank from the list.";
    error_identity: "Escribe tu cédula o RIF: una letra (V, E, J, P o G) y de 5 a 9 dígitos, por ejemplo \
        V12345678.",
        "Enter your ID number: a letter (V, E, J, P or G) and 5 to 9 digits, for example V12345678.";
    error_phone: "Escribe tu móvil venezolano: 11 dígitos que empiezan por 0412, 0414, 0416, 0422, 0424 o \
        0426, por ejemplo 04141234567.",
        "Enter your Venezuelan mobile number: 11 digits that begin with 0412, 0414, 0416, 0422, 0424 or \
         0426, for example 04141234567.";
    error_key: "La clave tiene de 6 a 8 dígitos.", "The code has 6 to 8 digits.";
    error_quantity: "Escribe un número entero de 1 a", "Enter a whole number from 1 to";
    error_summary: "Revisa los campos marcados. No se envió nada.",
        "Check the marked fields. Nothing was sent.";
    processing: "Estamos confirmando con tu banco", "We are confirming with your bank";
    processing_hint: "Puede tardar un par de minutos. No pagues de nuevo: no se te cobra dos veces.",
        "It can take a couple of minutes. Do not pay again: you are never charged twice.";
    paid: "Pago recibido", "Payment received";
    paid_hint: "Listo. Guarda este comprobante.", "All done. Keep this receipt.";
    receipt: "Comprobante", "Receipt";
    bank_reference: "Referencia del banco", "Bank reference";
    payment_number: "Número de pago", "Payment number";
    date: "Fecha (hora de Caracas, UTC−4)", "Date (Caracas time, UTC−4)";
    paid_amount: "Pagado", "Paid";
    back_to_shop: "Volver a la tienda", "Back to the shop";
    cancel: "Cancelar y volver a la tienda", "Cancel and return to the shop";
    failed: "No se pudo cobrar", "The payment did not go through";
    failed_retry: "No se te cobró nada. Puedes intentarlo de nuevo.",
        "You were not charged. You can try again.";
    failed_funds: "Tu banco dice que no hay saldo suficiente.",
        "Your bank says that there are not enough funds.";
    failed_key: "Tu banco dice que la clave no es correcta. Genera una nueva.",
        "Your bank says that the code is wrong. Create a new one.";
    failed_time: "Tu banco no respondió a tiempo.", "Your bank did not answer in time.";
    failed_superseded: "Se empezó otro intento de pago, o pasaron 15 minutos. Pide una clave nueva.",
        "Another attempt was started, or 15 minutes passed. Request a new code.";
    failed_card: "El banco emisor no aceptó la tarjeta. Prueba con otra.",
        "The card's bank did not accept it. Try another card.";
    failed_card_expired: "El banco emisor dice que la tarjeta venció.",
        "The card's bank says that the card has expired.";
    failed_not_found: "No encontramos un Pago Móvil con esos datos y por ese monto. Revísalos; si acabas de \
        enviarlo, espera unos minutos.",
        "We found no Pago Móvil with these details for this amount. Check them; if you have just sent it, \
         wait a few minutes.";
    failed_used: "Ese Pago Móvil ya pagó otra compra.",
        "This Pago Móvil has already paid for something else.";
    failed_other: "Tu banco no aceptó el pago.", "Your bank did not accept the payment.";
    expired: "Este cobro venció", "This checkout has expired";
    expired_hint: "No se te cobró nada. Pide un enlace nuevo a la tienda.",
        "You were not charged. Ask the shop for a new link.";
    not_found: "Esta página de pago no existe", "This payment page does not exist";
    not_found_hint: "Revisa el enlace, o pide uno nuevo a la tienda.",
        "Check the link, or ask the shop for a new one.";
    too_often: "Demasiados intentos", "Too many tries";
    too_often_hint: "Espera un momento y vuelve a intentarlo.", "Wait a moment and try again.";
    too_often_before: "Espera un momento: puedes volver a intentarlo en",
        "Wait a moment: you can try again in";
    too_often_after: "segundos. No se te cobró nada nuevo.", "seconds. Nothing new was charged.";
    trouble: "Algo salió mal", "Something went wrong";
    trouble_hint: "Vuelve a cargar la página.", "Reload the page.";
    trouble_wait: "Puede que lo que enviaste haya llegado.", "What you sent may have arrived.";
    unsure: "Si enviaste un pago, revisa antes de repetirlo: la página del pago dice cómo quedó. No se te \
        cobra dos veces.",
        "If you have sent a payment, check before you repeat it: the payment page says what became of it. \
         You are never charged twice.";
    see_payment: "Ver la página del pago", "See the payment page";
    offline: "Sin conexión. No se envía nada hasta que vuelva, y lo que escribiste no se pierde.",
        "You are offline. Nothing is sent until you are back online, and what you typed is not lost.";
    unknown: "Se perdió la conexión y no sabemos si tu pago llegó. Seguimos comprobándolo: puedes cerrar \
        esta página y volver luego a esta misma dirección. No se te cobra dos veces.",
        "The connection was lost and we do not know whether your payment arrived. We keep checking: you may \
         close this page and come back to this address later. You are never charged twice.";
    not_sent: "No llegó a enviarse y no se te cobró nada. Inténtalo de nuevo.",
        "It was not sent, and you were not charged. Please try again.";
    online: "Hay conexión de nuevo.", "You are online again.";
    may_close: "Puedes cerrar esta página: seguimos comprobándolo, y la tienda sabrá cómo termina. Tú lo \
        verás en esta misma dirección.",
        "You may close this page: we keep checking, and the shop will know how it ends. You will see it at \
         this same address.";
    in_progress_elsewhere: "Hay un pago en curso. Espera a que termine.",
        "A payment is under way. Wait for it to finish.";
    cannot_now: "La tienda no puede recibir este pago ahora.", "The shop cannot take this payment right now.";
    busy: "Enviando…", "Sending…";
    quantity: "Cantidad", "Quantity";
    each: "c/u", "each";
    valid_until: "Puedes pagar hasta", "You can pay until";
    secured: "Pago seguro con Pasarela", "Secure payment with Pasarela";
    rate: "Tasa", "Rate";
    in_pesos: "A la tasa del mercado + 2,5 %", "At the market rate + 2.5%";
    cop_minimum: "Desde COP 20.000", "From COP 20,000";
    channels: "¿Por dónde pagas?", "How do you pay?";
    channel_qr: "Código QR o llave", "QR code or transfer key";
    channel_qr_hint: "Escanéalo o pega la llave en la app de tu banco",
        "Scan it, or paste the transfer key in your bank's app";
    channel_push: "Aprobar en la app", "Approve in the app";
    channel_push_hint: "Te llega una notificación al teléfono", "You get a notification on your phone";
    channel_sms: "Código por SMS", "SMS code";
    channel_sms_hint: "Te enviamos un código y lo escribes aquí", "We send you a code and you type it here";
    your_details: "Tus datos", "Your details";
    sms_hint: "El código llega por SMS a este teléfono.", "The code is sent by SMS to this phone.";
    push_hint: "La notificación llega a este teléfono.", "The notification is sent to this phone.";
    other_channel: "Pagar por otro canal", "Pay by another channel";
    other_way: "Otra forma de pagar", "Another way to pay";
    email: "Correo electrónico", "E-mail";
    phone_co: "Celular colombiano", "Colombian mobile number";
    phone_co_hint: "Por ejemplo, 300 123 4567", "For example, 300 123 4567";
    document_type: "Tipo de documento", "Type of document";
    document_number: "Número de documento", "Document number";
    document_cc: "Cédula de ciudadanía", "Citizen's ID (cédula de ciudadanía)";
    document_ce: "Cédula de extranjería", "Foreigner's ID (cédula de extranjería)";
    document_ti: "Tarjeta de identidad", "Minor's ID (tarjeta de identidad)";
    document_nit: "NIT", "Tax number (NIT)";
    document_pp: "Pasaporte", "Passport";
    error_email: "Escribe tu correo electrónico, de hasta 254 caracteres, por ejemplo ana@correo.com.",
        "Enter your e-mail address, of at most 254 characters, for example ana@mail.com.";
    error_phone_co: "Escribe tu celular colombiano: 10 dígitos que empiezan por 3, por ejemplo 3001234567.",
        "Enter your Colombian mobile number: 10 digits that begin with 3, for example 3001234567.";
    error_document_type: "Elige un tipo de documento que sirva para este canal.",
        "Choose a type of document that this channel takes.";
    error_document_number: "Escribe el número de tu documento: de 3 a 20 letras, dígitos o guiones.",
        "Enter the number of your document: 3 to 20 letters, digits or dashes.";
    error_code: "Este no es el código del SMS. Inténtalo de nuevo.",
        "This is not the code from the SMS. Try again.";
    scan: "Escanea el código en la app de tu banco", "Scan the code in your bank's app";
    scan_hint: "Desde este mismo teléfono, copia la llave y pégala en la app.",
        "On this same phone, copy the transfer key and paste it in the app.";
    qr_picture: "Código QR de tu pago", "QR code of your payment";
    qr_key: "Código QR con la llave de la transferencia", "QR code of the transfer key";
    transfer_key: "Llave", "Transfer key";
    copy: "Copiar", "Copy";
    copied: "Copiado", "Copied";
    approve: "Aprueba el pago en la app de tu banco", "Approve the payment in your bank's app";
    approve_hint: "Te enviamos una notificación al", "We have sent a notification to";
    type_code: "Escribe el código que te llegó", "Type the code you received";
    type_code_hint: "Lo enviamos por SMS al", "We have sent it by SMS to";
    code: "Código del SMS", "SMS code";
    waits_pesos: "Esperamos tu pago hasta las", "We wait for your payment until";
    bogota_time: "hora de Bogotá, UTC−5", "Bogotá time, UTC−5";
    caracas_time: "hora de Caracas, UTC−4", "Caracas time, UTC−4";
    total_changed: "El total en pesos cambió. Revísalo antes de pagar.",
        "The total in pesos has changed. Check it before you pay.";
    failed_expired: "Se acabó el tiempo para pagar.", "The time to pay ran out.";
    failed_rejected: "El pago fue rechazado.", "The payment was declined.";
    failed_codes: "Hubo demasiados códigos equivocados.", "Too many codes were wrong.";
    failed_replaced: "Se empezó otro intento de pago.", "Another attempt to pay was started.";
    total_changed_bs: "El total en bolívares subió. Revísalo antes de pagar; no se te cobró nada.",
        "The total in bolívares has risen. Check it before you pay; you were not charged.";
    usdt_where: "¿Desde qué red envías?", "Which network do you send from?";
    network: "Red", "Network";
    asset: "Moneda", "Coin";
    asset_usdt: "USDT (Tether)", "USDT (Tether)";
    asset_usdc: "USDC (USD Coin)", "USDC (USD Coin)";
    show_address: "Ver la dirección", "Show the address";
    send: "Envía", "Send";
    send_only: "Envía solo", "Send only";
    send_over: "por la red", "over the network";
    send_warning: "Lo que se envía por otra red se pierde.", "What is sent over another network is lost.";
    qr_address: "Código QR con la dirección", "QR code of the address";
    address: "Dirección", "Address";
    received: "Recibido:", "Received:";
    left: "Faltan", "Left to pay:";
    waits_usdt: "Esperamos tu envío hasta el", "We wait for your transfer until";
    other_network: "Usar otra red o moneda", "Use another network or coin";
    transaction: "Transacción", "Transaction";
    expired_received: "Llegaron", "We have received";
    expired_ask: "Escríbele a la tienda para completar el pago o recuperarlos.",
        "Contact the shop to complete the payment or to get them back.";
    transfer_send: "Paso 1 de 2 · Envía el Pago Móvil", "Step 1 of 2 · Send the Pago Móvil";
    transfer_tell: "Paso 2 de 2 · Dinos cuál es", "Step 2 of 2 · Tell us which one it is";
    transfer_bank: "Banco", "Bank";
    transfer_phone: "Teléfono", "Phone";
    transfer_id: "Documento o RIF", "Document or RIF";
    reference: "Número de referencia", "Reference number";
    reference_hint: "Los últimos dígitos bastan: de 4 a 20.", "The last digits are enough: 4 to 20.";
    error_reference: "Escribe de 4 a 20 dígitos de la referencia, sin letras.",
        "Enter 4 to 20 digits of the reference, without letters.";
    transfer_date: "Día en que lo enviaste", "Day you sent it";
    error_date: "Elige un día del", "Choose a day from";
    to: "al", "to";
    transfer_verify: "Verificar mi Pago Móvil", "Verify my Pago Móvil";
    card_details: "Datos de la tarjeta", "Card details";
    card_number: "Número de la tarjeta", "Card number";
    card_expiry: "Vence", "Expires";
    card_expiry_form: "MM/AA", "MM/YY";
    card_cvv: "Código (CVV)", "Code (CVV)";
    card_name: "Nombre en la tarjeta", "Name on the card";
    holder_id: "Cédula o RIF del titular", "ID number of the cardholder";
    card_safe: "La tienda no ve tu tarjeta, y aquí no se guarda.",
        "The shop does not see your card, and it is not kept here.";
    card_use: "Usar esta tarjeta", "Use this card";
    card_used: "Tarjeta lista", "Card ready";
    needs_script: "Este formulario necesita JavaScript, y todavía no ha cargado. No se te cobró nada.",
        "This form needs JavaScript, which has not loaded yet. You were not charged.";
    card_trouble: "No se pudo enviar la tarjeta y no se te cobró nada. Inténtalo de nuevo.",
        "The card could not be sent, and you were not charged. Please try again.";
    error_card_number: "Revisa el número: de 13 a 19 dígitos, tal como está en la tarjeta.",
        "Check the number: 13 to 19 digits, as it appears on the card.";
    error_card_expiry: "Escribe el mes y el año como MM/AA; la tarjeta no puede estar vencida.",
        "Enter month and year as MM/YY; the card must not have expired.";
    error_card_cvv: "El código tiene 3 o 4 dígitos.", "The code has 3 or 4 digits.";
    error_card_name: "Escribe el nombre como está en la tarjeta, de 1 a 100 caracteres.",
        "Enter the name as it appears on the card, 1 to 100 characters.";
    not_come: "¿No te llegó?", "Didn't it arrive?";
    resend: "Enviar de nuevo", "Send again";
    resend_in: "Enviar de nuevo en", "Send again in";
    receipt_print: "Ver e imprimir", "View and print";
    receipt_save: "Guardar PDF", "Save PDF";
    receipt_share: "Compartir", "Share";
    receipt_email: "Enviar por correo", "E-mail it";
    contact_label: "Contacto de la tienda", "The shop's contact";
    contact: "¿Dudas? Escribe o llama a la tienda:", "Questions? Ask the shop:";
    tip_card: "4111111111111111 se aprueba; 4000000000000002 se rechaza, 4000000000009995 no tiene saldo.",
        "4111111111111111 is approved; 4000000000000002 is declined, 4000000000009995 has no funds.";
    tip_transfer: "cualquier referencia paga; la que termina en 0000 no se encuentra.",
        "any reference pays; one that ends in 0000 is not found.";
    tip: "Para probar", "To try it";
    tip_c2p: "cualquier clave paga; 99999999 no tiene saldo, 88888888 es incorrecta, 77777777 deja al banco \
        sin respuesta.",
        "any code pays; 99999999 has no funds, 88888888 is wrong, 77777777 leaves the bank silent.";
    tip_code: "el código es 123456.", "the code is 123456.";
    not_found_heading: "No encontramos tu Pago Móvil", "We did not find your Pago Móvil";
    used_heading: "Este Pago Móvil no sirve aquí", "This Pago Móvil cannot be used here";
    failed_waits: "Ese Pago Móvil se está buscando para otra compra, que todavía no está pagada.",
        "This Pago Móvil is being looked for on behalf of another purchase, which is not paid yet.";
    sent_not_found: "No lo envíes otra vez si ya salió de tu banco: puede estar en camino. En unos minutos \
        busca la misma referencia; si no aparece, escribe a la tienda.",
        "Do not send it again if it has left your bank: it may be on its way. In a few minutes look for the \
         same reference; if it is not found, ask the shop.";
    sent_used: "No envíes otro. Si esa compra también es tuya, mira su página; si no, escribe a la tienda.",
        "Do not send another one. If that purchase is yours too, look at its page; if not, ask the shop.";
    sent_waits: "No envíes otro. Si esa compra es tuya, termina en su página; si allí no se encuentra, en \
        unos minutos podrás buscar aquí la misma referencia.",
        "Do not send another one. If that purchase is yours, finish on its page; if it is not found there, \
         you can look for the same reference here in a few minutes.";
    transfer_sent: "Tenía que llegar aquí", "It had to arrive here";
    transfer_again: "Busca la misma referencia", "Look for the same reference";
    received_open: "Para completar el pago con ellos, elige USDT y envía lo que falta. Si pagas de otra \
        forma, escríbele a la tienda para recuperarlos.",
        "To pay with them, choose USDT and send the rest. If you pay another way, ask the shop to get them \
         back.";
    also_received: "También llegaron", "We have also received";
    also_ask: "para esta compra, que ya está pagada. Escríbele a la tienda para recuperarlos.",
        "for this purchase, which is paid already. Ask the shop to get them back.";
    returned: "Pago devuelto", "Payment returned";
    returned_hint: "El dinero volvió a quien pagó. El comprobante lo dice.",
        "The money went back to the payer. The receipt says so.";
    returned_at: "Devuelto el (hora de Caracas, UTC−4)", "Returned on (Caracas time, UTC−4)";
    returned_at_bogota: "Devuelto el (hora de Bogotá, UTC−5)", "Returned on (Bogotá time, UTC−5)";
    date_bogota: "Fecha (hora de Bogotá, UTC−5)", "Date (Bogotá time, UTC−5)";
    other_language: "English", "Español";
    other_language_code: "en", "es";
}
