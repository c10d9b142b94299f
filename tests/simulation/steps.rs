//! The steps of a run, drawn at random: the commands of tenants, of their operator and of the
//! banks, time, and everything that goes wrong.

use crate::agents::{AGENTS, Bounds};
use crate::bank::{Fate, Script};
use crate::damage::Place;
use crate::prices::Says;
use crate::witness::By;
use domain::values::time::DAY_MS;
use faulty::Crash;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The tenant of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Bolívares in test mode: the tenant that the model knows.
    Home,
    /// A tenant in test mode with every currency.
    Other,
    /// A tenant in live mode, which has no bank yet.
    Live,
}

/// The receiver of a payout; merchants by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Merchant { n: usize, from_balance: bool },
    Phone,
    Account,
    Own,
}

/// A statement about an operation that nobody has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Done,
    Refused,
    Silent,
    NeverReceived,
}

/// A step of a run. A number `n` names the n-th of what there is, modulo how many there are; `None`
/// of an optional one is nobody.
#[derive(Clone, Debug)]
pub enum Act {
    Fund {
        cents: i64,
        held: bool,
        seller: Option<usize>,
    },
    Correct {
        cents: i64,
    },
    /// New settings: reserve, fee of a payout, fee of a chargeback, business days of a seller's
    /// hold.
    Settings {
        reserve: i64,
        payout_fee: i64,
        chargeback_fee: i64,
        hold_days: u32,
    },
    /// A collection, with the seller and the tenant's percentage in ten thousandths of a percent.
    Collect {
        by: By,
        usd_cents: i64,
        seller: Option<(usize, u32)>,
        bank: Script,
    },
    /// An intent that nobody executes at once; for some banks the payer is to be sent a code.
    Intent {
        usd_cents: i64,
        sends_otp: bool,
        bank: Script,
    },
    Execute {
        n: usize,
        seller: Option<(usize, u32)>,
    },
    Supersede {
        n: usize,
        sends_otp: bool,
    },
    /// A charge under the reference of an earlier payment, as the gateway makes one.
    Again {
        n: usize,
        by: By,
        usd_cents: i64,
        bank: Script,
    },
    /// A request for the code of a debit.
    Otp {
        cents: i64,
        bank: Script,
    },
    /// The same command once more, on its reference; `other` with another amount.
    Repeat {
        n: usize,
        other: bool,
    },
    /// A question to the bank although nothing is due.
    Look {
        n: usize,
    },
    /// A statement of the bank's own about the n-th operation, which may contradict itself.
    Say {
        n: usize,
        word: Word,
    },
    Reverse {
        n: usize,
        bank: Script,
    },
    /// A sale, and its reversal just before nobody may ask for it any more.
    ReverseAtTheEnd {
        usd_cents: i64,
        before_ms: i64,
        bank: Script,
    },
    /// A chargeback of so many thousandths of the amount; 1000 is all that is left.
    ChargeBack {
        n: usize,
        thousandths: i64,
    },
    /// Chargebacks of one thousandth each, so many of them.
    ChargeBackOften {
        n: usize,
        times: usize,
    },
    Close {
        n: usize,
        nth: usize,
        won: bool,
    },
    Pay {
        to: To,
        cents: i64,
        bank: Script,
    },
    /// Another mandate for an agent's key.
    Bind {
        agent: usize,
        bounds: Bounds,
    },
    /// A step that takes money out, by an agent's key.
    ByAgent {
        agent: usize,
        act: Box<Act>,
    },
    /// A person's word on the n-th call that waited.
    Decide {
        n: usize,
        approve: bool,
    },
    /// A batch, whose last item repeats the first one.
    Batch {
        to: Vec<(To, i64)>,
        bank: Script,
    },
    Register {
        shell: bool,
    },
    AddMethod {
        n: usize,
    },
    /// Payout methods of one merchant, so many of them.
    AddMethods {
        n: usize,
        times: usize,
    },
    /// Micro-deposits, and then the amounts.
    Prove {
        n: usize,
        nth: usize,
        bank: Script,
    },
    SetDefault {
        n: usize,
        nth: usize,
    },
    DeleteMethod {
        n: usize,
        nth: usize,
    },
    Switch {
        n: usize,
        active: bool,
    },
    DeleteMerchant {
        n: usize,
    },
    /// A new account of the tenant's own, proved if the bank does not say no.
    SetOwn {
        bank: Script,
    },
    /// A command whose record the log does not take.
    TooLarge,
    /// Pesos or USDT that the operator adds.
    Grant {
        usdt: bool,
        minor: i64,
        held: bool,
    },
    Quote {
        pesos: bool,
        minor: i64,
    },
    Accept {
        n: usize,
    },
    EndConversion {
        n: usize,
        how: u8,
    },
    PayCrypto {
        cents: i64,
        bank: Script,
    },
    Review {
        n: usize,
        approve: bool,
    },
    OpenAddress,
    Deposit {
        n: usize,
        cents: i64,
    },
    CollectPesos {
        minor: i64,
        channel: u8,
        bank: Script,
    },
    Buyer {
        n: usize,
        pays: bool,
    },
    Code {
        n: usize,
    },
    CancelPesos {
        n: usize,
    },
    RefundPesos {
        n: usize,
        bank: Script,
    },
    PayPesos {
        minor: i64,
    },
    SettlePesos {
        n: usize,
        well: bool,
    },
    /// The percentage of a peso payment that becomes USDT by itself.
    AutoConvert {
        percent: u8,
    },
    /// A price of the market's feed.
    Feed {
        pesos: bool,
        says: Says,
    },
    /// A price that the feed says until it is believed.
    FeedInsists {
        pesos: bool,
        says: Says,
    },
    /// An advance of the test clock.
    Jump {
        ms: i64,
    },
    /// An advance of the test clock to the end of the calendar.
    JumpToTheEnd,
    /// A suspension of the machine.
    Sleep {
        ms: i64,
    },
    /// A little time.
    Wait {
        ms: u64,
    },
    /// A step of the wall clock from what it was.
    Spike {
        ms: i64,
    },
    /// The end of such a step.
    Unspike,
    /// The operator's confirmation of the wall clock.
    Confirm,
    Snapshot,
    /// An end of the server in order, and a new start.
    Restart,
    /// The death of the process at the n-th write from here, or soon.
    Kill {
        writes: u64,
        crash: Crash,
    },
    /// A disk that takes so many more bytes. The write that does not fit is the last, and the next start
    /// finds no room at all, until some is made.
    Full {
        bytes: usize,
    },
    /// One wrong byte, in a copy of what the disk has.
    Damage {
        place: Place,
    },
}

/// An act of somebody, and whether the next begins before it is answered.
#[derive(Clone, Debug)]
pub struct Step {
    pub who: Who,
    pub act: Act,
    pub together: bool,
}

fn script() -> impl Strategy<Value = Script> + Clone {
    let fate = prop_oneof![
        8 => Just(Fate::Done),
        2 => Just(Fate::Refused),
        2 => (any::<bool>(), 0..3_u8).prop_map(|(done, asks)| Fate::Silent { done, asks }),
        2 => Just(Fate::Lost),
    ];
    // The bank answers at once, soon, after the caller has gone, or after the bank is not listened
    // to any more.
    let takes_ms = prop_oneof![8 => Just(0), 4 => 1..40_u64, 2 => 2_000..8_000_u64, 1 => 25_000..45_000_u64];
    (fate, takes_ms).prop_map(|(fate, takes_ms)| Script { fate, takes_ms })
}

fn to() -> impl Strategy<Value = To> + Clone {
    prop_oneof![
        4 => (any::<usize>(), any::<bool>()).prop_map(|(n, from_balance)| To::Merchant { n, from_balance }),
        1 => Just(To::Phone),
        1 => Just(To::Account),
        1 => Just(To::Own),
    ]
}

fn money() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => (1..500_000_i64, any::<bool>(), prop::option::weighted(0.2, any::<usize>()))
            .prop_map(|(cents, held, seller)| Act::Fund { cents, held, seller }),
        4 => (1..100_000_i64, any::<bool>())
            .prop_map(|(cents, less)| Act::Correct { cents: if less { -cents } else { cents } }),
        4 => (0..50_000_i64, 0..300_i64, 0..300_i64, 0..4_u32).prop_map(
            |(reserve, payout_fee, chargeback_fee, hold_days)| Act::Settings { reserve, payout_fee, chargeback_fee, hold_days }
        ),
        1 => Just(Act::TooLarge),
    ]
}

fn seller() -> impl Strategy<Value = Option<(usize, u32)>> + Clone {
    prop::option::weighted(
        0.5,
        (any::<usize>(), prop_oneof![5 => 0..300_000_u32, 1 => 900_000..=1_000_000_u32]),
    )
}

fn collections() -> impl Strategy<Value = Act> {
    let by = prop_oneof![3 => Just(By::C2p), 3 => Just(By::Card), 1 => Just(By::Disputed), 1 => Just(By::Debit), 1 => Just(By::Transfer)];
    let word =
        prop_oneof![Just(Word::Done), Just(Word::Refused), Just(Word::Silent), Just(Word::NeverReceived)];
    prop_oneof![
        12 => (by.clone(), 1..20_000_i64, seller(), script()).prop_map(|(by, usd_cents, seller, bank)| Act::Collect { by, usd_cents, seller, bank }),
        2 => (1..20_000_i64, any::<bool>(), script()).prop_map(|(usd_cents, sends_otp, bank)| Act::Intent { usd_cents, sends_otp, bank }),
        5 => (any::<usize>(), seller()).prop_map(|(n, seller)| Act::Execute { n, seller }),
        3 => (any::<usize>(), any::<bool>()).prop_map(|(n, sends_otp)| Act::Supersede { n, sends_otp }),
        5 => (any::<usize>(), by.clone(), 1..20_000_i64, script()).prop_map(|(n, by, usd_cents, bank)| Act::Again { n, by, usd_cents, bank }),
        1 => (1..50_000_i64, script()).prop_map(|(cents, bank)| Act::Otp { cents, bank }),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(n, other)| Act::Repeat { n, other }),
        2 => any::<usize>().prop_map(|n| Act::Look { n }),
        3 => (any::<usize>(), word).prop_map(|(n, word)| Act::Say { n, word }),
        8 => (any::<usize>(), script()).prop_map(|(n, bank)| Act::Reverse { n, bank }),
        2 => (1..20_000_i64, 1..40_000_i64, script()).prop_map(|(usd_cents, before_ms, bank)| Act::ReverseAtTheEnd { usd_cents, before_ms, bank }),
        4 => (any::<usize>(), prop_oneof![1..1_200_i64, Just(1_000)]).prop_map(|(n, thousandths)| Act::ChargeBack { n, thousandths }),
        4 => (any::<usize>(), any::<usize>(), any::<bool>()).prop_map(|(n, nth, won)| Act::Close { n, nth, won }),
    ]
}

fn payouts() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (to(), 1..300_000_i64, script()).prop_map(|(to, cents, bank)| Act::Pay { to, cents, bank }),
        1 => (prop::collection::vec((to(), 1..200_000_i64), 1..6), script()).prop_map(|(to, bank)| Act::Batch { to, bank }),
    ]
}

fn agents(outs: BoxedStrategy<Act>) -> BoxedStrategy<Act> {
    let most = |most: i64| prop::option::weighted(0.6, 0..most);
    let bounds = (most(400_000), most(600_000), most(1_200_000), most(150_000), prop::bool::weighted(0.15));
    prop_oneof![
        2 => (0..AGENTS, bounds).prop_map(|(agent, (per_call, per_day, per_month, above, phone_only))| {
            let bounds = Bounds { per_call, per_day, per_month, above, phone_only };
            Act::Bind { agent, bounds }
        }),
        10 => (0..AGENTS, outs).prop_map(|(agent, act)| Act::ByAgent { agent, act: Box::new(act) }),
        5 => (any::<usize>(), prop::bool::weighted(0.8)).prop_map(|(n, approve)| Act::Decide { n, approve }),
    ]
    .boxed()
}

/// What takes bolívares out.
fn outs() -> BoxedStrategy<Act> {
    prop_oneof![
        8 => payouts(),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(n, other)| Act::Repeat { n, other }),
        3 => (any::<usize>(), script()).prop_map(|(n, bank)| Act::Reverse { n, bank }),
    ]
    .boxed()
}

fn outs_of_other_money() -> BoxedStrategy<Act> {
    let n = any::<usize>;
    prop_oneof![
        n().prop_map(|n| Act::Accept { n }),
        (1..100_000_i64, script()).prop_map(|(cents, bank)| Act::PayCrypto { cents, bank }),
        (n(), script()).prop_map(|(n, bank)| Act::RefundPesos { n, bank }),
    ]
    .boxed()
}

fn merchants() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<bool>().prop_map(|shell| Act::Register { shell }),
        4 => any::<usize>().prop_map(|n| Act::AddMethod { n }),
        8 => (any::<usize>(), any::<usize>(), script()).prop_map(|(n, nth, bank)| Act::Prove { n, nth, bank }),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(n, nth)| Act::SetDefault { n, nth }),
        2 => (any::<usize>(), any::<usize>()).prop_map(|(n, nth)| Act::DeleteMethod { n, nth }),
        4 => (any::<usize>(), prop::bool::weighted(0.7)).prop_map(|(n, active)| Act::Switch { n, active }),
        2 => any::<usize>().prop_map(|n| Act::DeleteMerchant { n }),
        2 => script().prop_map(|bank| Act::SetOwn { bank }),
    ]
}

/// The steps that only a few sequences contain: they take long.
fn many() -> impl Strategy<Value = Act> {
    prop_oneof![
        (any::<usize>(), 90..105_usize).prop_map(|(n, times)| Act::ChargeBackOften { n, times }),
        (any::<usize>(), 90..105_usize).prop_map(|(n, times)| Act::AddMethods { n, times }),
    ]
}

fn other_money() -> impl Strategy<Value = Act> {
    let n = any::<usize>;
    prop_oneof![
        3 => (any::<bool>(), 1..5_000_000_i64, any::<bool>()).prop_map(|(usdt, minor, held)| Act::Grant { usdt, minor, held }),
        3 => (any::<bool>(), 1..2_000_000_i64).prop_map(|(pesos, minor)| Act::Quote { pesos, minor }),
        3 => n().prop_map(|n| Act::Accept { n }),
        2 => (n(), 0..3_u8).prop_map(|(n, how)| Act::EndConversion { n, how }),
        3 => (1..100_000_i64, script()).prop_map(|(cents, bank)| Act::PayCrypto { cents, bank }),
        2 => (n(), any::<bool>()).prop_map(|(n, approve)| Act::Review { n, approve }),
        1 => Just(Act::OpenAddress),
        2 => (n(), 1..50_000_i64).prop_map(|(n, cents)| Act::Deposit { n, cents }),
        5 => (20_000..3_000_000_i64, 0..3_u8, script()).prop_map(|(minor, channel, bank)| Act::CollectPesos { minor, channel, bank }),
        4 => (n(), prop::bool::weighted(0.8)).prop_map(|(n, pays)| Act::Buyer { n, pays }),
        1 => n().prop_map(|n| Act::Code { n }),
        1 => n().prop_map(|n| Act::CancelPesos { n }),
        2 => (n(), script()).prop_map(|(n, bank)| Act::RefundPesos { n, bank }),
        2 => (1..2_000_000_i64).prop_map(|minor| Act::PayPesos { minor }),
        2 => (n(), any::<bool>()).prop_map(|(n, well)| Act::SettlePesos { n, well }),
        1 => (0..=100_u8).prop_map(|percent| Act::AutoConvert { percent }),
    ]
}

fn time() -> impl Strategy<Value = Act> {
    let spike = prop_oneof![61_000..3_600_000_i64, DAY_MS..40 * DAY_MS];
    prop_oneof![
        6 => prop_oneof![1..120_000_i64, 1..DAY_MS, DAY_MS - 120_000..DAY_MS + 120_000, DAY_MS..4 * DAY_MS].prop_map(|ms| Act::Jump { ms }),
        1 => Just(Act::JumpToTheEnd),
        4 => prop_oneof![1_000..120_000_i64, 1..DAY_MS, DAY_MS..2 * DAY_MS].prop_map(|ms| Act::Sleep { ms }),
        4 => prop_oneof![1..100_u64, 1_000..70_000_u64].prop_map(|ms| Act::Wait { ms }),
        2 => (spike, any::<bool>()).prop_map(|(ms, back)| Act::Spike { ms: if back { -ms } else { ms } }),
        2 => Just(Act::Unspike),
        1 => Just(Act::Confirm),
    ]
}

fn feeds() -> impl Strategy<Value = Act> {
    let says = prop_oneof![
        6 => (800..1_250_i64).prop_map(Says::Near),
        2 => prop_oneof![1..1_000_i64, 1_000..100_000_000_i64, Just(10_000_000_000_000)].prop_map(Says::Anything),
        3 => Just(Says::Again),
    ];
    prop_oneof![
        6 => (any::<bool>(), says.clone()).prop_map(|(pesos, says)| Act::Feed { pesos, says }),
        1 => (any::<bool>(), says).prop_map(|(pesos, says)| Act::FeedInsists { pesos, says }),
    ]
}

fn trouble() -> impl Strategy<Value = Act> {
    let crash = prop_oneof![Just(Crash::Lost), Just(Crash::Kept), (0..4_000_usize).prop_map(Crash::Torn)];
    prop_oneof![
        4 => Just(Act::Snapshot),
        1 => Just(Act::Restart),
        4 => (1..12_u64, crash).prop_map(|(writes, crash)| Act::Kill { writes, crash }),
        1 => (0..20_000_usize).prop_map(|bytes| Act::Full { bytes }),
        1 => (any::<usize>(), any::<usize>(), any::<usize>())
            .prop_map(|(family, key, at)| Act::Damage { place: Place { family, key, at } }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let bolivares =
        prop_oneof![120 => money(), 400 => collections(), 200 => payouts(), 160 => merchants(), 1 => many()];
    let who = prop_oneof![7 => Just(Who::Home), 2 => Just(Who::Other), 1 => Just(Who::Live)];
    let whose = prop_oneof![
        14 => (who.clone(), bolivares),
        3 => agents(outs()).prop_map(|act| (Who::Home, act)),
        5 => other_money().prop_map(|act| (Who::Other, act)),
        1 => agents(outs_of_other_money()).prop_map(|act| (Who::Other, act)),
        1 => feeds().prop_map(|act| (Who::Other, act)),
        4 => (who, time()),
        2 => trouble().prop_map(|act| (Who::Home, act)),
    ];
    (whose, prop::bool::weighted(0.25)).prop_map(|((who, act), together)| Step { who, act, together })
}

/// The steps of a seed.
pub fn of_seed(seed: u64, len: usize) -> Vec<Step> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    prop::collection::vec(step(), len).new_tree(&mut runner).expect("a sequence").current()
}
