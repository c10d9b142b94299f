//! A tenant's settings.

use crate::platform::moves;
use crate::platform::settings;
use crate::stored::banks::BankCode;
use crate::stored::layout::CurrentLayout;
use crate::stored::layout::Layout;
use crate::stored::layout::layout;
#[cfg(test)]
use crate::stored::samples::Sampled;
use crate::stored::values::IdentityDocument;
use crate::stored::values::MobilePhone;
use crate::stored::values::Rate;
use crate::stored::values::Usdt;
use crate::stored::values::Ves;
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::DecodeError;
use bincode::error::EncodeError;
use std::marker::PhantomData;
use std::sync::Arc;

layout! {
    struct Fee of settings::Fee {
        percent: Rate,
        fixed: Ves,
    }
}

layout! {
    struct Fees of settings::Fees {
        c2p: Fee,
        vpos: Fee,
        debit: Fee,
        pago_movil: Fee,
        link_percent: Rate,
        chargeback: Ves,
        payout: Ves,
    }
}

layout! {
    struct ConversionSettings of settings::ConversionSettings {
        enabled: PerSource<bool>,
        spread_percent: PerSource<Rate>,
        minimum: Usdt,
        daily_limit: PerSource<Option<i64>>,
        auto_cop_percent: u8,
    }
}

layout! {
    enum LiveStatus of settings::LiveStatus {
        0 Inactive,
        1 Active,
        2 Suspended,
    }
}

/// The layout of [`settings::PerSource`]: of bolívares, then of pesos.
pub struct PerSource<L>(PhantomData<L>);

impl<L: Layout> Layout for PerSource<L> {
    type Working = settings::PerSource<L::Working>;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        let ves = L::read(from)?;
        Ok(settings::PerSource { ves, cop: L::read(from)? })
    }
}

impl<L: CurrentLayout> CurrentLayout for PerSource<L> {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        let settings::PerSource { ves, cop } = working;
        L::write(ves, to)?;
        L::write(cop, to)
    }
}

#[cfg(test)]
impl<L: Sampled> Sampled for PerSource<L> {
    fn sample(full: bool, number: &mut u64) -> Self::Working {
        settings::PerSource { ves: L::sample(full, number), cop: L::sample(full, number) }
    }
}

/// [`Settings`], in memory once if they are those that every tenant begins with.
pub enum SharedSettings {}

impl Layout for SharedSettings {
    type Working = Arc<settings::Settings>;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<Self::Working, DecodeError> {
        Settings::read(from).map(settings::Settings::shared)
    }
}

impl CurrentLayout for SharedSettings {
    fn write<E: Encoder>(working: &Self::Working, to: &mut E) -> Result<(), EncodeError> {
        Settings::write(working, to)
    }
}

#[cfg(test)]
impl Sampled for SharedSettings {
    fn sample(full: bool, number: &mut u64) -> Self::Working {
        Settings::sample(full, number).shared()
    }
}

layout! {
    struct Settings of settings::Settings {
        reserve: Ves,
        fees: Fees,
        seller_hold_business_days: u32,
        conversions: ConversionSettings,
        usdt_enabled: bool,
        usdt_payout_auto_limit: Usdt,
        cop_enabled: bool,
        withdraw_fee_policy: String,
        checkout_allowed_origins: Vec<String>,
        shop: Shop,
        chargeback_fee_max: Option<Ves>,
        micro_deposits_daily_max: u32,
    }
}

layout! {
    struct TenantSettings of settings::TenantSettings {
        version: u64,
        settings: SharedSettings,
        live_status: LiveStatus,
        reason: Option<String>,
        moved_to: Option<Box<Deployment>>,
    }
}

layout! {
    value Deployment([u8; 16]) of moves::Deployment;
}

layout! {
    struct Shop of settings::Shop {
        name: Option<String>,
        rif: Option<String>,
        logo: Option<String>,
        email: Option<String>,
        phone: Option<String>,
        pago_movil: Option<Receiver>,
    }
}

layout! {
    struct Receiver of settings::Receiver {
        bank: BankCode,
        phone: MobilePhone,
        id: IdentityDocument,
    }
}
