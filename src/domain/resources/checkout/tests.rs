//! Prices in pesos, and the status of a session by its attempts, whatever their order.

use super::*;
use crate::entities::cop_payment::{ForSession, Phase as CopPhase, Telling, Waiting};
use crate::entities::deposit_address::{Asset, Till};
use crate::entities::means::Means;
use crate::ledger::spending::Drawn;
use crate::resources::payments::charge::Figured;
use crate::values::address::Network;
use crate::values::colombia::Channel;
use crate::values::money::Usdt;
use crate::values::money::Ves;
use std::str::FromStr;

const OPENED: Timestamp = Timestamp::from_unix_ms(1_000_000);

fn rate(text: &str) -> Rate {
    Rate(Decimal::from_str(text).expect("a decimal"))
}

#[test]
fn dollars_become_pesos_with_the_margin_and_whole() {
    for (cents, market, shown, total) in [
        (1_000, "4000", "4100.0000", 41_000),
        (1_000, "4000.00000000", "4100.0000", 41_000),
        // 4102.4641: ten dollars are 41,024.641, and nobody pays a part of a peso.
        (1_000, "4002.40400000", "4102.4641", 41_025),
        // Half a ten-thousandth goes up.
        (100, "4000.00004879", "4100.0001", 4_101),
        (1, "4000", "4100.0000", 41),
        (10_000_000, "4321.12340000", "4429.1515", 442_915_150),
    ] {
        let price = InPesos::of(Usd::from_minor(cents), rate(market)).expect("it fits");
        assert_eq!(
            (price.rate.0.to_string().as_str(), price.total),
            (shown, Cop::from_minor(total)),
            "{cents} at {market}"
        );
        assert_eq!(price.market_rate, rate(market));
    }
    assert!(InPesos::of(Usd::from_minor(487), rate("4000")).is_some_and(|price| price.is_too_little()));
    assert!(InPesos::of(Usd::from_minor(488), rate("4000")).is_some_and(|price| !price.is_too_little()));
    assert_eq!(InPesos::of(Usd::from_minor(10_000_000), rate("99999999")), None);
}

fn session() -> Session {
    Session {
        id: Id::derived(1, 1, 0),
        amount: Usd::from_minor(1_000),
        description: None,
        reference: None,
        success_url: None,
        cancel_url: None,
        offered: Vec::new(),
        metadata: None,
        url: String::new(),
        bought: None,
        livemode: false,
        created_at: OPENED,
        expires_at: OPENED.plus_ms(SESSION_MS),
    }
}

fn c2p(status: PaymentStatus, completed_at: Option<i64>, charging: bool) -> Payment {
    let turn = Turn::at(OPENED);
    let means = Means::Usdt { amount: Usdt::ZERO, seller_net: None, tx_hash: String::new() };
    let price = Figured { usd: session().amount, ves: Ves::ZERO, rate: rate("1") };
    let phase = if charging { Phase::Charging } else { Phase::Idle };
    let completed_at = completed_at.map(|ms| OPENED.plus_ms(ms));
    Payment {
        status,
        phase,
        completed_at,
        ..Payment::new(Id::derived(1, 2, 0), session().name(), means, price, &turn)
    }
}

fn cop(status: PaymentStatus, completed_at: Option<i64>) -> CopPayment {
    CopPayment {
        id: Id::derived(1, 3, 0),
        status,
        phase: CopPhase::Idle,
        channel: Channel::Qr,
        amount: Cop::from_minor(41_000),
        fee: None,
        reference: None,
        metadata: None,
        buyer: None,
        marketplace: None,
        processor_reference: None,
        failure: None,
        own_code: None,
        refunds: 0,
        order: crate::trace::OrderState::default(),
        qr_image: None,
        live: None,
        canceler: None,
        code_token: None,
        drawn: Drawn::NONE,
        refund_reference: None,
        earlier_refunds: Vec::new(),
        kept: None,
        livemode: false,
        created_at: OPENED,
        expires_at: OPENED,
        completed_at: completed_at.map(|ms| OPENED.plus_ms(ms)),
        available_at: None,
        refunded_at: None,
        checkout: Some(Box::new(ForSession {
            sale: session().sale(),
            usd: session().amount,
            rate: rate("4100"),
            market_rate: rate("4000"),
            platform_fee: None,
        })),
    }
}

/// The processor has been sent the code, and has not answered.
fn told(payment: CopPayment) -> CopPayment {
    CopPayment { phase: CopPhase::Collecting(Waiting { telling: Some(Telling::Code), codes: 0 }), ..payment }
}

fn usdt(paid: Option<i64>) -> DepositAddress {
    let paid = paid.map(|ms| (OPENED.plus_ms(ms), Id::derived(1, 4, 0)));
    let (received, seller_received) = (Usdt::ZERO, Usdt::ZERO);
    let till = Till {
        sale: session().sale(),
        amount: session().amount,
        marketplace: None,
        more: Vec::new(),
        received,
        seller_received,
        paid,
        generation: 0,
    };
    DepositAddress {
        id: Id::derived(1, 5, 0),
        customer_ref: session().name(),
        network: Network::Trc20,
        asset: Asset::Usdt,
        address: String::new(),
        livemode: false,
        created_at: OPENED,
        till: Some(Box::new(till)),
    }
}

#[test]
fn where_a_session_stands() {
    use PaymentStatus::{Canceled, Completed, Failed, Pending, Reversed};
    let (c2p_id, cop_id, usdt_id) = (Id::derived(1, 2, 0), Id::derived(1, 3, 0), Id::derived(1, 4, 0));
    let late = SESSION_MS;
    for (at, c2p, cop, usdt, stands) in [
        (0, None, None, None, Status::Open),
        (late - 1, Some(c2p(Pending, None, false)), Some(cop(Pending, None)), Some(usdt(None)), Status::Open),
        (late, Some(c2p(Pending, None, false)), Some(cop(Pending, None)), Some(usdt(None)), Status::Expired),
        (late, Some(c2p(Pending, None, true)), None, None, Status::Processing),
        (late, None, Some(told(cop(Pending, None))), None, Status::Processing),
        (0, Some(c2p(Failed, None, false)), Some(cop(Canceled, None)), None, Status::Open),
        (0, Some(c2p(Completed, Some(5), false)), None, None, Status::Paid(c2p_id)),
        // A payment that was reversed afterwards had paid the session all the same.
        (late, Some(c2p(Reversed, Some(5), false)), None, None, Status::Paid(c2p_id)),
        (late, None, Some(cop(Reversed, Some(5))), None, Status::Paid(cop_id)),
        // Two at once: the first one is the session's, whichever it is, and stays so.
        (
            9,
            Some(c2p(Completed, Some(6), false)),
            Some(cop(Completed, Some(5))),
            Some(usdt(Some(7))),
            Status::Paid(cop_id),
        ),
        (
            9,
            Some(c2p(Completed, Some(6), false)),
            Some(cop(Completed, Some(7))),
            Some(usdt(Some(5))),
            Status::Paid(usdt_id),
        ),
        (9, Some(c2p(Pending, None, true)), None, Some(usdt(Some(5))), Status::Paid(usdt_id)),
        // Money that comes after the end pays too.
        (late + 9, None, None, Some(usdt(Some(late + 5))), Status::Paid(usdt_id)),
    ] {
        let attempts = Attempts { bolivares: c2p, cop, usdt };
        assert_eq!(attempts.standing(&session(), OPENED.plus_ms(at)), stands, "{attempts:?} at {at}");
    }
}
