//! Version 4 of a tenant's settings: with the shop, as buyers see it, and where the tenant went.

use crate::platform::{moves, settings};
use crate::stored::layout::layout;
use crate::stored::v1::banks::BankCode;
use crate::stored::v1::settings::{ConversionSettings, Fees, LiveStatus, SharedSettings};
use crate::stored::v1::values::{IdentityDocument, MobilePhone, Usdt, Ves};

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
