//! A call of the API as a handler gets it, without a server around it.

use api::plan::{BankRate, Call, Caller, Official, Plan, RatesInForce};
use api::problem::Problem;
use api::routes::Route;
use domain::platform::settings::{LiveStatus, Settings, TenantSettings};
use domain::platform::{ApiKey, Mode, Scopes, Tenant};
use domain::resources::banks::Catalogue;
use domain::values::ids::Id;
use domain::values::money::{Rate, Usdt, Ves};
use domain::values::time::Timestamp;
use hmac::{Hmac, KeyInit, Mac};
use rust_decimal::Decimal;
use sha2::Sha256;
use std::sync::{Arc, LazyLock};

/// The instant at which all calls are made.
pub const NOW: Timestamp = Timestamp::from_unix_ms(1_795_226_000_123);

static BANKS: LazyLock<Catalogue> = LazyLock::new(Catalogue::embedded);

static CALLERS: LazyLock<[Caller; 2]> = LazyLock::new(|| [Mode::Live, Mode::Test].map(caller));

fn caller(mode: Mode) -> Caller {
    let settings = Settings { usdt_enabled: true, cop_enabled: true, ..Settings::default() };
    let tenant_settings = TenantSettings {
        version: 1,
        settings: Settings::shared(Arc::new(settings)),
        live_status: LiveStatus::Active,
        reason: None,
        moved_to: None,
    };
    let tenant = Tenant {
        id: Id::derived(1, 1, 0),
        number: 3,
        first_number: 3,
        name: "Tienda".into(),
        tenant_settings,
        pushed: 1,
        created_at: NOW,
    };
    let key = ApiKey {
        id: Id::derived(1, 2, 0),
        tenant: 3,
        mode,
        hash: [0; 32],
        prefix: "sk_".into(),
        scopes: Scopes(31),
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
        retires_at: None,
        replaces: None,
    };
    let tenant_key = 2 * u64::from(tenant.number) + u64::from(mode == Mode::Test);
    Caller { tenant: Arc::new(tenant), key: Arc::new(key), tenant_key }
}

/// A keyed hash as the server's: each part with its length before it.
pub fn mark(parts: &[&[u8]]) -> [u8; 16] {
    let mut mac = Hmac::<Sha256>::new_from_slice(&[7; 32]).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    let hash = mac.finalize().into_bytes();
    std::array::from_fn(|at| hash[at])
}

/// Has a route's handler read a request.
pub fn read(
    route: &Route,
    livemode: bool,
    path: &dyn Fn(&str) -> String,
    query: Option<&str>,
    body: &[u8],
) -> Result<Plan, Problem> {
    let caller = &CALLERS[usize::from(!livemode)];
    let call = Call {
        caller,
        path,
        query,
        body,
        banks: &BANKS,
        prices: RatesInForce {
            bcv_rate: &|| Some(Rate(Decimal::new(23_650, 2))),
            official: &|| Official { bcv: None, bank: BankRate::NotConfigured },
            market_rate: &|_| Some(Rate(Decimal::new(4_000, 0))),
            network_fees: &[Usdt::ZERO; 4],
            confirmations: &[None; 4],
        },
        serves: &|_| true,
        now: NOW,
        fresh_id: &|| Id::derived(NOW.unix_ms(), 9, 0),
        random_id: &|| Id::derived(NOW.unix_ms(), 10, 0),
        micro_deposits: &|| (Ves::from_minor(11), Ves::from_minor(22)),
        base_url: "https://pay.example",
        mark: &mark,
        card_mark: &mark,
        private_targets: false,
        notice_wait_ms: 0,
    };
    (route.handler)(&call)
}
