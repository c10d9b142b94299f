//! What payouts would do, before anybody confirms them: what the API shows of the call that the confirmation makes
//! (`docs/contract.md, 1.17`).

use super::{Here, may, waits};
use crate::language::Language;
use crate::pages::confirm;
use crate::pages::inside::Refused;
use crate::pages::show::{self, str_of};
use crate::pages::view::{Block, Cell, Fact, Note, Row, Tone};
use crate::pages::words::words;
use domain::platform::Scope;
use hyper::Method;
use serde_json::Value;

/// A balance, its figures, and how the amounts of its currency are written.
pub struct Money {
    balance: &'static str,
    figures: [&'static str; 3],
    code: &'static str,
    decimals: u32,
}

pub const BOLIVARES: Money = Money {
    balance: "/v1/balance",
    figures: ["availableVes", "heldVes", "ledgerNetVes"],
    code: "Bs",
    decimals: 2,
};
pub const PESOS: Money = Money {
    balance: "/v1/cop/balance",
    figures: ["availableCop", "heldCop", "ledgerNetCop"],
    code: "COP",
    decimals: 0,
};

pub struct Rehearsed {
    /// What the call would answer.
    pub body: Value,
    shown: Value,
    /// The balance as it is; nothing for a key that may not read it.
    before: Option<Value>,
    money: &'static Money,
}

impl Rehearsed {
    pub async fn of(visit: &Here<'_>, path: &str, body: &Value, once: &str) -> Result<Rehearsed, Refused> {
        Rehearsed::in_money(visit, &BOLIVARES, path, body, once).await
    }

    pub async fn in_money(
        visit: &Here<'_>,
        money: &'static Money,
        path: &str,
        body: &Value,
        once: &str,
    ) -> Result<Rehearsed, Refused> {
        let before = match may(visit, Scope::Read) {
            true => Some(visit.inside.get(money.balance).await?),
            false => None,
        };
        let mut shown = visit.inside.rehearse(Method::POST, path, Some(body), once).await?;
        Ok(Rehearsed { body: shown["body"].take(), shown, before, money })
    }

    /// Whether the payout was made before, so that nothing more would come of it. Of a call that would wait nothing
    /// comes either, but there is no payout.
    pub fn is_done(&self) -> bool {
        let moves = !self.listed("movements").is_empty() || !self.listed("orders").is_empty();
        self.body["payoutId"].is_string() && !moves
    }

    /// Whether a person would have to approve the call first.
    pub fn would_wait(&self) -> bool {
        waits(&self.body)
    }

    fn listed(&self, name: &str) -> &[Value] {
        self.shown[name].as_array().map_or(&[], Vec::as_slice)
    }

    pub fn blocks(&self, language: Language) -> Vec<Block> {
        if self.would_wait() {
            let text = language.say(
                "Una persona tiene que aprobarlo: si confirmas, espera esa aprobación y hasta entonces no se \
                 mueve dinero.",
                "A person has to approve it: if you confirm, it waits for that approval and no money moves \
                 until then.",
            );
            return vec![Note::new(Tone::Warning, text).into()];
        }
        let mut blocks = Vec::new();
        if let Some(before) = &self.before {
            let heads = [
                language.say("Saldo", "Balance"),
                language.say("Ahora", "Now"),
                language.say("Después", "Then"),
            ];
            let caption = language.say("Tu saldo antes y después", "Your balance before and after");
            let figure = |of: &Value, name: &str| Cell::figure(language.figure(&show::text(&of[name])));
            let rows = self.money.figures.map(|name| {
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
            let held: Vec<String> = holds.iter().map(|hold| show::text(&hold["amount"])).collect();
            let held = self.amount(language, held.iter().map(String::as_str));
            let label = language.say("Quedaría retenido", "Would be held");
            blocks.push(vec![Fact::new("held", label, Cell::text(held))].into());
        }
        let caption = language.say("Órdenes al banco", "Orders to the bank");
        let heads = [
            language.say("Orden", "Order"),
            language.say("Cuántas", "How many"),
            language.say("Monto", "Amount"),
        ];
        let table = show::headed(language, caption, heads).rows(self.orders(language)).field("orders");
        blocks.extend([Block::Heading(caption.to_owned()), table.into()]);
        blocks
    }

    /// Each movement, also those of a seller's balance.
    pub fn movements(&self, language: Language) -> Vec<Block> {
        let moves = serde_json::json!({ "movements": self.shown["movements"] });
        confirm::figures(language, &moves)
    }

    fn amount<'t>(&self, language: Language, amounts: impl IntoIterator<Item = &'t str>) -> String {
        format!("{} {}", self.money.code, language.amount(total(amounts), self.money.decimals))
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
                Cell::text(words(language, kind)).with_sub(words(language, rail)),
                Cell::figure(amounts.len().to_string()),
                Cell::figure(self.amount(language, amounts)),
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

/// Of amounts of a currency, in its smallest unit.
pub fn total<'t>(amounts: impl IntoIterator<Item = &'t str>) -> i64 {
    let hundredths = |text: &str| text.replacen('.', "", 1).parse().ok();
    amounts.into_iter().filter_map(hundredths).fold(0, i64::saturating_add)
}
