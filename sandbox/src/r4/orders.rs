//! Doing what a checked call asks: the fate of an order, its entry in the books, its answer.
//!
//! Promises: R4 knows no id of ours and recognises no repetition, so each order that arrives is
//! another one. An annulment and its check are one step: a charge is given back once.

use super::answers::{key_sent, meaning, rate};
use super::books::{Entry, Order, Outcome, R4Ledger};
use super::fate::{self, Fate};
use super::fields::text;
use super::{Checked, R4};
use crate::amount;
use crate::bank::Reaction;
use crate::books::Open;
use chrono::{Datelike, FixedOffset, NaiveDate, SecondsFormat, Utc, Weekday};
use uuid::Uuid;

/// The offset of Caracas in seconds: four hours behind, all year.
const CARACAS_SECONDS: i32 = -4 * 3600;

/// Today in Caracas.
fn today() -> NaiveDate {
    let caracas = FixedOffset::east_opt(CARACAS_SECONDS).expect("an offset of less than a day");
    Utc::now().with_timezone(&caracas).date_naive()
}

/// The instant of an entry.
pub fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true)
}

impl R4 {
    /// Does what a call asks.
    pub(super) async fn perform(&self, checked: Checked) -> Reaction {
        match checked.call.name {
            "MBbcv" => self.rate_of(&checked),
            "GenerarOtp" => self.send_key(&checked),
            "ConsultarOperaciones" => self.tell(&checked).await,
            "MBanulacionC2P" => self.annul(&checked).await,
            _ => self.order(checked).await,
        }
    }

    fn rate_of(&self, checked: &Checked) -> Reaction {
        let (day, currency) = (text(&checked.fields, "Fechavalor"), text(&checked.fields, "Moneda"));
        let is_published = day
            .parse::<NaiveDate>()
            .is_ok_and(|day| day <= today() && !matches!(day.weekday(), Weekday::Sat | Weekday::Sun));
        match is_published && currency == "USD" {
            true => Reaction::new(rate(day, self.rate()), format!("{currency} of {day}")),
            false => {
                let text = format!("No existe cotizacion de {currency} para {day}");
                Reaction::new(self.answers.refusal("12", &text), text)
            }
        }
    }

    fn send_key(&self, checked: &Checked) -> Reaction {
        match fate::of(checked.call, &checked.fields) {
            Fate::Refused(code) => {
                Reaction::new(self.answers.refusal(code, meaning(code)), format!("refused {code}"))
            }
            _ => Reaction::new(key_sent(), "the key is sent"),
        }
    }

    /// The state of an order; a pending one is settled by the question.
    async fn tell(&self, checked: &Checked) -> Reaction {
        let id = text(&checked.fields, "Id").to_owned();
        let order = self.books.with(move |books| settled(books, &id)).await;
        let note = match &order {
            Some(order) => format!("order {} is {:?}", order.n, order.outcome),
            None => "unknown id".to_owned(),
        };
        Reaction::new(self.answers.asked(order.as_ref()), note)
    }

    async fn annul(&self, checked: &Checked) -> Reaction {
        let fields = checked.fields.clone();
        let order = self
            .books
            .with(move |books| {
                let charge = books.ledger().charge(
                    text(&fields, "Cedula"),
                    text(&fields, "Banco"),
                    text(&fields, "Referencia"),
                );
                let charge = charge.cloned();
                let (outcome, code) = match &charge {
                    Some(charge) if charge.irreversible => (Outcome::Refused, "41"),
                    Some(charge) if !books.ledger().is_annulled(charge.n) => (Outcome::Done, "00"),
                    _ => (Outcome::Refused, "12"),
                };
                let order = Order {
                    annuls: charge.as_ref().map(|charge| charge.n),
                    cents: charge.as_ref().map_or(0, |charge| charge.cents),
                    ..blank(books, "MBanulacionC2P", &fields, outcome, code)
                };
                enter(books, order)
            })
            .await;
        Reaction::new(self.answers.order(&order, false), note(&order))
    }

    async fn order(&self, checked: Checked) -> Reaction {
        let Checked { call, fields } = checked;
        let fate = fate::of(call, &fields);
        let (outcome, code, becomes) = match fate {
            Fate::Done | Fate::Irreversible => (Outcome::Done, if call.simf { "ACCP" } else { "00" }, None),
            Fate::Refused(code) => (Outcome::Refused, code, None),
            Fate::Unsaid(outcome, code, _) | Fate::Silent(outcome, code) => (outcome, code, None),
            Fate::Pending(becomes, code) => (Outcome::Pending, code, Some(becomes)),
            Fate::Lost => {
                let nothing = self.answers.refusal("87", meaning("87"));
                return Reaction {
                    silent: true,
                    ..Reaction::new(nothing, "lost: nothing is done, nothing answered")
                };
            }
        };
        let order = self
            .books
            .with(move |books| {
                let order = Order {
                    becomes,
                    irreversible: fate == Fate::Irreversible,
                    id: call.simf.then(|| Uuid::new_v4().to_string()),
                    cents: amount::cents(text(&fields, "Monto")).expect("an amount that was checked"),
                    ..blank(books, call.name, &fields, outcome, code)
                };
                enter(books, order)
            })
            .await;
        let answer = match fate {
            Fate::Unsaid(_, _, said) => self.answers.refusal(said, meaning(said)),
            _ => self.answers.order(&order, call.simf),
        };
        Reaction { silent: matches!(fate, Fate::Silent(..)), ..Reaction::new(answer, note(&order)) }
    }
}

/// An order of a call, with what its fields say, numbered and referenced.
fn blank(
    books: &Open<R4Ledger>,
    call: &str,
    fields: &serde_json::Map<String, serde_json::Value>,
    outcome: Outcome,
    code: &str,
) -> Order {
    let n = books.ledger().next_number();
    let phone = [text(fields, "TelefonoDestino"), text(fields, "Telefono")].concat();
    Order {
        n,
        at: now(),
        call: call.to_owned(),
        outcome,
        becomes: None,
        code: code.to_owned(),
        reference: (outcome != Outcome::Refused).then(|| format!("{n:08}")),
        id: None,
        cents: 0,
        phone,
        document: text(fields, "Cedula").to_owned(),
        bank: text(fields, "Banco").to_owned(),
        account: text(fields, "Cuenta").to_owned(),
        concept: text(fields, "Concepto").to_owned(),
        irreversible: false,
        annuls: None,
    }
}

fn enter(books: &mut Open<R4Ledger>, order: Order) -> Order {
    books.enter(Entry::Order(order.clone()));
    order
}

fn settled(books: &mut Open<R4Ledger>, id: &str) -> Option<Order> {
    let order = books.ledger().order_of(id)?;
    if order.outcome == Outcome::Pending {
        let n = order.n;
        books.enter(Entry::Settled(n));
    }
    books.ledger().order_of(id).cloned()
}

fn note(order: &Order) -> String {
    let reference =
        order.reference.as_deref().map(|reference| format!(" as {reference}")).unwrap_or_default();
    format!("{:?} {} {}{reference}", order.outcome, order.code, amount::text(order.cents))
}
