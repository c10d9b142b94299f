//! Receipts of payments, for payers (`docs/contract.md, 20.6`): a page to print, and a PDF. The
//! content is in [`Receipt`], once. It shows of the payer what the API shows, masked, and no fees:
//! those are between the shop and the gateway.

mod pdf;
mod words;

use domain::entities::Entity;
use domain::entities::cop_payment::CopPayment;
use domain::entities::means::{Means, Method};
use domain::entities::payment::{Payment, Status};
pub use pdf::pdf;

use crate::language::Language;
use askama::Template;
use chrono::{DateTime, FixedOffset, SecondsFormat};
use domain::resources::banks::Catalogue;
use domain::trace::shown;
use domain::values::money::{Currency, Rate, Usd, Usdt};
use domain::values::time::{SECOND_MS, Timestamp, Zone};
use words::Label;

pub struct Shop {
    pub name: String,
    pub rif: Option<String>,
}

pub struct Receipt {
    language: Language,
    shop: Shop,
    livemode: bool,
    is_reversed: bool,
    amount: Figure,
    lines: Vec<Line>,
}

/// As people read a value and as programs do.
#[derive(Default)]
struct Figure {
    shown: String,
    plain: String,
}

struct Line {
    label: Label,
    value: Figure,
}

impl Line {
    fn is_moment(&self) -> bool {
        [Label::DATE, Label::REVERSED_AT].contains(&self.label)
    }
}

#[derive(Template)]
#[template(path = "receipt.html", config = "src/receipts/askama.toml")]
struct Page<'a> {
    receipt: &'a Receipt,
}

pub fn page(receipt: &Receipt) -> String {
    match (Page { receipt }).render() {
        Ok(html) => html,
        // Writing to a text does not fail, and the template does nothing else.
        Err(error) => unreachable!("a receipt could not be written: {error}"),
    }
}

impl Receipt {
    fn outcome(&self) -> Label {
        if self.is_reversed { Label::REVERSED } else { Label::COMPLETED }
    }

    pub fn of(entity: &Entity, shop: Shop, banks: &Catalogue, language: Language) -> Option<Receipt> {
        let (status, livemode) = match entity {
            Entity::Payment(payment) => (payment.status, payment.livemode),
            Entity::CopPayment(payment) => (payment.status, payment.livemode),
            _ => return None,
        };
        if !matches!(status, Status::Completed | Status::Reversed) {
            return None;
        }
        let is_reversed = status == Status::Reversed;
        let (amount, lines) = (Figure::default(), Vec::new());
        let mut receipt = Receipt { language, shop, livemode, is_reversed, amount, lines };
        match entity {
            Entity::Payment(payment) => receipt.of_payment(payment, banks),
            Entity::CopPayment(payment) => receipt.of_pesos(payment),
            _ => return None,
        }
        Some(receipt)
    }

    pub fn beside(mut self, amount: Usdt) -> Receipt {
        let figure = self.money(Currency::Usdt, amount.minor());
        self.push(Label::ALSO_USDT, figure.shown, figure.plain);
        self
    }

    fn of_payment(&mut self, payment: &Payment, banks: &Catalogue) {
        let (currency, minor) = payment.amount();
        self.amount = self.money(currency, minor);
        self.dollars(payment.usd);
        if currency == Currency::Ves {
            self.rate(payment.bcv_rate, "Bs");
        }
        self.method(payment.method());
        if let Some(debtor) = payment.debtor() {
            let bank = match banks.get(debtor.bank) {
                Some(bank) => format!("{} ({})", bank.name, debtor.bank),
                None => debtor.bank.to_string(),
            };
            self.push(Label::BANK, bank, debtor.bank.to_string());
            self.text(Label::PAYER, debtor.id.masked().to_string());
            self.text(Label::PHONE, debtor.phone.masked().to_string());
        }
        if let Some((brand, last_four)) = payment.card() {
            self.push(Label::CARD, format!("{} …{last_four:04}", brand.name()), format!("{last_four:04}"));
        }
        if let Means::Usdt { tx_hash, .. } = &payment.means {
            self.text(Label::TRANSACTION, tx_hash.clone());
        }
        self.maybe(Label::REFERENCE, shown(&payment.bank_reference));
        match payment.checkout.as_deref() {
            Some(sale) => self.maybe(Label::ORDER, sale.reference.as_deref()),
            None => self.text(Label::ORDER, String::from(&*payment.external_ref)),
        }
        self.maybe(Label::ABOUT, payment.description.as_deref());
        self.text(Label::PAYMENT, payment.id.to_string());
        self.moment(Label::DATE, payment.completed_at, Zone::Caracas);
        self.moment(Label::REVERSED_AT, payment.reversed_at, Zone::Caracas);
    }

    fn of_pesos(&mut self, payment: &CopPayment) {
        self.amount = self.money(Currency::Cop, payment.amount.minor());
        if let Some(checkout) = &payment.checkout {
            self.dollars(checkout.usd);
            self.rate(checkout.rate, "COP");
        }
        self.method(Method::Cop);
        if let Some(buyer) = payment.buyer.as_deref() {
            let document = buyer.document_number.as_ref().map(|number| number.masked().to_string());
            self.maybe(Label::PAYER, document.as_deref());
            self.maybe(Label::PHONE, buyer.phone.map(|phone| phone.masked().to_string()).as_deref());
        }
        self.maybe(Label::REFERENCE, shown(&payment.processor_reference));
        self.maybe(Label::ORDER, payment.reference.as_deref());
        self.text(Label::PAYMENT, payment.id.to_string());
        self.moment(Label::DATE, payment.completed_at, Zone::Bogota);
        self.moment(Label::REVERSED_AT, payment.refunded_at, Zone::Bogota);
    }

    fn push(&mut self, label: Label, shown: String, plain: String) {
        self.lines.push(Line { label, value: Figure { shown, plain } });
    }

    fn text(&mut self, label: Label, text: String) {
        self.push(label, text.clone(), text);
    }

    fn maybe(&mut self, label: Label, text: Option<&str>) {
        if let Some(text) = text {
            self.text(label, text.to_owned());
        }
    }

    fn money(&self, currency: Currency, minor: i64) -> Figure {
        let amount = self.language.amount(minor, currency.decimals());
        let mut plain = String::new();
        // Writing to a text does not fail.
        let _ = domain::values::money::write_minor(&mut plain, minor, currency.decimals());
        let shown = match currency {
            Currency::Ves => format!("Bs {amount}"),
            Currency::Cop => format!("COP {amount}"),
            Currency::Usdt => format!("{amount} USDT"),
        };
        Figure { shown, plain }
    }

    fn dollars(&mut self, usd: Usd) {
        let shown = format!("US$ {}", self.language.amount(usd.minor(), Usd::DECIMALS));
        self.push(Label::PRICE, shown, usd.to_string());
    }

    fn rate(&mut self, rate: Rate, unit: &str) {
        let plain = rate.0.normalize();
        let figure = i64::try_from(plain.mantissa())
            .map_or_else(|_| plain.to_string(), |mantissa| self.language.amount(mantissa, plain.scale()));
        self.push(Label::RATE, format!("US$ 1 = {unit} {figure}"), plain.to_string());
    }

    fn method(&mut self, method: Method) {
        let (spanish, english) = method.words();
        self.push(Label::METHOD, self.language.say(spanish, english).into(), method.name().into());
    }

    fn moment(&mut self, label: Label, at: Option<Timestamp>, zone: Zone) {
        let Some(local) = at.and_then(|at| local(at, zone)) else { return };
        let place = match zone {
            Zone::Caracas => "Caracas",
            Zone::Bogota => "Bogotá",
            Zone::Utc => "UTC",
        };
        let shown = format!("{} ({place}, UTC{})", local.format("%d/%m/%Y %H:%M:%S"), local.format("%:z"));
        self.push(label, shown, local.to_rfc3339_opts(SecondsFormat::Millis, false));
    }
}

fn local(at: Timestamp, zone: Zone) -> Option<DateTime<FixedOffset>> {
    let seconds = i32::try_from(zone.offset_ms() / SECOND_MS).ok()?;
    let offset = FixedOffset::east_opt(seconds)?;
    Some(DateTime::from_timestamp_millis(at.unix_ms())?.with_timezone(&offset))
}
