//! The panels of the ways to pay: what a buyer fills in, and what it costs at which rate.

use super::*;
use crate::checkout::pages::figures::{bcv_rate, day, rate};
use api::checkout::Market;
use api::checkout::bolivares::{Quote, agreed_rate, transfer_days};
use domain::resources::payments::charge::Price;
use domain::values::money::Rate;

pub(super) struct InBolivares {
    pub(super) total: String,
    pub(super) rate: String,
    pub(super) of: Option<String>,
}

pub(super) struct C2pPanel {
    pub(super) price: Option<InBolivares>,
    pub(super) banks: Vec<Choosable>,
}

pub(super) struct CardPanel {
    pub(super) price: Option<InBolivares>,
    pub(super) quote: Option<String>,
}

pub(super) struct TransferPanel {
    pub(super) price: InBolivares,
    /// The total with nothing but digits and a point, to be pasted.
    pub(super) plain: String,
    pub(super) bank: String,
    pub(super) bank_code: String,
    pub(super) phone: String,
    pub(super) identification: String,
    pub(super) quote: String,
    pub(super) is_sent: bool,
    pub(super) banks: Vec<Choosable>,
    pub(super) oldest: String,
    pub(super) today: String,
    pub(super) between: (String, String),
}

pub(super) struct PesosPanel {
    pub(super) total: String,
    pub(super) minor: i64,
    pub(super) rate: Option<String>,
    pub(super) channel: Option<Channel>,
    pub(super) channels: [(&'static str, &'static str, &'static str); 2],
    pub(super) documents: Vec<Choosable>,
    pub(super) other: String,
}

pub(super) struct Making<'a> {
    pub(super) visit: &'a Visit<'a>,
    pub(super) options: &'a PageOptions,
    pub(super) banks: &'a Catalogue,
    pub(super) market: &'a Market,
    pub(super) is_sent: bool,
}

/// The day of the central bank's rate, as far as it is the one in force.
pub(super) fn value_day(market: &Market, rate: Rate) -> Option<String> {
    let sample = market.bcv.as_ref().filter(|sample| sample.price == rate)?;
    sample.value_date.map(day)
}

impl Making<'_> {
    fn at(&self, rate: Rate, of: Option<String>) -> Option<(InBolivares, String)> {
        let language = self.options.language;
        let total = Price::Usd(self.visit.session.amount).at(rate).ok()?.ves;
        let price = InBolivares { total: bolivares(total, language), rate: bcv_rate(rate, language), of };
        // Banks' apps take an amount without groups.
        let plain = total.to_string();
        Some((price, if language == Language::Spanish { plain.replace('.', ",") } else { plain }))
    }

    fn now(&self) -> Option<InBolivares> {
        let sample = self.market.bcv.as_ref()?;
        Some(self.at(sample.price, sample.value_date.map(day))?.0)
    }

    pub(super) fn c2p(&self) -> C2pPanel {
        let (services, livemode) = (self.visit.services, self.visit.session.livemode);
        // The button says whether the bank sends anything.
        let sends = |bank: BankCode| if livemode { services.rails.sends_code(bank) } else { sends_otp(bank) };
        let typed = self.options.typed.get("debtorBankCode");
        C2pPanel {
            price: self.now(),
            banks: bank_options(self.banks, Service::C2p, typed, &sends, self.options.language),
        }
    }

    pub(super) fn card(&self) -> CardPanel {
        CardPanel { price: self.now(), quote: self.visit.quote().map(|quote| quote.text().to_owned()) }
    }

    pub(super) fn transfer(&self) -> Option<TransferPanel> {
        let receiver = self.market.receiver.as_ref()?;
        let mark = |parts: &[&[u8]]| self.visit.services.keys.mark(parts);
        let session = self.visit.session.id;
        let now = self.market.bcv_rate()?;
        // The price that the buyer has been shown stays, as they may have sent it.
        let quote = self.options.quote.as_deref().map(Quote::sent);
        let rate = agreed_rate(session, quote.as_ref(), &mark, Some(now)).ok().flatten().unwrap_or(now);
        let (price, plain) = self.at(rate, value_day(self.market, rate))?;
        let (oldest, today) = transfer_days(self.visit.now);
        let typed = self.options.typed.get("debtorBankCode");
        Some(TransferPanel {
            price,
            plain,
            bank: self.banks.get(receiver.bank).map(|bank| bank.name.clone()).unwrap_or_default(),
            bank_code: receiver.bank.to_string(),
            phone: receiver.phone.clear().to_string(),
            identification: receiver.id.clear().to_string(),
            quote: Quote::of(&mark, session, rate).text().to_owned(),
            is_sent: self.is_sent,
            banks: bank_options(self.banks, Service::PagoMovil, typed, &|_| false, self.options.language),
            oldest: oldest.to_string(),
            today: today.to_string(),
            between: (day(oldest), day(today)),
        })
    }

    pub(super) fn pesos(&self, offered: &[Offer]) -> Option<PesosPanel> {
        let (options, session, language) = (self.options, &self.visit.session, self.options.language);
        let begun = offered.iter().find(|offer| offer.way == Way::Cop)?.cop?;
        // An attempt that waits already has the rate of its start; a new one gets the rate of now.
        let price = self.market.pesos(session.amount).ok();
        let total = price.map_or(begun, |price| price.total);
        let w = language.words();
        Some(PesosPanel {
            total: pesos(total, language),
            minor: total.minor(),
            rate: price.map(|price| rate(price.rate, language)),
            channel: options.channel.filter(|channel| *channel != Channel::Qr),
            channels: [
                ("push", w.channel_push, w.channel_push_hint),
                ("sms", w.channel_sms, w.channel_sms_hint),
            ],
            documents: document_options(
                options.channel,
                session.livemode,
                options.typed.get("documentType"),
                language,
            ),
            other: options.towards(session.id, Some(Way::Cop), &format!("channel={ANEW}")),
        })
    }
}
