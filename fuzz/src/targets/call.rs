//! A call of the API as a handler gets it, without a server around it.

use api::endpoint::{
    BankRate, Caller, Context, Environment, KnownKey, Later, LongRead, Official, Server, Target,
};
use api::page::Page;
use api::payments::card_tokens::CardToken;
use api::problem::{BadField, Problem};
use api::records::Records;
use api::respond::Reply;
use api::routes::Route;
use api::search::sought::Sought;
use domain::entities::deposit_address::DepositAddress;
use domain::entities::mandate_approval::{MandateApproval, Status};
use domain::index::Space;
use domain::ledger::Ledger;
use domain::ledger::balance::Balance;
use domain::ledger::book::Book;
use domain::ledger::days::Line;
use domain::machine::Command;
use domain::platform::settings::{LiveStatus, Settings, TenantSettings};
use domain::platform::{ApiKey, Details, Scopes, Tenant};
use domain::rail::Service;
use domain::resources::banks::Catalogue;
use domain::resources::payments::c2p::NewIntent;
use domain::resources::payments::charge::NewCharge;
use domain::resources::payments::otp::NewOtp;
use domain::resources::payouts::batch::NewBatch;
use domain::resources::tenants::keys::{KeyChange, NewKey};
use domain::values::ids::{Id, Mode};
use domain::values::money::{Currency, Rate, Usdt, Ves};
use domain::values::time::{Date, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use rust_decimal::Decimal;
use sha2::Sha256;
use std::sync::{Arc, LazyLock};
use std::task::{Poll, Waker};
use url::Url;

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
        moving_to: None,
    };
    let tenant = Tenant {
        id: Id::derived(1, 1, 0),
        number: 3,
        first_number: 3,
        name: "Tienda".into(),
        tenant_settings,
        pushed: 1,
        created_at: NOW,
        partition: 0,
        moving: None,
        moves: 0,
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
        details: Details::default(),
    };
    let tenant_key = 2 * u64::from(tenant.number) + u64::from(mode == Mode::Test);
    Caller { tenant: Arc::new(tenant), key: Arc::new(key), tenant_key, version: 0 }
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

struct Fixed;

impl Environment for Fixed {
    fn now(&self) -> Timestamp {
        NOW
    }

    fn bcv_rate(&self) -> Option<Rate> {
        Some(Rate(Decimal::new(23_650, 2)))
    }

    fn official(&self) -> Official {
        Official { bcv: None, bank: BankRate::NotConfigured }
    }

    fn market_rate(&self, _: Currency) -> Option<Rate> {
        Some(Rate(Decimal::new(4_000, 0)))
    }

    fn network_fees(&self) -> &[Usdt; 4] {
        &[Usdt::ZERO; 4]
    }

    fn confirmations(&self) -> &[Option<u64>; 4] {
        &[None; 4]
    }

    fn serves(&self, _: Service) -> bool {
        true
    }

    fn new_id(&self) -> Id {
        Id::derived(NOW.unix_ms(), 9, 0)
    }

    fn random_id(&self) -> Id {
        Id::derived(NOW.unix_ms(), 10, 0)
    }

    fn micro_deposits(&self) -> (Ves, Ves) {
        (Ves::from_minor(11), Ves::from_minor(22))
    }

    fn base_url(&self) -> &str {
        "https://pay.example"
    }

    fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        mark(parts)
    }

    fn card_mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        mark(parts)
    }

    fn private_targets(&self) -> bool {
        false
    }

    fn notice_wait_ms(&self) -> i64 {
        0
    }
}

/// No server: a call is read, and nothing is done.
struct Nobody;

macro_rules! nothing_is_done {
    ($($name:ident($($argument:ty),*) -> $made:ty;)*) => {
        $(fn $name<'s>(&'s mut self, $(_: $argument),*) -> Later<'s, $made> {
            unreachable!("a call is refused before anything is done")
        })*
    };
}

impl Server for Nobody {
    fn records(&self) -> Box<dyn Records + '_> {
        unreachable!("a call is refused before anything is read")
    }

    fn release_slot(&mut self) {}

    fn receipt(&mut self, _: Id, _: Option<&'static str>) -> Result<Reply, Problem> {
        unreachable!("a call is refused before anything is read")
    }

    nothing_is_done! {
        ask(Target, Command) -> Reply;
        book() -> (Box<Book>, Timestamp);
        read_long(LongRead) -> Vec<u8>;
        hold(u64, Space, &'s str) -> ();
        free_slug(Vec<String>) -> Option<String>;
        may_reach(&'s Url) -> ();
        send_c2p_code(&'s mut NewIntent, Option<Id>) -> ();
        send_debit_code(&'s mut NewOtp) -> ();
        charge(NewCharge, Option<CardToken>) -> Reply;
        derive_address(&'s mut DepositAddress) -> bool;
        pay_batch(Box<NewBatch>) -> Reply;
        batch(Id) -> Reply;
        advance(i64) -> Reply;
        begin_anew() -> Reply;
        balance_at(Timestamp) -> Balance;
        statement(Ledger, Currency, (Date, Date)) -> Vec<Line>;
        set_auto_convert(u8) -> Reply;
        key_use(String, Option<String>) -> Reply;
        search(Sought) -> Reply;
        request(String) -> Reply;
        deliveries(Id, Page) -> Reply;
        resend(Id) -> Reply;
        test_notification() -> Reply;
        key(Id) -> Option<KnownKey>;
        keys() -> Vec<KnownKey>;
        make_key(NewKey) -> Reply;
        change_key(Id, KeyChange) -> Reply;
        revoke_key(Id, bool) -> Reply;
        rotate_own_key(i64) -> Reply;
        ask_live() -> Reply;
        decide_waiting(MandateApproval, Status, bool) -> Reply;
    }
}

/// Has an endpoint read a call, whose parameters of the path all have this value.
pub fn read(
    route: &Route,
    livemode: bool,
    parameter: &str,
    query: Option<&str>,
    body: &[u8],
) -> Result<(), Problem> {
    const READ: &str = "the call was read";
    let names = route.path.split('/').filter_map(|segment| segment.strip_prefix(':'));
    let parameters: Vec<_> = names.map(|name| (name, parameter.to_owned())).collect();
    let mut context = Context {
        caller: &CALLERS[usize::from(!livemode)],
        env: &Fixed,
        banks: &BANKS,
        body: body.to_vec().into(),
        parameters: &parameters,
        query,
        // Whoever comes so far as to use the server is refused by this alone.
        unexpected: vec![BadField::new(READ, "")],
        server: &mut Nobody,
    };
    let mut answer = (route.endpoint.handler)(&mut context);
    match answer.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(_)) => Ok(()),
        Poll::Ready(Err(problem)) if problem.fields.iter().any(|bad| bad.field == READ) => Ok(()),
        Poll::Ready(Err(problem)) => Err(problem),
        Poll::Pending => unreachable!("a call is read in one go"),
    }
}
