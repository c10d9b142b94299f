//! API keys of the tenant in the mode of the visitor's own: which there are, and a new one in the place
//! of the visitor's.

use super::{Here, Made, may, own_keys};
use crate::pages::show::{self, Gender, str_of};
use crate::pages::site::Shown;
use crate::pages::view::{self, Cell, Input, Page, Row, Tone};
use crate::pages::words::{overlaps, scope, words};
use api::problem::Problem;
use domain::platform::{ApiKey, Scope};
use domain::values::time::Timestamp;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub async fn page(visit: &Here<'_>) -> Made {
    if !may(visit, Scope::Read) && !may(visit, Scope::Keys) {
        return Err(Problem::scope_missing(Scope::Read.name()).into());
    }
    let (own, now) = (&visit.who.key, visit.services.now());
    let keys = own_keys(visit).await?;
    let row = |(key, used): &(Arc<ApiKey>, Option<Timestamp>)| {
        let state = if key.works_at(now) { "active" } else { "revoked" };
        let said = words(visit.language, state).to_owned();
        let said = show::agreeing(visit.language, Gender::Feminine, said);
        let instant = |at: Option<Timestamp>| {
            Cell::text(at.map_or("—".to_owned(), |at| show::in_caracas(at.unix_ms())))
        };
        let scopes: Vec<&str> = key.scopes.iter().map(|one| scope(visit.language, one.name())).collect();
        let own = visit.say("con la que entraste", "the one you logged in with");
        let mine = if key.id == visit.who.key.id { own } else { "" };
        let agent = key.details.mandate.as_ref().and_then(|mandate| mandate.agent.as_deref());
        let words = [key.details.name.as_deref(), agent, Some(mine)].into_iter().flatten();
        let words: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
        Row::new([
            Cell::code(format!("{}…", key.prefix)).with_sub(words.join(" · ")),
            Cell::text(scopes.join(", ")),
            Cell::state(state, said),
            instant(Some(key.created_at)),
            instant(*used),
            instant(key.ends_at()),
        ])
        .status(state)
    };
    let table = visit.table(
        ["Llaves de API", "API keys"],
        "Llave, Permisos, Estado, Creada, Último uso, Termina",
        "Key, Scopes, State, Created, Last use, Ends",
    );
    let table = table.rows(keys.iter().map(row));
    let mut page = Page::new("keys", visit.say("Llaves de API", "API keys")).maybe(visit.done()).with(table);
    if may(visit, Scope::Keys) {
        page = page.with(creation(visit));
    }
    // Who is bound makes no key, nor another in the place of its own.
    let is_bound = own.details.mandate.is_some();
    Ok(if may(visit, Scope::Manage) && !is_bound { page.with(rotation(visit)) } else { page })
}

/// The amounts of a mandate, by the names of their inputs: what each bounds, and its currency.
#[rustfmt::skip]
const AMOUNTS: [(&str, [&str; 2]); 12] = [
    ("perCall.VES", ["Máximo por llamada, Bs", "Maximum per call, Bs"]),
    ("perDay.VES", ["Máximo por día, Bs", "Maximum per day, Bs"]),
    ("perMonth.VES", ["Máximo por mes, Bs", "Maximum per month, Bs"]),
    ("approvalAbove.VES", ["Pedir aprobación desde más de, Bs", "Ask for approval above, Bs"]),
    ("perCall.USDT", ["Máximo por llamada, USDT", "Maximum per call, USDT"]),
    ("perDay.USDT", ["Máximo por día, USDT", "Maximum per day, USDT"]),
    ("perMonth.USDT", ["Máximo por mes, USDT", "Maximum per month, USDT"]),
    ("approvalAbove.USDT", ["Pedir aprobación desde más de, USDT", "Ask for approval above, USDT"]),
    ("perCall.COP", ["Máximo por llamada, pesos", "Maximum per call, pesos"]),
    ("perDay.COP", ["Máximo por día, pesos", "Maximum per day, pesos"]),
    ("perMonth.COP", ["Máximo por mes, pesos", "Maximum per month, pesos"]),
    ("approvalAbove.COP", ["Pedir aprobación desde más de, pesos", "Ask for approval above, pesos"]),
];

const HERE: &str = "/portal/keys";
const NO_SCOPES: &str = "has to name one at least";

fn creation(visit: &Here<'_>) -> view::Form {
    let say = |spanish, english| visit.language.say(spanish, english);
    let input = |name, label: &str| Input::new(name, label).value(visit.typed(HERE, name)).optional();
    let scopes = visit.who.key.scopes.without(Scope::Keys);
    let boxes = Input::boxes(
        "scopes",
        say("Permisos", "Scopes"),
        scopes.iter().map(|one| (one.name(), scope(visit.language, one.name()))),
    );
    let form = view::Form::new(HERE, "create-key", say("Crear llave", "Make the key"))
        .title(say("Nueva llave", "New key"))
        .about(say(
            "Con un máximo, a quién paga o desde cuánto pide aprobación, la llave tiene un mandato: no saca más de \
             lo que dice. De una moneda sin máximo no sale nada.",
            "With a maximum, payees or an amount above which it asks for approval, the key has a mandate and takes out no \
             more than that. Nothing goes out in a currency without a maximum.",
        ))
        .input(input("name", say("Nombre", "Name")))
        .input(boxes.value(visit.form.all("scopes").collect::<Vec<_>>().join(",")).optional())
        .input(input("agent", say("Agente: quién la tiene", "Agent: who holds it")));
    let form = AMOUNTS
        .into_iter()
        .fold(form, |form, (name, [spanish, english])| form.input(input(name, say(spanish, english))));
    let payees = input("payees", say("A quién le puede pagar", "Who may be paid"));
    form.input(payees.hint(say(
        "Ids de vendedores, teléfonos, cuentas o direcciones, separados por comas; a cualquiera si queda vacío.",
        "Ids of sellers, phones, accounts or addresses, divided by commas; anybody if it is empty.",
    )))
}

/// POST /portal/keys: the new key is on the page that answers, and nowhere else.
pub async fn create(visit: &Here<'_>) -> Result<Shown, Problem> {
    let form = &visit.form;
    let mut mandate = Map::new();
    for (name, _) in AMOUNTS {
        if let (Some(amount), Some((limit, currency))) = (form.filled(name), name.split_once('.')) {
            let is_in_pesos = currency == "COP";
            let amount = visit.language.typed(amount, if is_in_pesos { 0 } else { 2 });
            let pesos = amount.parse::<i64>().ok().filter(|_| is_in_pesos);
            let limits = mandate.entry(limit).or_insert_with(|| json!({}));
            limits[currency] = pesos.map_or_else(|| json!(amount), |pesos| json!(pesos));
        }
    }
    let payees: Vec<&str> =
        form.text("payees").split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    if !payees.is_empty() {
        mandate.insert("payees".to_owned(), json!(payees));
    }
    if let Some(agent) = form.filled("agent") {
        mandate.insert("agent".to_owned(), json!(agent));
    }
    let mut body = json!({});
    if let Some(name) = form.filled("name") {
        body["name"] = json!(name);
    }
    let scopes = form.all("scopes").flat_map(|names| names.split([',', ' '])).filter(|name| !name.is_empty());
    // Without them the API makes a key of all, which nobody asks a form for by leaving it empty.
    let scopes: Vec<&str> = scopes.collect();
    if scopes.is_empty() && may(visit, Scope::Keys) {
        let none = Problem::invalid_field("scopes", NO_SCOPES);
        return visit.failed(page(visit).await, &none.into());
    }
    body["scopes"] = json!(scopes);
    if !mandate.is_empty() {
        body["mandate"] = Value::Object(mandate);
    }
    let outcome = visit.post("/v1/keys", &body).await;
    visit.acted(outcome, |made| shown_once(visit, made), page(visit)).await
}

fn shown_once(visit: &Here<'_>, made: &Value) -> Shown {
    let note = visit.say(
        "Esta es tu llave nueva. Guárdala ahora: no se vuelve a mostrar.",
        "This is your new key. Keep it now: it is not shown again.",
    );
    let code = visit.code("newKey", ["Llave nueva", "New key"], str_of(made, "key"));
    let page = visit.secret(Page::new("keys", visit.say("Llaves de API", "API keys")), note, code);
    Shown::Page(page.with(show::facts(visit.language, made, &["name", "mode", "scopes"])))
}

fn rotation(visit: &Here<'_>) -> view::Form {
    let say = |spanish, english| visit.language.say(spanish, english);
    view::Form::new("/portal/keys/rotate", "rotate-key", say("Cambiar mi llave", "Replace my key"))
        .title(say("Cambiar la llave con la que entraste", "Replace the key that you logged in with"))
        .about(say(
            "Recibes una llave nueva con los mismos permisos. La actual deja de servir cuando elijas, y con \
             ella esta sesión.",
            "You get a new key with the same scopes. The current one stops working when you choose, and with \
             it this session.",
        ))
        .input(Input::choice(
            "overlapSeconds",
            say("La llave actual deja de servir", "The current key stops working"),
            overlaps(visit.language),
            "3600",
        ))
        .tone(Tone::Bad)
}

/// POST /portal/keys/rotate: the new key is on the page that answers, and nowhere else.
pub async fn rotate(visit: &Here<'_>) -> Result<Shown, Problem> {
    let overlap: i64 = visit.form.text("overlapSeconds").parse().unwrap_or(0);
    let outcome = visit.post("/v1/pages/keys/rotate", &json!({ "overlapSeconds": overlap })).await;
    visit.acted(outcome, |made| shown_once(visit, made), page(visit)).await
}
