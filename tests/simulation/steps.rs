//! What can happen, drawn at random: the commands of a tenant, of its operator and of the banks,
//! and time.

use domain::time::DAY_MS;
use proptest::prelude::*;

/// What a bank does with an order, and says when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bank {
    /// Done, and said so.
    Done,
    /// Refused, and said so.
    Refused,
    /// Not a word, or "later".
    Silent,
    /// It never arrived.
    Lost,
}

/// By what is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    C2p,
    Card,
    Debit,
    Transfer,
}

/// Who is paid; merchants by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    Merchant { n: usize, from_balance: bool },
    Phone,
    Account,
    Own,
}

/// One of them. A number `n` names the n-th of what there is, modulo how many there are; `None` of
/// an optional one is nobody.
#[derive(Clone, Debug)]
pub enum Step {
    Fund {
        cents: i64,
        held: bool,
        seller: Option<usize>,
    },
    Correct {
        cents: i64,
    },
    /// Reserve, fee of a payout, fee of a chargeback, business days of a seller's hold.
    Settings {
        reserve: i64,
        payout_fee: i64,
        chargeback_fee: i64,
        hold_days: u32,
    },
    /// With the seller and the tenant's percentage, in ten thousandths of a percent.
    Collect {
        by: By,
        usd_cents: i64,
        seller: Option<(usize, u32)>,
        bank: Bank,
    },
    /// An intent that nobody executes at once.
    Intent {
        usd_cents: i64,
    },
    Execute {
        n: usize,
        bank: Bank,
    },
    Supersede {
        n: usize,
    },
    /// The same command once more, on its reference; `other` with another amount.
    Repeat {
        n: usize,
        other: bool,
    },
    /// The bank is asked about it although nothing is due.
    Ask {
        n: usize,
        bank: Bank,
    },
    Reverse {
        n: usize,
        bank: Bank,
    },
    /// So many thousandths of the amount; 1000 is all that is left.
    ChargeBack {
        n: usize,
        thousandths: i64,
    },
    Close {
        n: usize,
        nth: usize,
        won: bool,
    },
    Pay {
        to: To,
        cents: i64,
        bank: Bank,
    },
    /// The last item repeats the first one.
    Batch {
        to: Vec<(To, i64)>,
        bank: Bank,
    },
    Register {
        shell: bool,
    },
    AddMethod {
        n: usize,
    },
    Prove {
        n: usize,
        nth: usize,
        bank: Bank,
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
    /// Another account of the tenant's own, proved if the bank says so.
    SetOwn {
        bank: Bank,
    },
    /// Time passes, and what falls due meanwhile happens at its instant.
    Wait {
        ms: i64,
        bank: Bank,
    },
    /// Everything in memory is lost.
    Crash,
}

fn bank() -> impl Strategy<Value = Bank> + Clone {
    prop_oneof![5 => Just(Bank::Done), 1 => Just(Bank::Refused), 1 => Just(Bank::Silent), 1 => Just(Bank::Lost)]
}

fn to() -> impl Strategy<Value = To> + Clone {
    prop_oneof![
        4 => (any::<usize>(), any::<bool>()).prop_map(|(n, from_balance)| To::Merchant { n, from_balance }),
        1 => Just(To::Phone),
        1 => Just(To::Account),
        1 => Just(To::Own),
    ]
}

fn money() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..500_000_i64, any::<bool>(), prop::option::weighted(0.2, any::<usize>()))
            .prop_map(|(cents, held, seller)| Step::Fund { cents, held, seller }),
        (-100_000..100_000_i64)
            .prop_filter("not nothing", |cents| *cents != 0)
            .prop_map(|cents| Step::Correct { cents }),
        (0..50_000_i64, 0..300_i64, 0..300_i64, 0..4_u32).prop_map(
            |(reserve, payout_fee, chargeback_fee, hold_days)| Step::Settings {
                reserve,
                payout_fee,
                chargeback_fee,
                hold_days
            }
        ),
    ]
}

fn collections() -> impl Strategy<Value = Step> {
    let by =
        prop_oneof![3 => Just(By::C2p), 3 => Just(By::Card), 1 => Just(By::Debit), 1 => Just(By::Transfer)];
    let seller = prop::option::weighted(
        0.6,
        (any::<usize>(), prop_oneof![5 => 0..300_000_u32, 1 => 900_000..=1_000_000_u32]),
    );
    prop_oneof![
        6 => (by, 1..20_000_i64, seller, bank()).prop_map(|(by, usd_cents, seller, bank)| Step::Collect { by, usd_cents, seller, bank }),
        1 => (1..20_000_i64).prop_map(|usd_cents| Step::Intent { usd_cents }),
        1 => (any::<usize>(), bank()).prop_map(|(n, bank)| Step::Execute { n, bank }),
        1 => any::<usize>().prop_map(|n| Step::Supersede { n }),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(n, other)| Step::Repeat { n, other }),
        2 => (any::<usize>(), bank()).prop_map(|(n, bank)| Step::Ask { n, bank }),
        3 => (any::<usize>(), bank()).prop_map(|(n, bank)| Step::Reverse { n, bank }),
        2 => (any::<usize>(), prop_oneof![1..1_200_i64, Just(1_000)]).prop_map(|(n, thousandths)| Step::ChargeBack { n, thousandths }),
        2 => (any::<usize>(), any::<usize>(), any::<bool>()).prop_map(|(n, nth, won)| Step::Close { n, nth, won }),
    ]
}

fn payouts() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (to(), 1..300_000_i64, bank()).prop_map(|(to, cents, bank)| Step::Pay { to, cents, bank }),
        1 => (prop::collection::vec((to(), 1..200_000_i64), 1..6), bank()).prop_map(|(to, bank)| Step::Batch { to, bank }),
    ]
}

fn merchants() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => any::<bool>().prop_map(|shell| Step::Register { shell }),
        2 => any::<usize>().prop_map(|n| Step::AddMethod { n }),
        4 => (any::<usize>(), any::<usize>(), bank()).prop_map(|(n, nth, bank)| Step::Prove { n, nth, bank }),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(n, nth)| Step::SetDefault { n, nth }),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(n, nth)| Step::DeleteMethod { n, nth }),
        2 => (any::<usize>(), prop::bool::weighted(0.7)).prop_map(|(n, active)| Step::Switch { n, active }),
        1 => any::<usize>().prop_map(|n| Step::DeleteMerchant { n }),
        1 => bank().prop_map(|bank| Step::SetOwn { bank }),
    ]
}

/// Any of them.
pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => money(),
        8 => collections(),
        5 => payouts(),
        4 => merchants(),
        4 => (prop_oneof![1..120_000_i64, 1..DAY_MS, DAY_MS..4 * DAY_MS], bank()).prop_map(|(ms, bank)| Step::Wait { ms, bank }),
        1 => Just(Step::Crash),
    ]
}
