//! The BCV rate as R4 tells it (`docs/contract.md, 18.3`): of today in Caracas, or of the newest of
//! the seven days before that has one.

use super::R4;
use super::client::today;
use super::mapping::{Meaning, meaning};
use super::wire::{Operation, Reply, Request};
use crate::rails::http::{Failure, HttpAnswer};
use domain::resources::rates::samples::price;
use domain::values::money::Rate;
use domain::values::time::Date;
use rust_decimal::Decimal;

pub(super) const DAYS_BACK: i32 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotation {
    pub value_date: Date,
    pub rate: Rate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    Yes(Quotation),
    No,
    Unanswered,
}

impl R4 {
    pub async fn quoted(&self, currency: &str, date: Date) -> Result<HttpAnswer, Failure> {
        self.exchange(&Request::bcv(currency, date)).await.answer()
    }

    pub async fn newest_quotation(&self, currency: &str) -> Option<Quotation> {
        self.newest(currency, today(), None).await.ok().flatten()
    }

    /// Of today, about which the bank may have answered before. A day about which nothing can be learned ends the
    /// search: an older rate is not the newest one.
    pub(super) async fn newest(
        &self,
        currency: &str,
        today: Date,
        mut first: Option<HttpAnswer>,
    ) -> Result<Option<Quotation>, String> {
        for days in 0..=DAYS_BACK {
            let day = today.plus_days(-days);
            let answer = match first.take() {
                Some(answer) => answer,
                None => self.quoted(currency, day).await.map_err(|failure| failure.text().to_owned())?,
            };
            match read(&answer, day) {
                Published::Yes(quotation) => return Ok(Some(quotation)),
                Published::No => {}
                Published::Unanswered => {
                    return Err(format!("its answer about {day} cannot be read (status {})", answer.status));
                }
            }
        }
        Ok(None)
    }
}

/// The rate of the day, or that of the day before from which one is still in force, as on a
/// weekend. A rate of a later day is not the one of that day.
pub fn read(answer: &HttpAnswer, date: Date) -> Published {
    if answer.status >= 500 || (300..400).contains(&answer.status) {
        return Published::Unanswered;
    }
    let Some(reply) = Reply::read(&answer.body) else { return Published::Unanswered };
    if meaning(Operation::Bcv, &reply.code) != Meaning::Done {
        return Published::No;
    }
    let value_date = match reply.value_date {
        None => Ok(date),
        Some(text) => Date::parse(text.trim()),
    };
    let rate = reply.rate.as_deref().and_then(decimal).and_then(|rate| price(rate).ok());
    match (value_date, rate) {
        (Ok(value_date), Some(rate)) if value_date <= date => Published::Yes(Quotation { value_date, rate }),
        (Ok(_), Some(_)) => Published::No,
        _ => Published::Unanswered,
    }
}

/// Exact, with an exponent or without.
fn decimal(text: &str) -> Option<Decimal> {
    let text = text.trim();
    Decimal::from_str_exact(text).or_else(|_| Decimal::from_scientific(text)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_the_day_that_was_asked_for_or_one_before() {
        let date = Date::parse("2026-11-20").expect("a day");
        let published = |rate| Published::Yes(Quotation { value_date: date, rate: Rate(rate) });
        let earlier = Date::parse("2026-11-19").expect("a day");
        for (status, body, said) in [
            (
                200,
                r#"{"code":"00","fechavalor":"2026-11-20","tipocambio":247.3051}"#,
                published(Decimal::new(2_473_051, 4)),
            ),
            (200, r#"{"code":"00","tipocambio":"247.30"}"#, published(Decimal::new(2_473, 1))),
            (
                200,
                r#"{"code":"00","fechavalor":"2026-11-20","tipocambio":2.473e2}"#,
                published(Decimal::new(2_473, 1)),
            ),
            (
                200,
                r#"{"code":"00","fechavalor":"2026-11-19","tipocambio":247.3}"#,
                Published::Yes(Quotation { value_date: earlier, rate: Rate(Decimal::new(2_473, 1)) }),
            ),
            (200, r#"{"code":"00","fechavalor":"2026-11-21","tipocambio":247.3}"#, Published::No),
            (200, r#"{"code":"00","fechavalor":"soon","tipocambio":247.3}"#, Published::Unanswered),
            (200, r#"{"code":"00","fechavalor":"2026-11-20"}"#, Published::Unanswered),
            (200, r#"{"code":"00","fechavalor":"2026-11-20","tipocambio":0}"#, Published::Unanswered),
            (200, r#"{"code":"00","fechavalor":"2026-11-20","tipocambio":-1}"#, Published::Unanswered),
            (200, r#"{"code":"01","message":"COTIZACION NO ENCONTRADA"}"#, Published::No),
            (404, r#"{"code":"99"}"#, Published::No),
            (302, r#"{"code":"00","tipocambio":1}"#, Published::Unanswered),
            (500, r#"{"code":"01"}"#, Published::Unanswered),
            (200, "<html>", Published::Unanswered),
        ] {
            let answer = HttpAnswer { status, body: body.as_bytes().to_vec() };
            assert_eq!(read(&answer, date), said, "{status} {body}");
        }
    }
}
