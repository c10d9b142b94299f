//! Accents and case make no difference, nor does a letter that is wrong; a word finds those that
//! begin with it or mean the same. Every word has to be found, of a question those that are known and half of all.

use crate::guides::contents::Source;
use crate::guides::render::{Rendered, Section};
use crate::guides::words::{self, Sought, Term};
use crate::language::Language;
use deunicode::deunicode;

const CHARACTERS_MAX: usize = 128;
/// After the text is folded: one character may be a sentence.
const WORDS_MAX: usize = 12;
const WORD_MAX: usize = 64;
const SHOWN_MAX: usize = 30;
/// What a word that is not there takes from the score.
const LACKING: usize = 300;
/// Its length, and what of it stands before the word, in characters.
const EXCERPT: (usize, usize) = (200, 60);

struct Part {
    text: String,
    words: Vec<String>,
}

struct Entry {
    path: String,
    name: &'static str,
    page: String,
    title: Part,
    prose: Part,
    code: Part,
    is_first: bool,
}

pub struct Index(Vec<Entry>);

#[derive(Debug, PartialEq, Eq)]
pub struct Found<'a> {
    pub path: &'a str,
    pub page: &'a str,
    pub title: &'a str,
    /// Before the first word, the word, after it.
    pub excerpt: (String, String, String),
}

fn words(text: &str) -> Vec<String> {
    let plain = deunicode(text).to_lowercase();
    plain
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn sought_words(text: &str) -> Vec<String> {
    let text: String = text.chars().take(CHARACTERS_MAX).collect();
    let words = words(&text).into_iter().filter(|word| word.len() <= WORD_MAX);
    words.take(WORDS_MAX).collect()
}

impl Index {
    pub fn new(language: Language, pages: Vec<(&Source, Rendered)>) -> Index {
        Index(pages.into_iter().flat_map(|(source, page)| entries(source, language, page)).collect())
    }

    /// The best first: where a word is in the heading, then where it is said most.
    pub fn find(&self, sought: &str) -> Vec<Found<'_>> {
        // Of a call as the reference names it the path is sought.
        let sought = match sought.trim().split_once(' ') {
            Some((method, path)) if is_method(method) && path.trim_start().starts_with('/') => path,
            _ => sought,
        };
        let sought =
            words::sought(sought_words(sought), || Box::new(self.0.iter().flat_map(Entry::vocabulary)));
        let [first, ..] = &sought.terms[..] else { return Vec::new() };
        let mut found: Vec<(usize, &Entry)> =
            self.0.iter().filter_map(|entry| Some((entry.score(&sought)?, entry))).collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.truncate(SHOWN_MAX);
        found.into_iter().map(|(_, entry)| entry.found(first)).collect()
    }
}

fn is_method(word: &str) -> bool {
    ["GET", "POST", "PUT", "PATCH", "DELETE"].iter().any(|method| method.eq_ignore_ascii_case(word))
}

fn entries(source: &Source, language: Language, page: Rendered) -> Vec<Entry> {
    let (path, title) = (source.path(language), page.title().to_owned());
    let entry = |(at, section): (usize, Section)| Entry {
        path: if section.anchor.is_empty() { path.clone() } else { format!("{path}#{}", section.anchor) },
        name: source.name,
        page: title.clone(),
        title: Part { words: words(&section.title), text: section.title },
        prose: in_one_line(&section.prose),
        code: in_one_line(&section.code),
        is_first: at == 0,
    };
    page.sections.into_iter().enumerate().map(entry).collect()
}

impl Entry {
    fn vocabulary(&self) -> impl Iterator<Item = &str> {
        [&self.title, &self.prose, &self.code].into_iter().flat_map(|part| &part.words).map(String::as_str)
    }

    /// `None` if too many of the words are not in the section.
    fn score(&self, Sought { terms, is_question }: &Sought) -> Option<usize> {
        let (mut lacks, mut score) = (0, 0);
        for term in terms {
            let count = |Part { words, .. }: &Part| {
                (0..words.len()).filter(|at| term.length_at(&words[*at..]).is_some()).count()
            };
            let (in_title, in_prose, in_code) =
                (count(&self.title).min(1), count(&self.prose), count(&self.code));
            if in_title + in_prose + in_code == 0 {
                lacks += 1;
                if term.is_known || !is_question || lacks > terms.len() / 2 {
                    return None;
                }
                continue;
            }
            // The place that explains a word comes before those that merely use it.
            let heading = if self.is_first { 400 } else { 200 };
            let about = if term.page == Some(self.name) { 1000 } else { 0 };
            score += about + in_title * heading + in_prose.min(15) * 10 + in_code.min(5);
        }
        Some(score.saturating_sub(lacks * LACKING))
    }

    fn found(&self, term: &Term) -> Found<'_> {
        let (prose, code) = (&*self.prose.text, &*self.code.text);
        let found = [prose, code].into_iter().find_map(|text| place(text, term));
        let (before, word, after) = found.unwrap_or(("", "", prose));
        let left_out = before.chars().count().saturating_sub(EXCERPT.1);
        let start: String = before.chars().skip(left_out).collect();
        // It begins and ends with a whole word.
        let start = match start.split_once(' ') {
            Some((_, whole)) if left_out > 0 => whole.to_owned(),
            _ => start,
        };
        let room = EXCERPT.0.saturating_sub(start.chars().count() + word.chars().count());
        let rest: String = after.chars().take(room).collect();
        let is_cut = rest.len() < after.len();
        let rest =
            if is_cut { rest.rsplit_once(' ').map_or(&*rest, |(whole, _)| whole).to_owned() } else { rest };
        let excerpt = (
            if left_out > 0 { format!("… {start}") } else { start },
            word.to_owned(),
            if is_cut { format!("{rest} …") } else { rest },
        );
        Found { path: &self.path, page: &self.page, title: &self.title.text, excerpt }
    }
}

fn in_one_line(text: &str) -> Part {
    Part { text: text.split_whitespace().collect::<Vec<_>>().join(" "), words: words(text) }
}

/// What stands before the first word or name that is sought, it, and what is after it.
fn place<'t>(text: &'t str, term: &Term) -> Option<(&'t str, &'t str, &'t str)> {
    let (mut places, mut words, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(begin) = text[at..].find(char::is_alphanumeric).map(|begin| at + begin) {
        let length = text[begin..].find(|c: char| !c.is_alphanumeric());
        at = length.map_or(text.len(), |length| begin + length);
        places.push((begin, at));
        words.push(deunicode(&text[begin..at]).to_lowercase());
    }
    let (first, length) = (0..words.len()).find_map(|at| Some((at, term.length_at(&words[at..])?)))?;
    let (begin, end) = (places[first].0, places[first + length - 1].1);
    Some((&text[..begin], &text[begin..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guides::{contents, render};

    fn index(language: Language) -> Index {
        let page = |source: &'static Source| (source, render::page(language, source.document(language)));
        Index::new(language, contents::pages().map(page).collect())
    }

    #[test]
    fn words_of_the_domain_are_found_in_both_languages() {
        for (language, sought) in [
            (Language::Spanish, "cédula"),
            (Language::Spanish, "cedula"),
            (Language::Spanish, "reintegro"),
            (Language::Spanish, "Débito inmediato"),
            (Language::Spanish, "contracargos"),
            (Language::Spanish, "webhooks"),
            (Language::English, "refund"),
            (Language::English, "webhook"),
            (Language::English, "chargebacks"),
            (Language::English, "AM04"),
        ] {
            let index = index(language);
            let found = index.find(sought);
            assert!(!found.is_empty(), "{sought}");
            assert!(found.iter().all(|one| one.path.starts_with(&format!("/docs/{}", language.code()))));
        }
    }

    #[test]
    fn what_is_marked_is_what_was_sought() {
        for (language, sought, marked) in [
            (Language::English, "link", &["link"][..]),
            (Language::Spanish, "enlace", &["enlace", "link"]),
            (Language::English, "checkout", &["checkout", "page", "iframe", "embed", "marco"]),
            (Language::Spanish, "llave", &["llave", "clave", "key"]),
            (Language::English, "sandbox", &["sandbox", "prueba", "test", "mock"]),
        ] {
            for found in index(language).find(sought) {
                let word = found.excerpt.1.to_lowercase();
                let is_sought = word.is_empty() || marked.iter().any(|one| word.contains(one));
                assert!(is_sought, "{sought}: {word} in {}", found.path);
            }
        }
        // A name is its words beside each other, not anywhere in the section.
        let is_named = |words: &str| {
            let term = Term {
                stems: Vec::new(),
                names: vec![vec!["test".into(), "mode".into()]],
                page: None,
                is_known: true,
            };
            place(words, &term).map(|(_, name, _)| name.to_owned())
        };
        assert_eq!(is_named("Mode: in Test mode"), Some("Test mode".to_owned()));
        assert_eq!(is_named("a test of this mode"), None);
    }

    #[test]
    fn other_words_for_a_thing_and_a_wrong_letter_find_its_page_first() {
        let indices = [index(Language::Spanish), index(Language::English)];
        for (page, asked) in [
            (
                "cop",
                &["refund", "devolución", "devolucion", "reembolso", "reembolzo", "refnd", "devolusion"][..],
            ),
            ("card", &["chargeback", "contracargo", "contracargos", "chargback", "contracrago"]),
            (
                "links",
                &["payment link", "enlace de pago", "enlaces de pago", "paymnet link", "enlase de pago"],
            ),
            ("payouts", &["payout", "retiro", "dispersión", "dispersion", "payuot", "retirro", "dispercion"]),
            (
                "webhooks",
                &["webhook", "webhooks", "notificación", "notificaciones", "webook", "notificasion"],
            ),
            ("testing", &["sandbox", "pruebas", "sandbx", "prueva", "modo de prueba"]),
            ("authentication", &["API key", "api keys", "llave", "clave", "clabe", "llave de API"]),
        ] {
            for (index, language) in indices.iter().zip(["es", "en"]) {
                for sought in asked {
                    let found = index.find(sought);
                    let path = found.first().map_or("nothing", |one| one.path);
                    let (path, wanted) = (path.split('#').next(), format!("/docs/{language}/{page}"));
                    assert_eq!(path, Some(&*wanted), "{sought}");
                }
            }
        }
    }

    /// What people type who come from another gateway. Each is typed in the other language too, and without accents.
    const TYPED: [(&str, &str, &str); 105] = [
        ("sdks", "install", "instalar"),
        ("sdks", "pip", "pip"),
        ("sdks", "npm", "npm"),
        ("sdks", "composer", "composer"),
        ("sdks", "TypeScript", "TypeScript"),
        ("sdks", "SDK", "SDK"),
        ("sdks", "library", "librería"),
        ("mcp", "agent", "agente"),
        ("mcp", "Claude", "MCP"),
        ("agent-budget", "budget", "presupuesto"),
        ("agent-budget", "mandate", "mandato"),
        ("authentication", "authentication", "autenticación"),
        ("authentication", "rotate", "rotar"),
        ("authentication", "rotate key", "rotar llave"),
        ("authentication", "API key", "llave de API"),
        ("pagination", "pagination", "paginación"),
        ("pagination", "next page", "página siguiente"),
        ("pagination", "cursor", "cursor"),
        ("idempotency", "idempotency", "idempotencia"),
        ("versions", "version", "versión"),
        ("versions", "changelog", "historial de cambios"),
        ("limits", "rate limit", "límite de peticiones"),
        ("limits", "limits", "límites"),
        ("pci", "PCI", "PCI DSS"),
        ("amounts", "decimals", "decimales"),
        ("going-live", "production", "producción"),
        ("going-live", "live mode", "modo real"),
        ("conversions", "exchange rate", "tasa de cambio"),
        ("portal", "dashboard", "panel"),
        ("cop", "partial refund", "reintegro parcial"),
        ("cop", "refund", "reembolso"),
        ("card", "chargeback", "contracargo"),
        ("card", "dispute", "disputa"),
        ("payouts", "payout", "retiro"),
        ("links", "payment link", "enlace de pago"),
        ("webhooks", "webhook", "notificación"),
        ("webhooks", "signature", "firma"),
        ("testing", "sandbox", "pruebas"),
        ("testing", "test cards", "tarjetas de prueba"),
        ("statements", "statement", "estado de cuenta"),
        ("", "retry", "reintento"),
        ("", "timeout", "sin respuesta"),
        ("", "marketplace", "marketplace"),
        ("", "split payment", "repartir"),
        ("", "balance", "saldo"),
        ("", "fees", "comisión"),
        ("", "currency", "moneda"),
        ("", "QR", "QR"),
        ("", "bank codes", "código del banco"),
        ("", "error codes", "códigos de error"),
        ("", "receipt", "comprobante"),
        ("", "CSV export", "exportar CSV"),
        ("", "batch", "lote"),
        ("", "OpenAPI", "OpenAPI"),
        ("sdks", "proxy", "proxy"),
        ("sdks", "logging", "logging"),
        ("statements", "reconciliation", "conciliación"),
        ("authentication", "apikey", "apikey"),
        ("idempotency", "double charge", "cobro doble"),
        ("idempotency", "duplicate", "duplicado"),
        ("", "header", "encabezado"),
        ("", "headers", "cabecera"),
        ("sdks", "Python", "Python"),
        ("sdks", "nodejs", "JavaScript"),
        ("sdks", "swagger", "Postman"),
        ("sdks", "logs", "registro"),
        ("authentication", "authentification", "autentificación"),
        ("authentication", "password", "contraseña"),
        ("authentication", "permissions", "permisos"),
        ("card", "credit card", "tarjeta de crédito"),
        ("pago-movil", "pagomovil", "pago movil"),
        ("payouts", "settlement", "liquidación"),
        ("cop", "partial refnd", "rembolso parcial"),
        ("c2p", "void", "anular"),
        ("conversions", "exchnage rate", "taza de cambio"),
        ("usdt", "stablecoin", "Tether"),
        ("versions", "release notes", "versiones"),
        ("limits", "throttle", "cuota"),
        ("going-live", "go live", "pasar a producción"),
        ("sellers", "split", "dividir"),
        ("statements", "spreadsheet", "Excel"),
        ("checkout", "embed", "iframe"),
        ("checkout", "hosted page", "página de pago"),
        ("", "pricing", "tarifa"),
        ("webhooks", "webhook signature", "firma del webhook"),
        ("testing", "test card", "tarjeta de prueba"),
        ("card", "3ds", "3-D Secure"),
        ("support", "support", "soporte"),
        ("treasury", "treasury", "tesorería"),
        ("accounting", "accounting", "contabilidad"),
        ("quick-start", "windows", "WSL"),
        ("testing", "environment", "entorno"),
        ("testing", "test environment", "entorno de pruebas"),
        ("testing", "time travel", "viaje en el tiempo"),
        ("c2p", "cancel", "cancelar"),
        ("c2p", "cancellation", "cancelación"),
        ("c2p", "void", "anulación"),
        ("finding", "look up a payment", "consultar pago"),
        ("c2p", "clave de pago", "clave de pago"),
        ("c2p", "list banks", "lista de bancos"),
        ("c2p", "list of banks", "código de banco"),
        ("errors", "insufficient balance", "saldo insuficiente"),
        ("index", "subscription", "suscripción"),
        ("index", "recurring", "zelle"),
        ("index", "biopago", "biopago"),
    ];

    #[test]
    fn a_call_is_found_by_its_method_and_path() {
        let index = index(Language::English);
        for (path, sought) in [
            ("c2p", "POST /v1/payments/c2p"),
            ("payouts", "post /v1/payouts/account/verify"),
            ("going-live", "GET /v1/payment-methods"),
        ] {
            let found = index.find(sought);
            let wanted = format!("/docs/en/{path}");
            assert!(
                found.iter().any(|one| one.path.split('#').next() == Some(&*wanted)),
                "{sought}: {found:?}"
            );
        }
    }

    #[test]
    fn excerpts_begin_and_end_with_a_whole_word() {
        let index = index(Language::English);
        for found in index.find("balance") {
            let (before, _, after) = &found.excerpt;
            let entry = index.0.iter().find(|entry| entry.path == found.path).expect("the section");
            let whole = |part: &str| {
                [&entry.prose.text, &entry.code.text]
                    .iter()
                    .any(|text| format!(" {text} ").contains(&format!(" {part} ")))
            };
            if let Some(before) = before.strip_prefix("… ") {
                assert!(before.is_empty() || whole(before.split(' ').next().unwrap_or_default()), "{before}");
            }
            if let Some(after) = after.strip_suffix(" …") {
                assert!(after.is_empty() || whole(after.rsplit(' ').next().unwrap_or_default()), "{after}");
            }
        }
    }

    #[test]
    fn whole_questions_are_answered() {
        let indices = [index(Language::English), index(Language::Spanish)];
        let mut wrong = Vec::new();
        for (page, english, spanish) in [
            ("cop", "how do I refund a payment", "¿cómo hago un reembolso?"),
            ("c2p", "how can I void a payment?", "cómo devuelvo un pago"),
            ("webhooks", "how do I verify a webhook signature", "cómo verifico la firma de un webhook"),
            ("authentication", "where do I get an API key?", "¿dónde consigo una llave de API?"),
            ("going-live", "how do I go live", "cómo paso a producción"),
            ("sdks", "how do I install the SDK", "cómo instalo el SDK"),
            ("testing", "which test cards are there?", "¿qué tarjetas de prueba hay?"),
            ("conversions", "what is the exchange rate", "cuál es la tasa de cambio"),
            ("idempotency", "how do I avoid a double charge", "cómo evito un cobro doble"),
            ("links", "how do I create a payment link", "cómo creo un enlace de pago"),
            (
                "payouts",
                "how do I make a payout to a bank account",
                "cómo hago un retiro a una cuenta bancaria",
            ),
            (
                "",
                "how do I get notified when a payment completes",
                "cómo me entero de que un cobro se completó",
            ),
            ("", "what happens if the bank does not answer", "qué pasa si el banco no responde"),
            ("", "where do I see my balance", "dónde veo mi saldo"),
        ] {
            let plain = deunicode(spanish);
            for (index, code, asked) in [(0, "en", english), (1, "es", spanish), (1, "es", &*plain)] {
                let first = indices[index].find(asked).first().map_or("nothing", |one| one.path);
                let at = format!("/docs/{code}/{page}");
                if !first.starts_with(&at) {
                    wrong.push(format!("{asked}: {first}, not {at}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn what_people_type_is_found() {
        let indices = [index(Language::English), index(Language::Spanish)];
        let mut wrong = Vec::new();
        for (page, english, spanish) in TYPED {
            let plain = deunicode(spanish);
            for (index, code, typed) in [
                (0, "en", english),
                (1, "es", spanish),
                (1, "es", &*plain),
                (0, "en", spanish),
                (1, "es", english),
            ] {
                let found = indices[index].find(typed);
                let first = found.first().map_or("nothing", |one| one.path);
                // A word of the other language need not be known; one of the table is.
                let is_other = (code == "en") != (typed == english);
                let is_right = if page.is_empty() {
                    is_other || !found.is_empty()
                } else {
                    let at = if page == "index" {
                        format!("/docs/{code}")
                    } else {
                        format!("/docs/{code}/{page}")
                    };
                    first.split('#').next() == Some(&*at) || (is_other && found.is_empty())
                };
                if !is_right {
                    wrong.push(format!("{code} {typed}: {first}, not {page}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn a_search_is_for_few_words_however_much_one_character_says() {
        let folded = |text: &str| sought_words(text).len();
        assert_eq!(folded(&"\u{FDFA}".repeat(128)), WORDS_MAX);
        assert_eq!(folded(&"a ".repeat(4_096)), WORDS_MAX);
        assert_eq!(folded("débito inmediato"), 2);
        assert_eq!(folded(&"x".repeat(128)), 0, "no word is that long");
    }

    #[test]
    fn what_is_nowhere_is_not_found() {
        let index = index(Language::Spanish);
        for sought in ["xyzzy", "", "   ", "¿?", "webhook xyzzy"] {
            assert_eq!(index.find(sought), [], "{sought}");
        }
    }

    #[test]
    fn the_page_about_a_thing_comes_first_and_shows_where_it_is_said() {
        let index = index(Language::English);
        let found = index.find("WEBHOOK");
        assert_eq!(found[0].path, "/docs/en/webhooks");
        assert!(found[0].excerpt.1.to_lowercase().starts_with("webhook"), "{:?}", found[0].excerpt);
        let index = self::index(Language::Spanish);
        // What asks the payer for it, not the many calls that send it.
        let found = index.find("cédula");
        assert!(
            found[..3].iter().any(|one| one.path == "/docs/es/c2p#qué-pedirle-al-comprador"),
            "{found:?}"
        );
        assert!(index.find("reintegro")[0].path.starts_with("/docs/es/cop#reintegro"));
    }
}
