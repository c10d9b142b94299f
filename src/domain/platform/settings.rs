//! The settings that an operator makes per tenant (`docs/contract.md, 3.5`), and the versioned copy
//! of them in each book of the tenant.

use crate::codec::stored;
use crate::entities::conversion::Source;
use crate::values::money::{Rate, Usdt, Ves};
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use rust_decimal::Decimal;
use std::fmt;
use std::sync::{Arc, LazyLock};

stored! {
    /// The fee of one payment method: a percentage of the amount plus a fixed sum.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Fee {
        0 pub percent: Rate,
        /// The fixed sum, added to the percentage.
        1 pub fixed: Ves,
    }
}

impl Fee {
    /// The fee of `amount`: percentage rounded half up, plus the fixed sum, never more than the
    /// amount (`docs/contract.md, 5.3`).
    pub fn of(&self, amount: Ves) -> Option<Ves> {
        let share = Ves::rounded(self.percent.percent_of(amount.decimal())?)?;
        Some(share.plus(self.fixed)?.min(amount))
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Fees {
        0 pub c2p: Fee,
        /// The fee of a card payment.
        1 pub vpos: Fee,
        2 pub debit: Fee,
        3 pub pago_movil: Fee,
        /// The operator's share of sales through payment links, in percent.
        4 pub link_percent: Rate,
        5 pub chargeback: Ves,
        6 pub payout: Ves,
    }

    /// A pair of values: one for bolívares, one for pesos.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PerSource<T> {
        0 pub ves: T,
        1 pub cop: T,
    }

    /// The terms on which a tenant may convert to USDT.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ConversionSettings {
        /// Whether each currency may be converted.
        0 pub enabled: PerSource<bool>,
        /// The spread on top of the market rate, in percent.
        1 pub spread_percent: PerSource<Rate>,
        2 pub minimum: Usdt,
        /// The largest sum of a local day, in minor units of the source; `None` is no limit.
        3 pub daily_limit: PerSource<Option<i64>>,
        /// The percentage of a peso payment's proceeds that is converted automatically; set by the
        /// tenant.
        4 pub auto_cop_percent: u8,
    }

    /// All settings of a tenant that an operator makes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Settings {
        /// The reserve: bolívares of the balance that may not be spent.
        0 pub reserve: Ves,
        1 pub fees: Fees,
        /// Business days for which a seller's share of a sale is held; the hold lasts 24 hours at
        /// least.
        2 pub seller_hold_business_days: u32,
        3 pub conversions: ConversionSettings,
        4 pub usdt_enabled: bool,
        /// The largest USDT payout that is sent without an operator's review.
        5 pub usdt_payout_auto_limit: Usdt,
        6 pub cop_enabled: bool,
        7 pub withdraw_fee_policy: String,
        /// Exact origins of the pages that may embed the checkout.
        8 pub checkout_allowed_origins: Vec<String>,
        9 pub shop: Shop,
        /// The largest fee of a chargeback that an operator names alone; `None` is the fee of a chargeback.
        10 pub chargeback_fee_max: Option<Ves>,
        /// Verifications by micro-deposits that may be started in 24 hours.
        11 pub micro_deposits_daily_max: u32,
    }

    /// A shop, as checkout pages and receipts name it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Shop {
        /// The name; the tenant's if there is none.
        0 pub name: Option<String>,
        1 pub rif: Option<String>,
        /// The logo, as the address of a picture that holds the picture itself.
        2 pub logo: Option<String>,
        3 pub email: Option<String>,
        4 pub phone: Option<String>,
        /// The account to which buyers send a Pago Móvil; without one no page offers that in live mode.
        5 pub pago_movil: Option<Receiver>,
    }

    /// An account that receives Pago Móvil, as payers type it into their bank's app.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Receiver {
        0 pub bank: BankCode,
        /// The phone that the bank knows the account by.
        1 pub phone: MobilePhone,
        2 pub id: IdentityDocument,
    }
}

impl<T> PerSource<T> {
    pub const fn of(&self, source: Source) -> &T {
        match source {
            Source::Ves => &self.ves,
            Source::Cop => &self.cop,
        }
    }
}

impl Settings {
    /// The largest fee of a chargeback that an operator names alone.
    pub fn chargeback_fee_max(&self) -> Ves {
        self.chargeback_fee_max.unwrap_or(self.fees.chargeback)
    }

    /// The settings behind a shared pointer. Those that equal the default, as most tenants' do,
    /// share one allocation.
    pub fn shared(settings: Arc<Settings>) -> Arc<Settings> {
        static DEFAULT: LazyLock<Arc<Settings>> = LazyLock::new(Arc::default);
        if settings == *DEFAULT { Arc::clone(&DEFAULT) } else { settings }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let percent = |ten_thousandths| Rate(Decimal::new(ten_thousandths, 4));
        let fee = Fee { percent: percent(15_000), fixed: Ves::ZERO };
        Settings {
            reserve: Ves::ZERO,
            fees: Fees {
                c2p: fee,
                vpos: fee,
                debit: fee,
                pago_movil: fee,
                link_percent: percent(5_000),
                chargeback: Ves::ZERO,
                payout: Ves::ZERO,
            },
            seller_hold_business_days: 0,
            conversions: ConversionSettings {
                enabled: PerSource { ves: true, cop: true },
                spread_percent: PerSource { ves: percent(15_000), cop: percent(20_000) },
                minimum: Usdt::from_minor(100),
                daily_limit: PerSource { ves: None, cop: None },
                auto_cop_percent: 0,
            },
            usdt_enabled: true,
            usdt_payout_auto_limit: Usdt::from_minor(50_000),
            cop_enabled: true,
            withdraw_fee_policy: "tiered_v2".to_owned(),
            checkout_allowed_origins: Vec::new(),
            shop: Shop::default(),
            chargeback_fee_max: None,
            micro_deposits_daily_max: 50,
        }
    }
}

stored! {
    /// A deployment: the hash of the first record of its log, which no other log has.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Deployment(pub [u8; 16]);
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl Deployment {
    /// The deployment with this name, 32 digits of hexadecimal.
    pub fn parse(name: &str) -> Option<Deployment> {
        let mut bytes = [0; 16];
        hex::decode_to_slice(name, &mut bytes).ok()?;
        Some(Deployment(bytes))
    }
}

stored! {
    /// The live status of a tenant: whether its live key works.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LiveStatus {
        /// The operator has not approved the tenant yet.
        #[default]
        0 Inactive "inactive",
        1 Active "active",
        2 Suspended "suspended",
    }

    /// The settings and live status of a tenant as its books know them. The platform's book owns them;
    /// both books of the tenant get a copy, version by version.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TenantSettings {
        /// The number of changes so far; a book ignores a version that is not newer than its own.
        0 pub version: u64,
        1 pub settings: Arc<Settings> => Settings::shared,
        2 pub live_status: LiveStatus,
        /// The operator's reason for the last change of the live status.
        3 pub reason: Option<Box<str>>,
        /// The deployment that the tenant moves to: then nothing is decided for it here (`resources/tenants/moves.rs`).
        4 pub moved_to: Option<Box<Deployment>>,
        /// The partition that the tenant moves to: nothing is decided for it where it was, and not yet there.
        5 pub moving_to: Option<u8> = since 8 else None,
    }
}

impl TenantSettings {
    /// Whether books with these settings decide nothing.
    pub const fn are_closed(&self) -> bool {
        self.moved_to.is_some() || self.moving_to.is_some()
    }

    /// Whether an operator's word about live mode in `next` is another than here.
    pub fn says_otherwise(&self, next: &TenantSettings) -> bool {
        self.live_status != next.live_status || self.reason != next.reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fees_round_half_up_and_never_exceed_the_amount() {
        let fee = |ten_thousandths, fixed| Fee {
            percent: Rate(Decimal::new(ten_thousandths, 4)),
            fixed: Ves::from_minor(fixed),
        };
        for (fee, amount, expected) in [
            (fee(12_500, 0), 200, 3),
            (fee(12_500, 0), 1000, 13),
            (fee(2_499, 0), 200, 0),
            (fee(15_000, 550), 200, 200),
            (fee(15_000, 550), 600, 559),
            (fee(1_000_000, 0), 200, 200),
        ] {
            assert_eq!(
                fee.of(Ves::from_minor(amount)),
                Some(Ves::from_minor(expected)),
                "{fee:?} of {amount}"
            );
        }
    }

    #[test]
    fn the_name_of_a_deployment_comes_back_and_nothing_else_does() {
        let deployment = Deployment([0x0A; 16]);
        assert_eq!(Deployment::parse(&deployment.to_string()), Some(deployment));
        for wrong in ["", "0a", &"0".repeat(31), &"0".repeat(33), &"g".repeat(32), &"+1".repeat(16)] {
            assert_eq!(Deployment::parse(wrong), None, "{wrong}");
        }
    }
}
