//! The settings of a tenant as a form: a field for each, and of what is sent only what differs from what the page
//! showed goes to the API, so that a page that was left open takes nothing back that somebody else changed since.

use super::Here;
use crate::pages::inside::Refused;
use crate::pages::view::{Form, Input};
use crate::pages::words::words;
use api::problem::Problem;
use serde_json::{Map, Value, json};

/// Before the names of their inputs.
const NAMED: &str = "settings.";
/// The member that brings back the settings as the page showed them, by their dotted names: one for all, as a form has
/// only so many members.
const SHOWN: &str = "shown";
const SHOWN_BYTES_MAX: usize = 32 << 10;
/// Shops set these themselves.
const OF_THE_SHOP: [&str; 2] = ["shop.logo", "shop.pagoMovil"];

/// Each setting with its dotted name.
fn leaves(prefix: &str, of: &Value, found: &mut Map<String, Value>) {
    for (name, value) in of.as_object().into_iter().flatten() {
        let dotted = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            _ if OF_THE_SHOP.contains(&dotted.as_str()) => {}
            Value::Object(_) => leaves(&dotted, value, found),
            _ => _ = found.insert(dotted, value.clone()),
        }
    }
}

fn read_shown(text: &str) -> Option<Map<String, Value>> {
    if text.len() > SHOWN_BYTES_MAX {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The decimals of an amount or a percentage; none of what is no such number.
fn decimals(name: &str, text: &str) -> Option<usize> {
    if is_in_pesos(name) {
        return Some(0);
    }
    let (whole, fraction) = text.split_once('.')?;
    let is_number = [whole, fraction].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    is_number.then_some(fraction.len())
}

fn is_in_pesos(name: &str) -> bool {
    name == "conversions.dailyLimit.COP"
}

/// How a setting is shown in its field.
fn written(visit: &Here<'_>, name: &str, value: &Value) -> String {
    match value {
        Value::Array(each) => each.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::String(text) if decimals(name, text).is_some() => visit.language.figure(text),
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

pub fn form(visit: &Here<'_>, to: String, settings: &Value) -> Form {
    // After a refusal what is typed is still compared with what the page showed first.
    let sent = read_shown(visit.typed(&to, SHOWN));
    let is_sent = sent.is_some();
    let found = sent.unwrap_or_else(|| {
        let mut found = Map::new();
        leaves("", settings, &mut found);
        found
    });
    let say = |spanish, english| visit.say(spanish, english);
    let form = Form::new(&*to, "set-settings", say("Guardar", "Save")).title(say("Ajustes", "Settings")).about(say(
        "Se cambia solo lo que cambies aquí. Rige desde la próxima llamada; lo que ya se pidió queda con lo de antes.",
        "Only what you change here is changed. It holds from the next call on; what was asked for keeps what was before.",
    ));
    let form = form.hidden(SHOWN, Value::Object(found.clone()).to_string());
    found.iter().fold(form, |form, (name, value)| {
        let input = format!("{NAMED}{name}");
        let typed = if is_sent { visit.typed(&to, &input) } else { "" };
        let shown = if typed.is_empty() { written(visit, name, value) } else { typed.to_owned() };
        let label = words(visit.language, name).to_owned();
        form.input(match value {
            Value::Bool(_) => {
                let choices = [("true", say("Sí", "Yes")), ("false", say("No", "No"))];
                Input::choice(input, label, choices, shown)
            }
            Value::Array(_) => Input::new(input, label)
                .value(shown)
                .hint(say("Separados por comas.", "Divided by commas."))
                .optional(),
            Value::Null => Input::new(input, label).value(shown).optional(),
            _ => Input::new(input, label).value(shown),
        })
    })
}

/// What the form changes of the settings that its page showed.
pub fn changes(visit: &Here<'_>) -> Result<Value, Refused> {
    let unreadable = || Problem::invalid_field(SHOWN, "is not as the page showed it; open the page again");
    let shown = read_shown(visit.form.text(SHOWN)).ok_or_else(unreadable)?;
    let mut changed = json!({});
    for (name, value) in &shown {
        let Some(typed) = visit.form.get(&format!("{NAMED}{name}")) else { continue };
        let new = read(visit, name, value, typed);
        if new != *value {
            put(&mut changed, name, new);
        }
    }
    Ok(changed)
}

/// As the API has it; what cannot be read is sent as it was typed, to be refused by its name.
fn read(visit: &Here<'_>, name: &str, before: &Value, typed: &str) -> Value {
    match before {
        Value::Bool(_) => json!(typed == "true"),
        Value::Array(_) => typed.split(',').map(str::trim).filter(|text| !text.is_empty()).collect(),
        Value::Number(_) => typed.parse::<i64>().map_or(typed.into(), Value::from),
        _ if typed.is_empty() => Value::Null,
        // Left as it was shown.
        Value::String(_) if written(visit, name, before) == typed => before.clone(),
        Value::String(text) => match decimals(name, text) {
            Some(decimals) => visit.language.typed(typed, decimals).into(),
            None => typed.into(),
        },
        _ if is_in_pesos(name) => visit.language.typed(typed, 0).into(),
        _ if name.ends_with("Max") || name.contains("Limit") => visit.language.typed(typed, 2).into(),
        _ => typed.into(),
    }
}

fn put(into: &mut Value, name: &str, value: Value) {
    let mut place = into;
    for part in name.split('.') {
        if !place[part].is_object() && !place[part].is_null() {
            place[part] = Value::Object(Map::new());
        }
        place = &mut place[part];
    }
    *place = value;
}
