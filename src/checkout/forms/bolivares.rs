//! The forms of a card and of a Pago Móvil that the buyer made.

use super::{bare, compact, options, refuse};
use crate::checkout::pages::{PageOptions, Typed, fields, show};
use crate::checkout::visit::{Call, Visit};
use crate::gateway::transfers;
use crate::http::respond::Reply;
use crate::pages::form::Form;
use api::checkout::bolivares::{GotTransfer, Quote, reference, transfer_days};
use api::problem::Problem;
use domain::entities::means::Debtor;
use domain::entities::session::Way;
use domain::resources::banks::{Catalogue, Service};
use domain::values::bank::BankCode;
use domain::values::card::{Card, Cvv, Expiry, Number};
use domain::values::date::Date;
use domain::values::identity::IdentityDocument;
use domain::values::ids::Id;
use domain::values::phone::MobilePhone;
use domain::values::time::Timestamp;
use std::sync::Arc;

const REFERENCE_USED: &str = "reference_already_used";
/// Characters of the name on a card.
const HOLDER_NAME_MAX: usize = 100;

/// POST /checkout/:id/card
pub async fn card(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let options = PageOptions { quote: None, ..options(&form, Way::Card) };
    if form.filled("tokenize").is_some() {
        // The fields of a token: its script takes the card, and this form charges nothing.
        return fields(services, &visit, &options, true);
    }
    // Number and code are not shown again.
    let mut typed = Typed::read(&form, &["cardName", "holderId", "cardExpiry"]);
    let card = match read_card(&form, visit.now) {
        Ok(card) => card,
        Err(wrong) => {
            typed.wrong = wrong;
            return show(services, &visit, PageOptions { typed, ..options }, 400);
        }
    };
    let quote = form.filled("quote").map(Quote::sent);
    let begun = match sent.limits.guess(sent.client(), visit.shop.tenant_key, visit.session.id) {
        Ok(()) => visit.charge_card(services, card, quote.as_ref()).await,
        Err(problem) => Err(problem),
    };
    settled(&sent, &visit, PageOptions { typed, ..options }, begun.map(|(attempt, _)| attempt)).await
}

/// POST /checkout/:id/pago-movil
pub async fn transfer(mut sent: Call<'_>) -> Result<Reply, Problem> {
    let (form, visit) = sent.admitted().await?;
    let services = sent.services;
    let options = options(&form, Way::PagoMovil);
    let mut typed =
        Typed::read(&form, &["debtorBankCode", "debtorId", "debtorCellPhone", "reference", "date"]);
    let transfer = match read_transfer(&typed, &form, &services.banks.now(), visit.now) {
        Ok(transfer) => transfer,
        Err(wrong) => {
            typed.wrong = wrong;
            return show(services, &visit, PageOptions { typed, ..options }, 400);
        }
    };
    let means = transfer.means();
    let begun = match sent.limits.guess(sent.client(), visit.shop.tenant_key, visit.session.id) {
        Ok(()) => visit.verify_transfer(services, transfer).await,
        Err(problem) => Err(problem),
    };
    let is_used = matches!(&begun, Err(problem) if problem.code == REFERENCE_USED);
    if is_used {
        let w = options.language.words();
        let (words, ending) = match transfers::is_sought(services, visit.shop.tenant_key, &means).await? {
            true => (w.failed_waits, w.sent_waits),
            false => (w.failed_used, w.sent_used),
        };
        let options =
            PageOptions { typed, is_sent: true, notice: Some(format!("{words} {ending}")), ..options };
        return show(services, &visit, options, 409);
    }
    settled(&sent, &visit, PageOptions { typed, ..options }, begun.map(|(attempt, _)| attempt)).await
}

/// The page that tells how the attempt ended, or why it did not begin.
async fn settled(
    sent: &Call<'_>,
    visit: &Visit,
    options: PageOptions,
    begun: Result<Id, Problem>,
) -> Result<Reply, Problem> {
    match begun {
        Ok(attempt) => Ok(sent.lead(visit, &options, &format!("attempt={attempt}"))),
        Err(problem) => refuse(sent, visit, options, &problem),
    }
}

type Wrong = Vec<&'static str>;

fn wrong<const N: usize>(found: [(&'static str, bool); N]) -> Wrong {
    found.into_iter().filter_map(|(name, fine)| (!fine).then_some(name)).collect()
}

fn read_card(form: &Form, now: Timestamp) -> Result<Arc<Card>, Wrong> {
    let number = Number::parse(&compact(form.text("cardNumber"))).ok();
    let expiry = expiry(form.text("cardExpiry")).filter(|expiry| expiry.expired_at(now).is_none());
    let cvv = Cvv::parse(&compact(form.text("cardCvv"))).ok();
    let name =
        Some(form.text("cardName")).filter(|name| (1..=HOLDER_NAME_MAX).contains(&name.chars().count()));
    let holder = IdentityDocument::parse(&compact(form.text("holderId"))).ok();
    match (number, expiry, cvv, name, holder) {
        (Some(number), Some(expiry), Some(cvv), Some(name), Some(holder_id)) => {
            Ok(Arc::new(Card { number, expiry, cvv, holder_name: name.to_owned(), holder_id }))
        }
        (number, expiry, cvv, name, holder) => Err(wrong([
            ("cardNumber", number.is_some()),
            ("cardExpiry", expiry.is_some()),
            ("cardCvv", cvv.is_some()),
            ("cardName", name.is_some()),
            ("holderId", holder.is_some()),
        ])),
    }
}

/// The month and year on a card, as people write them: 12/30, 12/2030, 1230.
fn expiry(text: &str) -> Option<Expiry> {
    let text = bare(text).replace('-', "/");
    let (month, year) = match text.split_once('/') {
        Some(parts) => parts,
        None => text.split_at_checked(2)?,
    };
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let (month, short): (i32, i32) = (number(month)?, number(year)?);
    let year = match year.len() {
        2 => short + 2000,
        4 => short,
        _ => return None,
    };
    (1..=12).contains(&month).then_some(Expiry { year, month })
}

fn read_transfer(
    typed: &Typed,
    form: &Form,
    banks: &Catalogue,
    now: Timestamp,
) -> Result<GotTransfer, Wrong> {
    let bank = typed.get("debtorBankCode").parse().ok();
    let bank = bank
        .and_then(|number| BankCode::from_number(number).ok())
        .filter(|bank| banks.offers(*bank, Service::PagoMovil));
    let id = IdentityDocument::parse(&compact(typed.get("debtorId"))).ok();
    let phone = MobilePhone::parse(&compact(typed.get("debtorCellPhone"))).ok();
    let reference = reference(&compact(typed.get("reference"))).ok();
    let (oldest, today) = transfer_days(now);
    let date = day(typed.get("date")).filter(|date| (oldest..=today).contains(date));
    let quote = form.filled("quote").map(Quote::sent);
    match (bank, id, phone, reference, date) {
        (Some(bank), Some(id), Some(phone), Some(reference), Some(date)) => {
            Ok(GotTransfer { debtor: Debtor { bank, id, phone }, reference, date, quote })
        }
        (bank, id, phone, reference, date) => Err(wrong([
            ("debtorBankCode", bank.is_some()),
            ("debtorId", id.is_some()),
            ("debtorCellPhone", phone.is_some()),
            ("reference", reference.is_some()),
            ("date", date.is_some()),
        ])),
    }
}

/// A day as browsers send it, or as people write it: 2026-11-21, 21/11/2026.
fn day(text: &str) -> Option<Date> {
    if let Ok(date) = Date::parse(text) {
        return Some(date);
    }
    let mut parts = text.split('/');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then(|| Date::parse(&format!("{year}-{month:0>2}-{day:0>2}")).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiries_as_people_write_them() {
        for (text, found) in [
            ("12/30", Some((2030, 12))),
            ("1/30", Some((2030, 1))),
            ("12 / 2030", Some((2030, 12))),
            ("1230", Some((2030, 12))),
            ("12-30", Some((2030, 12))),
            ("13/30", None),
            ("0/30", None),
            ("12/3", None),
            ("12", None),
            ("", None),
            ("+1/30", None),
            ("ñ/30", None),
        ] {
            assert_eq!(expiry(text).map(|expiry| (expiry.year, expiry.month)), found, "{text}");
        }
    }

    #[test]
    fn days_as_people_write_them() {
        let date = Date::parse("2026-11-02").ok();
        for text in ["2026-11-02", "02/11/2026", "2/11/2026"] {
            assert_eq!(day(text), date, "{text}");
        }
        for text in ["", "2/11", "31/02/2026", "2/11/2026/1", "11-02-2026"] {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
