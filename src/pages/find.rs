//! The one search: what a text leads to, by kind, with state and amount. A text that is an amount is looked for
//! among the newest payments and payouts too, and one that begins a name among what the site has by name. While
//! somebody types, documents and phones are not looked for: each such search counts, and operators' are in the audit.

use crate::pages::inside::{Refused, with_query};
use crate::pages::show::{self, items, str_of};
use crate::pages::site::Visit;
use crate::pages::view::{self, Block, Cell, Page, Row};
use crate::pages::words::words;
use api::query;
use api::search::sought::Sought;
use api::value::{AMOUNT_MINOR_MAX, cents};
use serde_json::{Value, json};

const AMOUNTS: &str = "10";
/// Digits that are typed of an amount before payments of it are looked for: every shop has some of a few bolívares,
/// and each list is walked for it.
const DIGITS_MIN: usize = 3;

pub struct Finds<'a> {
    pub search: &'static str,
    /// Lists that an amount is looked for in: the kind of what they list, and the member that is its id.
    pub lists: &'a [(&'static str, &'static str, &'static str)],
    /// The page of something.
    pub place: fn(&str, &str) -> Option<String>,
    /// What has a name that the text is in, as the search shows what it finds.
    pub named: Vec<Value>,
    /// Cells of the site's own beside those of every find.
    pub more: &'a [&'static str],
}

pub async fn page<W>(visit: &Visit<'_, W>, finds: Finds<'_>) -> Result<Page, Refused> {
    let asked = visit.query.text("q");
    let page = Page::new("search", visit.say("Búsqueda", "Search"));
    if asked.is_empty() {
        return Ok(page.text(visit.say("Escribe arriba qué buscas.", "Type above what you are looking for.")));
    }
    let query = with_query("?", &[("q", asked)]);
    let sought = query::read(Some(query.trim_start_matches(['?', '&'])), Sought::read);
    let (typed, may_be_person) = (visit.is_by_script(), sought.is_ok_and(|sought| sought.may_be_person()));
    let mut found = finds.named.clone();
    let people = if typed { "false" } else { "" };
    let hits = visit.inside.get(&with_query(finds.search, &[("q", asked), ("people", people)])).await?;
    found.extend(items(&hits).iter().cloned());
    let amount = visit.language.typed(asked, 2);
    if is_amount(asked, &amount) {
        for (kind, list, id) in finds.lists {
            let bounds = [("minAmount", &*amount), ("maxAmount", &*amount), ("limit", AMOUNTS)];
            // What one list refuses takes nothing from what was found.
            if let Ok(Some(listed)) = visit.inside.find(&with_query(list, &bounds)).await {
                found.extend(items(&listed).iter().map(|item| of_listed(kind, id, item)));
            }
        }
    }
    let mut blocks = grouped(visit, &finds, found);
    if typed && may_be_person {
        let text = visit.say(
            "Presiona Enter para buscar también documentos y teléfonos.",
            "Press Enter to look for documents and phones, too.",
        );
        blocks.push(Block::Text(text.to_owned()));
    } else if blocks.is_empty() {
        blocks.push(Block::Text(visit.say("No se encontró nada.", "Nothing was found.").to_owned()));
    }
    let html = view::html(&blocks, &visit.writing())?;
    Ok(page.with(Block::Written(format!("<div class=\"found\">{html}</div>"))))
}

/// As the API reads amounts: a phone and a bank's reference with zeros before it are none.
fn is_amount(typed: &str, plain: &str) -> bool {
    let digits = typed.bytes().filter(u8::is_ascii_digit).count();
    digits >= DIGITS_MIN && cents(plain).is_some_and(|minor| (1..=AMOUNT_MINOR_MAX).contains(&minor))
}

/// An item of a list as the search shows what it finds.
fn of_listed(kind: &str, id: &str, item: &Value) -> Value {
    const AMOUNTS: [(&str, &str); 5] = [
        ("amountCop", "COP"),
        ("amountUsdt", "USDT"),
        ("vesAmount", "VES"),
        ("monto", "VES"),
        ("usdAmount", "USD"),
    ];
    let amount = AMOUNTS.into_iter().find(|(name, _)| !item[*name].is_null());
    let (amount, currency) =
        amount.map_or((Value::Null, ""), |(name, currency)| (item[name].clone(), currency));
    json!({
        "kind": kind, "id": item[id], "status": item["status"], "amount": show::text(&amount), "currency": currency,
        "createdAt": item["createdAt"], "why": "amount", "tenantId": item["tenantId"], "mode": item["mode"],
        "externalRef": item["externalRef"],
    })
}

/// A table per kind, in the order in which the first of each was found; each thing once.
fn grouped<W>(visit: &Visit<'_, W>, finds: &Finds<'_>, found: Vec<Value>) -> Vec<Block> {
    let language = visit.language;
    let mut kinds: Vec<(String, Vec<Value>)> = Vec::new();
    for item in found {
        let kind = str_of(&item, "kind").to_owned();
        let at = kinds.iter().position(|(known, _)| *known == kind).unwrap_or(kinds.len());
        if at == kinds.len() {
            kinds.push((kind, Vec::new()));
        }
        let group = &mut kinds[at].1;
        if !group.iter().any(|known| known["id"] == item["id"]) {
            group.push(item);
        }
    }
    let names = [&["id", "status", "amount", "createdAt"][..], finds.more, &["why"]].concat();
    let asked = visit.query.text("q");
    let is_reference = |item: &Value| item["why"] == "externalRef";
    let row = |item: &Value| {
        let cell = |name: &&str| match *name {
            "why" => Cell::text(words(
                language,
                if item["why"] == "externalRef" { "reference" } else { str_of(item, "why") },
            )),
            "amount" if !str_of(item, "amount").is_empty() => {
                Cell::money(language, str_of(item, "amount"), str_of(item, "currency"))
            }
            "id" => match item["name"]
                .as_str()
                .or(item["externalRef"].as_str())
                .or(is_reference(item).then_some(asked))
            {
                Some(name) => Cell::text(name).copying(str_of(item, "id")),
                None => Cell::id(str_of(item, "id")),
            },
            name => visit.cell(item, name),
        };
        let mut row = Row::new(names.iter().map(cell).collect::<Vec<_>>()).status(str_of(item, "status"));
        row.cells[0].href = (finds.place)(str_of(item, "kind"), str_of(item, "id"));
        row
    };
    let table = |(kind, items): (String, Vec<Value>)| {
        let caption = words(language, &kind).to_owned();
        let heads = names.iter().map(|name| match *name {
            "id" => "",
            "why" => visit.say("Por", "By"),
            name => words(language, name),
        });
        let heads: Vec<&str> =
            heads.map(|head| if head.is_empty() { caption.as_str() } else { head }).collect();
        let table = show::headed(language, caption.clone(), heads).rows(items.iter().map(row));
        let many = format!("{kind}s");
        let plural = Some(words(language, &many)).filter(|plural| *plural != many).unwrap_or(&caption);
        [Block::Heading(format!("{plural} ({})", items.len())), Block::Table(table)]
    };
    kinds.into_iter().flat_map(table).collect()
}
