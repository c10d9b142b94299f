//! The guides in a browser: whom they keep out, and what their script does.

use crate::browser::{Browser, DESKTOP};
use crate::harness::server::Server;

/// A telephone, a tablet, and a screen that has room for the page's table of contents; by day and by night.
const SCREENS: [(u32, bool); 6] =
    [(320, false), (768, true), (1440, false), (320, true), (768, false), (1440, true)];

/// Each page on one screen in each language, light in the one and dark in the other; all pages on all screens would
/// take six times as long.
#[test]
fn every_guide_is_open_to_all() {
    let server = Server::start();
    let browser = Browser::open(DESKTOP);
    for (language, shift) in [("es", 0), ("en", 3)] {
        browser.goto(&format!("{}/docs/{language}", server.url()));
        let pages =
            browser.script("return [...document.querySelectorAll('#guides a')].map((link) => link.href)");
        let pages = pages.as_array().expect("a list").clone();
        assert!(pages.len() > 30, "{pages:?}");
        let more = ["search?q=webhook", "search?q=xyzzy", "errors/insufficient_balance"];
        let more = more.map(|page| format!("{}/docs/{language}/{page}", server.url()));
        let pages = pages.iter().map(|page| page.as_str().expect("an address").to_owned()).chain(more);
        for (at, page) in pages.enumerate() {
            let (width, dark) = SCREENS[(at + shift) % SCREENS.len()];
            browser.screen(width, dark);
            browser.goto(&page);
            let wide = browser.script("return document.documentElement.scrollWidth > innerWidth");
            assert_eq!(wide, false, "{page} is wider than {width}");
            browser.assert_open_to_all();
        }
    }
    browser.assert_at_home(&server.url());
}

#[test]
fn the_script_remembers_a_language_and_copies_its_program() {
    let server = Server::start();
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}/docs/en/c2p", server.url()));
    browser.click("[role=tab][data-language=python]");
    browser.goto(&format!("{}/docs/en/quick-start", server.url()));
    // Every example that has the language shows it.
    let others = browser.script("return [...document.querySelectorAll('.example')].filter((one) => one.querySelector('[data-language=python]') && one.querySelector('[aria-selected=true]').dataset.language !== 'python').length");
    assert_eq!(others, 0);
    browser.script(
        "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }",
    );
    let copied = |button: &str| {
        browser.script(&format!("window.copied = undefined; {button}.click()"));
        browser.wait_until("return window.copied !== undefined");
        browser.script("return window.copied").as_str().expect("a text").to_owned()
    };
    let whole = "document.querySelector('.program .copy + .copy')";
    assert_eq!(browser.text(".program .copy + .copy"), "Copy the whole program");
    let program = copied(whole);
    assert!(program.starts_with("import") || program.starts_with("from"), "{program}");
    assert!(!program.contains("pip install") && program.contains("except"), "{program}");
    let one = copied("document.querySelector('.example.program .copy')");
    assert!(program.starts_with(&one) && program.len() > 3 * one.len(), "{one}");
    browser.click(".program [role=tab][data-language=sh]");
    let program = copied(whole);
    assert!(program.starts_with("curl") && !program.contains("import"), "{program}");
    browser.assert_at_home(&server.url());
}

#[test]
fn a_telephone_has_the_contents_of_a_page_at_its_top_and_closed() {
    let server = Server::start();
    let browser = Browser::open(DESKTOP);
    browser.screen(390, false);
    browser.goto(&format!("{}/docs/es/webhooks", server.url()));
    let above = browser.script(
        "const top = (one) => document.querySelector(one).getBoundingClientRect().top;
         return top('h1') < top('aside summary') && top('aside summary') < top('main h2');",
    );
    assert_eq!(above, true);
    assert_eq!(browser.script("return document.querySelector('aside details').open"), false);
    browser.click("aside summary");
    browser.click("aside li:nth-child(3) a");
    assert!(browser.address().contains("/docs/es/webhooks#"), "{}", browser.address());
    // The menu shows where the page is in it.
    browser.click(".menu");
    browser.find("#guides [aria-current]");
    let seen = browser.script(
        "const box = document.querySelector('#guides [aria-current]').getBoundingClientRect();
         return box.top > 0 && box.bottom < innerHeight;",
    );
    assert_eq!(seen, true);
    browser.screen(1440, false);
    browser.goto(&format!("{}/docs/es/c2p", server.url()));
    browser.find("aside a");
}

/// What people look for in the reference, in English and in Spanish, and a call that they find.
const SOUGHT: [(&str, &str, &str); 52] = [
    ("refundCopPayment", "refund", "reintegro"),
    ("refundCopPayment", "partial refund", "reembolso"),
    ("refundCopPayment", "refnd", "devolusion"),
    ("refundCopPayment", "how do I refund a payment?", "¿cómo hago un reembolso?"),
    ("reversePayment", "reverse", "reverso"),
    ("requestC2p", "cédula", "cédula"),
    ("chargeDebit", "cedula", "CEDULA"),
    ("listChargebacks", "chargeback", "contracargo"),
    ("listChargebacks", "chargback", "contracrago"),
    ("closeTestChargeback", "dispute", "disputa"),
    ("createWebhook", "webhook", "notificación"),
    ("rotateWebhookSecret", "signature", "firma"),
    ("listDeliveries", "deliveries", "entregas"),
    ("resendEvent", "resend", "reenviar"),
    ("createPaymentLink", "payment link", "enlace de pago"),
    ("createProduct", "product", "producto"),
    ("createCheckoutSession", "checkout", "sesión de cobro"),
    ("createCheckoutSession", "hosted page", "página de pago"),
    ("createInstantPayout", "withdrawal", "retiro"),
    ("giveChange", "change", "vuelto"),
    ("startVerification", "micro-deposits", "microdepósitos"),
    ("createPayoutBatch", "batch", "lote"),
    ("registerMerchant", "seller", "vendedor"),
    ("getBalance", "balance", "saldo"),
    ("createConversion", "hold", "retención"),
    ("listMovements", "movements", "movimientos"),
    ("getStatement", "statement", "estado de cuenta"),
    ("createConversionQuote", "quote", "cotización"),
    ("createConversion", "conversion", "conversión"),
    ("getLatestRate", "exchange rate", "tasa de cambio"),
    ("getReceipt", "receipt", "comprobante"),
    ("chargeCard", "card", "tarjeta"),
    ("chargeDebit", "debit", "débito inmediato"),
    ("verifyPagoMovil", "pago movil", "pago móvil"),
    ("verifyPagoMovil", "transfer", "transferencia"),
    ("createCopPayment", "pesos", "pesos"),
    ("createCopPayment", "nequi", "nequi"),
    ("createCryptoPayout", "wallet", "billetera"),
    ("createDepositAddress", "deposit address", "dirección de depósito"),
    ("createKey", "API key", "llave"),
    ("revokeKey", "revoke", "revocar"),
    ("createKey", "mandate", "mandato"),
    ("approveCall", "approval", "aprobación"),
    ("createKey", "agent", "agente"),
    ("createKey", "scope", "permiso"),
    ("moveTestClock", "test clock", "reloj"),
    ("fundTestBalance", "test money", "dinero de prueba"),
    ("getIdempotencyKey", "idempotency", "clave de idempotencia"),
    ("listPayments", "by date", "por fecha"),
    ("listBanks", "banks", "bancos"),
    ("creditAccount", "bank account", "cuenta bancaria"),
    ("getHealth", "health", "salud"),
];

#[test]
fn the_reference_is_read_and_searched_in_both_languages() {
    let server = Server::start();
    let browser = Browser::open(DESKTOP);
    let open = |address: &str| {
        browser.goto(address);
        browser.find("#content .operation");
    };
    for (code, other, title) in [("en", "es", "Charge a card"), ("es", "en", "Cobrar con tarjeta")] {
        for (at, (width, dark)) in SCREENS.into_iter().enumerate() {
            browser.screen(width, dark);
            let operation = ["chargeCard", "createKey", "event-payment.completed"][at % 3];
            open(&format!("{}/docs?lang={code}#{operation}", server.url()));
            browser.find(&format!("[id='{operation}'][open] .inside"));
            let wide = browser.script("return document.documentElement.scrollWidth > innerWidth");
            assert_eq!(wide, false, "the reference is wider than {width}");
            browser.assert_open_to_all();
        }
        assert_eq!(browser.script("return document.documentElement.lang"), code);
        assert_eq!(browser.text("#chargeCard .what"), title);
        // The other language has the same call before it.
        let search = |word: &str| {
            browser.script(&format!(
                "const find = document.querySelector('#find'); find.value = {word:?};
                 find.dispatchEvent(new Event('input'));
                 return [...document.querySelectorAll('.operation:not([hidden])')].map((one) => one.id);"
            ))
        };
        let all = search("").as_array().expect("a list").len();
        for (operation, english, spanish) in SOUGHT {
            let word = if code == "en" { english } else { spanish };
            let found = search(word);
            let found = found.as_array().expect("a list");
            assert!(found.iter().any(|one| one == operation), "{word} finds {found:?}, not {operation}");
            assert!(found.len() < all, "{word} finds everything");
        }
        open(&format!("{}/docs?lang={code}", server.url()));
        browser.script("location.hash = 'chargeCard'");
        browser.click("#language a");
        browser.find("#chargeCard[open] .inside");
        browser.wait_until(&format!("return document.documentElement.lang === '{other}'"));
    }
    browser.assert_at_home(&server.url());
    // Operators have theirs in Spanish too.
    open(&format!("{}/docs?lang=es#createTenant", server.admin_url()));
    assert!(browser.text("h1").starts_with("Pasarela para operadores "), "{}", browser.text("h1"));
    browser.assert_open_to_all();
}
