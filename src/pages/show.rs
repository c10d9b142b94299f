//! Answers of an API, written for people. Objects are read as they come, so a member that the API
//! adds appears by itself.

use crate::language::Language;
use crate::pages::inside::Refused;
use crate::pages::view::{Cell, Fact, Headline, Note, Row, Table, Tone};
use crate::pages::words::{scope, words};
use api::codes::{self, Code, faults};
use api::problem::Problem;
use chrono::{DateTime, NaiveDate};
use domain::values::time::Zone;
use serde_json::Value;

pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

pub fn str_of<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_default()
}

pub fn items(of: &Value) -> &[Value] {
    of["items"].as_array().or(of.as_array()).map_or(&[], Vec::as_slice)
}

pub fn instant_ms(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp_millis())
}

/// In Caracas; what is no instant stays as it is.
pub fn instant(text: &str) -> String {
    instant_in(Zone::Caracas, text)
}

fn instant_in(zone: Zone, text: &str) -> String {
    instant_ms(text).map_or_else(|| text.to_owned(), |at| in_zone(zone, at))
}

pub fn in_caracas(unix_ms: i64) -> String {
    in_zone(Zone::Caracas, unix_ms)
}

/// To the second, with the zone where it is not that of the page.
pub fn in_zone(zone: Zone, unix_ms: i64) -> String {
    let local = written(zone, unix_ms, "%d/%m/%Y %H:%M:%S");
    match zone {
        Zone::Caracas => local,
        Zone::Bogota => format!("{local} (Bogotá)"),
        Zone::Utc => format!("{local} (UTC)"),
    }
}

fn written(zone: Zone, unix_ms: i64, form: &str) -> String {
    DateTime::from_timestamp_millis(unix_ms + zone.offset_ms())
        .map(|at| at.format(form).to_string())
        .unwrap_or_default()
}

/// As every spreadsheet reads it, whatever its language.
pub fn for_spreadsheets(zone: Zone, unix_ms: i64) -> String {
    written(zone, unix_ms, "%Y-%m-%d %H:%M:%S")
}

/// What is in pesos has the days of Bogotá, as statements have.
fn zone_of(of: &Value) -> Zone {
    let is_in_pesos = ["amountCop", "ledgerNetCop"].iter().any(|name| !of[*name].is_null());
    if is_in_pesos { Zone::Bogota } else { Zone::Caracas }
}

pub fn day(text: &str) -> String {
    NaiveDate::parse_from_str(text, "%Y-%m-%d")
        .map_or_else(|_| text.to_owned(), |day| day.format("%d/%m/%Y").to_string())
}

pub fn day_in_caracas(unix_ms: i64) -> String {
    written(Zone::Caracas, unix_ms, "%Y-%m-%d")
}

/// By what its name says of it; instants are those of Caracas.
pub fn cell(language: Language, name: &str, value: &Value) -> Cell {
    cell_in(Zone::Caracas, language, name, value)
}

/// Of what a state is said, in Spanish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gender {
    Masculine,
    Feminine,
}

/// Of what a name stands for, where somebody says of it that all are meant.
pub fn gender(name: &str) -> Gender {
    if name == "sourceCurrency" { Gender::Feminine } else { Gender::Masculine }
}

/// A state's word as what has it asks: `Activo`, of a key `Activa`. Those of several words have none to change.
pub fn agreeing(language: Language, gender: Gender, word: String) -> String {
    if language == Language::English || gender == Gender::Masculine || word.contains(' ') {
        return word;
    }
    // Money is cobrado; nothing else that is completed is.
    match word.as_str() {
        "Cobrado" => "Completada".to_owned(),
        "Todos" => "Todas".to_owned(),
        _ => word.strip_suffix('o').map_or(word.clone(), |stem| format!("{stem}a")),
    }
}

/// With the states of a row as its gender asks.
pub fn agreed(language: Language, gender: Gender, mut row: Row) -> Row {
    for cell in row.cells.iter_mut().filter(|cell| cell.status.is_some()) {
        cell.text = agreeing(language, gender, std::mem::take(&mut cell.text));
    }
    row
}

/// Likewise of facts.
pub fn agreed_facts(language: Language, gender: Gender, mut facts: Vec<Fact>) -> Vec<Fact> {
    for fact in facts.iter_mut().filter(|fact| fact.cell.status.is_some()) {
        fact.cell.text = agreeing(language, gender, std::mem::take(&mut fact.cell.text));
    }
    facts
}

/// Of what is in pesos with the instants of Bogotá, and the word for what goes back there.
pub fn member(language: Language, of: &Value, name: &str) -> Cell {
    let zone = zone_of(of);
    match &of[name] {
        Value::String(state) if zone == Zone::Bogota && state == "REVERSED" => {
            Cell::state(state, words(language, "refunded").to_owned())
        }
        Value::String(kind) if zone == Zone::Bogota && name == "type" && kind == "reversal" => {
            Cell::text(words(language, "refund"))
        }
        value => cell_in(zone, language, name, value),
    }
}

fn cell_in(zone: Zone, language: Language, name: &str, value: &Value) -> Cell {
    let plain = text(value);
    if plain.is_empty() {
        return Cell::text("—");
    }
    if let Value::Bool(is) = value {
        return Cell::text(if *is { language.say("Sí", "Yes") } else { "No" });
    }
    if name == "failureCode" {
        return Cell::text(failure(language, &plain));
    }
    if matches!(name, "scopes" | "methods" | "serves") {
        let each = value.as_array().map_or(&[][..], Vec::as_slice);
        let said = each.iter().filter_map(Value::as_str);
        let said = said.map(|one| if name == "scopes" { scope(language, one) } else { words(language, one) });
        return Cell::text(said.collect::<Vec<_>>().join(", "));
    }
    if name == "outbound" && plain == "open" {
        return Cell::text(language.say("Permitidas", "Allowed"));
    }
    if name == "cardLast4" {
        return Cell::text(format!("•••• {plain}"));
    }
    if name == "cardBrand" {
        return Cell::text(capital(&plain));
    }
    if matches!(name, "status" | "liveStatus" | "mode" | "result") {
        return Cell::state(&plain, words(language, &plain).to_owned());
    }
    if name.ends_with("At") || matches!(name, "at" | "now" | "timestamp" | "pinnedUntil" | "asOf" | "since") {
        return Cell::whole(instant_in(zone, &plain));
    }
    if name == "date" {
        return Cell::whole(day(&plain));
    }
    if matches!(
        name,
        "kind"
            | "type"
            | "why"
            | "rail"
            | "outbound"
            | "reversalType"
            | "accountType"
            | "method"
            | "role"
            | "reason"
            | "retry"
            | "signature"
            | "side"
    ) {
        return Cell::text(words(language, &plain).to_owned());
    }
    if is_money(name) || value.is_number() && name != "sequence" {
        return Cell::figure(language.figure(&plain));
    }
    if name == "id" || name.ends_with("Id") && name != "debtorId" || name.ends_with("Hash") {
        return Cell::id(plain);
    }
    if name.ends_with("Ref") {
        return Cell::code(plain);
    }
    Cell::text(plain)
}

pub fn is_money(name: &str) -> bool {
    ["Ves", "Cop", "Usd", "Usdt", "Amount"].iter().any(|end| name.ends_with(end))
        || name.starts_with("amount")
        || [
            "monto",
            "held",
            "price",
            "bcvRate",
            "rate",
            "marketRate",
            "spreadPercent",
            "applicationFeePercent",
            "copRate",
            "copMarketRate",
            "opening",
            "closing",
            "VES",
            "COP",
            "USDT",
        ]
        .contains(&name)
}

pub fn fact(language: Language, of: &Value, name: &str) -> Fact {
    let mut cell = member(language, of, name);
    cell.is_figure = false;
    Fact::new(name, words(language, name), cell)
}

pub fn facts(language: Language, of: &Value, names: &[&str]) -> Vec<Fact> {
    let is_there =
        |name: &&&str| !matches!(&of[**name], Value::Null) && of[**name] != Value::Array(Vec::new());
    names.iter().filter(is_there).map(|name| fact(language, of, name)).collect()
}

/// Of a payment or payout: its amount in its currency, and its state.
pub fn headline(language: Language, of: &Value) -> Headline {
    const AMOUNTS: [(&str, &str); 6] = [
        ("amountCop", "COP"),
        ("amountUsdt", "USDT"),
        ("vesAmount", "Bs"),
        ("amountVes", "Bs"),
        ("monto", "Bs"),
        ("usdAmount", "US$"),
    ];
    let known = AMOUNTS.iter().find(|(name, _)| !of[*name].is_null());
    let amount = known.map(|(name, code)| format!("{code} {}", language.figure(&text(&of[*name]))));
    Headline { amount: amount.unwrap_or_default(), state: member(language, of, "status") }
}

pub fn row(language: Language, of: &Value, names: &[&str]) -> Row {
    let cells: Vec<Cell> = names.iter().map(|name| cell(language, name, &of[*name])).collect();
    Row::new(cells).status(str_of(of, "status"))
}

pub fn table(language: Language, caption: impl Into<String>, names: &[&str]) -> Table {
    headed(language, caption, names.iter().map(|name| words(language, name)))
}

pub fn headed<'h>(
    language: Language,
    caption: impl Into<String>,
    heads: impl IntoIterator<Item = &'h str>,
) -> Table {
    Table {
        caption: caption.into(),
        heads: heads.into_iter().map(str::to_owned).collect(),
        none: language.say("Todavía no hay nada aquí.", "There is nothing here yet.").to_owned(),
        next_label: language.say("Más antiguos", "Older ones").to_owned(),
        ..Table::default()
    }
}

/// A code of a failure behind its words: `Fondos insuficientes (AM04)`. One that nobody knows stands alone.
pub fn failure(language: Language, code: &str) -> String {
    let known = FAILURES.iter().find(|(codes, ..)| codes.split(' ').any(|known| known == code));
    known.map_or_else(
        || code.to_owned(),
        |(_, spanish, english)| format!("{} ({code})", language.say(spanish, english)),
    )
}

/// Why a delivery did not arrive; it is kept in English.
pub fn undelivered(language: Language, english: &str) -> String {
    let spanish = match english {
        _ if language == Language::English => english,
        "the name was not found" => "el nombre del servidor no se encontró",
        "the name leads to a loopback, private or otherwise special address" => {
            "el nombre lleva a una dirección interna o especial"
        }
        "the name was not looked up: too many others do not answer" => {
            "no se buscó el nombre: otros muchos no responden"
        }
        "its certificate is not trusted" => "su certificado no es de confianza",
        "no secure connection came about" => "no se logró una conexión segura",
        "the connection was refused" => "rechazó la conexión",
        "the connection broke" => "la conexión se cortó",
        "it cannot be reached" => "no se puede llegar a él",
        "no connection came about" => "no se logró la conexión",
        "the connection broke before an answer" => "la conexión se cortó antes de la respuesta",
        _ => {
            let seconds =
                english.strip_prefix("no answer within ").and_then(|rest| rest.strip_suffix(" seconds"));
            let code = english.strip_prefix("it answered ");
            return match (seconds, code) {
                (Some(seconds), _) => format!("no respondió en {seconds} segundos"),
                (_, Some(code)) => format!("respondió {code}"),
                _ => english.to_owned(),
            };
        }
    };
    spanish.to_owned()
}

/// What the refusal means where that is known, and what is wrong with each member. The API's own
/// message is English, so that pages in Spanish have the words of its code.
pub fn refusal(language: Language, refused: &Refused) -> Note {
    let fault =
        |(field, why): &(String, String)| format!("{}: {}", words(language, field), fault(language, why));
    let mut more: Vec<String> = refused.fields.iter().map(fault).collect();
    let row = of_code(refused);
    let text = match (meaning(&refused.code), language, row) {
        (Some((spanish, english)), ..) => language.say(spanish, english).to_owned(),
        (None, Language::Spanish, Some(row)) => {
            more.push(sentence(row.es.next));
            format!("No se pudo hacer: {}.", plain(row.es.meaning))
        }
        (None, ..) => language.say("No se pudo hacer.", "It could not be done.").to_owned(),
    };
    // The fields say what is wrong with data.
    if refused.code != INVALID_DATA {
        if language == Language::English && refused.fields.is_empty() && !refused.message.is_empty() {
            more.push(refused.message.clone());
        }
        more.push(refused.code.clone());
    }
    Note { tone: Tone::Bad, text, more }
}

const INVALID_DATA: &str = "invalid_data";

/// Why an item among others was refused; the API's message is English.
pub fn reason(language: Language, code: &str, message: &str) -> String {
    let known = || codes::all().find(|known| known.name == code);
    match (language, meaning(code)) {
        (Language::English, _) if !message.is_empty() => message.to_owned(),
        (_, Some((spanish, english))) => language.say(spanish, english).to_owned(),
        (Language::Spanish, None) => known().map_or(code.to_owned(), |known| plain(known.es.meaning)),
        (Language::English, None) => code.to_owned(),
    }
}

fn of_code(refused: &Refused) -> Option<&'static Code> {
    codes::all().find(|code| code.name == refused.code && code.statuses.contains(&refused.status))
}

fn plain(text: &str) -> String {
    text.replace('`', "")
}

pub fn sentence(text: &str) -> String {
    format!("{}.", capital(&plain(text)))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

pub fn fault(language: Language, english: &str) -> String {
    match language {
        Language::English => english.to_owned(),
        Language::Spanish => faults::spanish(english).unwrap_or_else(|| "no se acepta este valor".to_owned()),
    }
}

pub fn problem(language: Language, problem: &Problem) -> String {
    match language {
        Language::English => problem.message.to_string(),
        Language::Spanish => {
            let row = codes::all()
                .find(|code| code.name == problem.code && code.statuses.contains(&problem.status));
            row.map(|row| plain(row.es.meaning)).unwrap_or_default()
        }
    }
}

/// Of the codes that people meet most, in Spanish and in English.
/// The codes of banks, of R4 (`docs/contract.md, 18`) and our own, with the same words in a row.
#[rustfmt::skip]
static FAILURES: &[(&str, &str, &str)] = &[
    ("AM04 51 insufficient_funds", "Fondos insuficientes", "Insufficient funds"),
    ("TKCM 15 55", "Clave equivocada", "Wrong key"),
    ("AB01 05 87 processing_error", "El banco no respondió a tiempo", "The bank did not answer in time"),
    ("AB07", "El banco del pagador no está disponible", "The payer's bank is not available"),
    ("AC01", "La cuenta o el teléfono no existe", "The account or phone does not exist"),
    ("AC04", "La cuenta está cerrada", "The account is closed"),
    ("AC06", "La cuenta está bloqueada", "The account is blocked"),
    ("AC09", "La moneda de la cuenta no es esta", "The account is in another currency"),
    ("AG01", "El banco no permite esta operación", "The bank does not allow this operation"),
    ("AG09", "El banco no recibió la operación", "The bank did not get the operation"),
    ("AG10", "El banco está suspendido", "The bank is suspended"),
    ("AM02 13", "El monto no se permite", "The amount is not allowed"),
    ("AM03", "La moneda no se permite", "The currency is not allowed"),
    ("AM05", "El banco la tiene por repetida", "The bank takes it for a repeat"),
    ("BE20", "El nombre es muy largo", "The name is too long"),
    ("CUST CANC DS02", "La operación se canceló", "The operation was canceled"),
    ("DT03", "No es día bancario", "It is no banking day"),
    ("DU01", "El banco ya tenía este mensaje", "The bank had this message already"),
    ("ED05 TECH VE01", "Falla técnica del banco", "A technical failure at the bank"),
    ("MD01 MBE01", "El pagador no está afiliado", "The payer is not affiliated"),
    ("MD15", "Pasa del límite del pagador", "It is more than the payer's limit"),
    ("RC08", "La compensación no conoce ese banco", "Clearing does not know this bank"),
    ("RJCT", "El banco la rechazó", "The bank rejected it"),
    ("TM01", "Fuera del horario del banco", "Outside the bank's hours"),
    ("BE01 14 56 80", "Los datos no son los del cliente", "The data are not the client's"),
    ("card_declined", "El banco rechazó la tarjeta", "The bank declined the card"),
    ("expired_card", "La tarjeta está vencida", "The card has expired"),
    ("reference_not_found", "El banco no encontró la referencia", "The bank did not find the reference"),
    ("reference_already_used", "La referencia ya pagó otra cosa", "The reference has paid for something else"),
    ("rejected", "El procesador lo rechazó", "The processor rejected it"),
    ("expired EX01", "Venció sin pagarse", "It expired unpaid"),
    ("otp_attempts_exhausted", "Demasiados códigos equivocados", "Too many wrong codes"),
    ("processor_error", "El procesador no pudo", "The processor could not"),
    ("insufficient_balance", "El saldo no alcanza", "The balance is not enough"),
];

#[rustfmt::skip]
fn meaning(code: &str) -> Option<(&'static str, &'static str)> {
    Some(match code {
        "scope_missing" => ("Tu llave no tiene permiso para esto.", "Your key is not allowed to do this."),
        "mandate_exceeded" => ("Pasa de lo que el mandato de tu llave deja salir. No se debitó nada.",
            "It is more than your key's mandate lets out. Nothing was debited."),
        "mandate_payee" => ("El mandato de tu llave no permite pagarle a ese destinatario. No se debitó nada.",
            "Your key's mandate does not allow paying this one. Nothing was debited."),
        "role_missing" => ("Tu rol no permite esto.", "Your role does not allow this."),
        "second_person_required" => ("Otra persona tiene que decidirlo: tú lo pediste, o hace menos de un día uno de los dos creó o cambió al otro.",
            "Somebody else has to decide it: you asked for it, or less than a day ago one of you made or changed the other."),
        "too_many_attempts" => ("Demasiados intentos. Espera unos minutos y vuelve a intentarlo.",
            "Too many attempts. Wait some minutes and try again."),
        "insufficient_balance" | "insufficient_funds" | "insufficient_available_balance" => ("El saldo disponible no alcanza.", "The available balance is not enough."),
        "invalid_data" => ("Revisa los datos. No se hizo nada.", "Check the data. Nothing was done."),
        "slug_taken" => ("Ese final de dirección ya es de otro enlace. Elige otro.",
            "This end of an address belongs to another link. Choose another one."),
        "not_found" => ("No existe.", "It does not exist."),
        "live_mode_not_activated" => ("El modo real todavía no está activado. Usa tu llave de prueba.",
            "Live mode is not activated yet. Use your test key."),
        "account_halted" => ("La cuenta está detenida mientras se revisa. Escríbele al operador.",
            "The account is halted while it is checked. Write to the operator."),
        "tenant_moved" => ("La cuenta se muda a otro servidor. Vuelve a intentarlo en unos minutos.",
            "The account moves to another server. Try again in a few minutes."),
        "tenant_moving" => ("La cuenta se muda a otra máquina. Vuelve a intentarlo en un momento.",
            "The account moves to another machine. Try again in a moment."),
        "external_ref_conflict" => ("Esta referencia ya se usó con otros datos. Usa otra, o busca arriba lo que ya existe.",
            "This reference was used with other data already. Use another one, or search for what exists."),
        "idempotency_key_reused" => ("Este formulario ya se envió con otros datos. Vuelve a abrir la página.",
            "This form was sent with other data already. Open the page again."),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_are_written_by_what_their_names_say() {
        let es = Language::Spanish;
        let said = |name: &str, value: Value| cell(es, name, &value).text;
        assert_eq!(said("amountVes", json!("1234.50")), "1.234,50");
        assert_eq!(said("createdAt", json!("2026-11-21T01:53:20.123Z")), "20/11/2026 21:53:20");
        assert_eq!(said("date", json!("2026-12-01")), "01/12/2026");
        let pesos = json!({ "amountCop": 50_000, "createdAt": "2026-11-21T01:53:20.123Z" });
        assert_eq!(fact(es, &pesos, "createdAt").cell.text, "20/11/2026 20:53:20 (Bogotá)");
        assert_eq!(said("livemode", json!(false)), "No");
        assert_eq!(
            (said("rate", json!("248.6750")), said("cardBrand", json!("visa"))),
            ("248,6750".into(), "Visa".into())
        );
        assert_eq!(said("scopes", json!(["read", "payout"])), "Consultar, Pagar");
        assert_eq!(said("externalRef", Value::Null), "—");
        let state = cell(es, "status", &json!("COMPLETED"));
        assert_eq!((state.text.as_str(), state.status.as_deref()), ("Cobrado", Some("COMPLETED")));
        assert_eq!(day_in_caracas(1_795_226_000_123), "2026-11-20");
    }

    #[test]
    fn a_state_agrees_with_what_has_it() {
        let of_her = |name| {
            let word = words(Language::Spanish, name).to_owned();
            agreeing(Language::Spanish, Gender::Feminine, word)
        };
        for (name, said) in [
            ("COMPLETED", "Completada"),
            ("failed", "Fallida"),
            ("open", "Abierta"),
            ("processing", "En el banco"),
            ("pending", "Pendiente"),
            ("revoked", "Revocada"),
        ] {
            assert_eq!(of_her(name), said);
        }
        assert_eq!(agreeing(Language::English, Gender::Feminine, "Who".into()), "Who");
        assert_eq!(agreeing(Language::Spanish, Gender::Masculine, "Abierto".into()), "Abierto");
    }
}
