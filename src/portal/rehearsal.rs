//! What payouts would do, before anybody confirms them: what the API shows of the call that the confirmation makes
//! (`docs/contract.md, 1.17`).

use super::{Here, may};
use crate::language::Language;
use crate::pages::inside::Refused;
use crate::pages::show::{self, str_of};
use crate::pages::view::{Block, Cell, Fact, Row};
use crate::pages::words::words;
use domain::platform::Scope;
use hyper::Method;
use serde_json::Value;

const BALANCE: &str = "/v1/balance";
const FIGURES: [&str; 3] = ["availableVes", "heldVes", "ledgerNetVes"];

pub struct Rehearsed {
    /// What the call would answer.
    pub body: Value,
    shown: Value,
    /// The balance as it is; nothing for a key that may not read it.
    before: Option<Value>,
}

impl Rehearsed {
    pub async fn of(visit: &Here<'_>, path: &str, body: &Value, once: &str) -> Result<Rehearsed, Refused> {
        let before = match may(visit, Scope::Read) {
            true => Some(visit.inside.get(BALANCE).await?),
            false => None,
        };
        let mut shown = visit.inside.rehearse(Method::POST, path, Some(body), once).await?;
        Ok(Rehearsed { body: shown["body"].take(), shown, before })
    }

    /// Whether the call was made before, so that nothing would come of it.
    pub fn is_done(&self) -> bool {
        self.listed("movements").is_empty() && self.listed("orders").is_empty()
    }

    fn listed(&self, name: &str) -> &[Value] {
        self.shown[name].as_array().map_or(&[], Vec::as_slice)
    }

    pub fn blocks(&self, language: Language) -> Vec<Block> {
        let mut blocks = Vec::new();
        if let Some(before) = &self.before {
            let heads = [
                language.say("Saldo", "Balance"),
                language.say("Ahora", "Now"),
                language.say("Después", "Then"),
            ];
            let caption = language.say("Tu saldo antes y después", "Your balance before and after");
            let figure = |of: &Value, name: &str| Cell::figure(language.figure(str_of(of, name)));
            let rows = FIGURES.map(|name| {
                Row::new([
                    Cell::text(words(language, name)),
                    figure(before, name),
                    figure(&self.shown["balance"], name),
                ])
            });
            let table = show::headed(language, caption, heads).rows(rows).field("balances");
            blocks.extend([Block::Heading(caption.to_owned()), table.into()]);
        }
        let holds = self.listed("holds");
        if !holds.is_empty() {
            let held = language.amount(total(holds.iter().map(|hold| str_of(hold, "amount"))), 2);
            let label = language.say("Quedaría retenido (Bs)", "Would be held (Bs)");
            blocks.push(vec![Fact::new("held", label, Cell::text(held))].into());
        }
        let caption = language.say("Órdenes al banco", "Orders to the bank");
        let heads = [
            language.say("Orden", "Order"),
            language.say("Cuántas", "How many"),
            language.say("Monto (Bs)", "Amount (Bs)"),
        ];
        let table = show::headed(language, caption, heads).rows(self.orders(language)).field("orders");
        blocks.extend([Block::Heading(caption.to_owned()), table.into()]);
        blocks
    }

    /// One row for all orders of a kind to a rail.
    fn orders(&self, language: Language) -> Vec<Row> {
        let mut kinds: Vec<((&str, &str), Vec<&str>)> = Vec::new();
        for order in self.listed("orders") {
            let (of, amount) = ((str_of(order, "kind"), str_of(order, "rail")), str_of(order, "amount"));
            match kinds.iter_mut().find(|(known, _)| *known == of) {
                Some((_, amounts)) => amounts.push(amount),
                None => kinds.push((of, vec![amount])),
            }
        }
        let row = |((kind, rail), amounts): ((&str, &str), Vec<&str>)| {
            Row::new([
                Cell::text(words(language, kind)).with_sub(rail),
                Cell::figure(amounts.len().to_string()),
                Cell::figure(language.amount(total(amounts), 2)),
            ])
        };
        kinds.into_iter().map(row).collect()
    }
}

pub fn nothing_yet(language: Language) -> &'static str {
    language.say(
        "Todavía no se pagó nada. Esto es lo que pasaría si confirmas ahora.",
        "Nothing has been paid yet. This is what would happen if you confirm now.",
    )
}

/// Of amounts in bolívares, in hundredths.
pub fn total<'t>(amounts: impl IntoIterator<Item = &'t str>) -> i64 {
    let hundredths = |text: &str| text.replacen('.', "", 1).parse().ok();
    amounts.into_iter().filter_map(hundredths).fold(0, i64::saturating_add)
}
