//! What follows from what a node says of a payout's transactions.

use super::*;
use crate::cause::Cause;
use crate::decision::Turn;
use crate::entities::Entity;
use crate::entities::crypto_payout::{CryptoPayout, Status};
use crate::ledger::book::Book;
use crate::ledger::spending::Drawn;
use crate::resources::crypto::payouts::{self, Command};
use crate::trace::{OrderState, Trace};
use crate::values::address::Network;
use crate::values::ids::Id;
use crate::values::money::Usdt;
use crate::values::text::ExternalRef;
use proptest::prelude::*;
use std::sync::Arc;

const CONFIRMATIONS: u64 = 12;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(ms)
}

fn fees(tip: u64, max: u64) -> Fees {
    Fees { tip, max }
}

fn signing(hash: u8, fees: Fees) -> Signing {
    Signing {
        chain_id: 1,
        wallet: [7; 20],
        nonce: 5,
        since_block: 90,
        hash: [hash; 32],
        fees,
        raw: vec![hash],
    }
}

fn transfer() -> Transfer {
    Transfer::begun(signing(1, fees(100, 1_000)), at(0))
}

fn taken(hash: u8, block: u64) -> Taken {
    Taken { hash: [hash; 32], block, is_success: true, has_paid: true }
}

fn standing(head: u64, taken: &[Taken], other: Option<(Hash, u64)>) -> Standing {
    let replaced = transfer().replaced(signing(2, fees(200, 2_000)), at(1)).expect("a replacement");
    Seen { head, taken: taken.to_vec(), other }.standing(&replaced, CONFIRMATIONS)
}

#[test]
fn a_payout_is_done_when_its_block_is_final_and_not_before() {
    let done = |hash: u8| Standing::Done { hash: [hash; 32] };
    for (head, hash, expected) in [
        (100, 1, Standing::Unconfirmed),
        (110, 1, Standing::Unconfirmed),
        (111, 1, done(1)),
        (111, 2, done(2)),
        (5_000, 2, done(2)),
        // A block that is not there yet.
        (99, 1, Standing::Doubtful),
        // A transaction that is none of the payout's.
        (5_000, 3, Standing::Doubtful),
    ] {
        assert_eq!(standing(head, &[taken(hash, 100)], None), expected, "{head} {hash}");
    }
    assert_eq!(standing(5_000, &[], None), Standing::Open);
}

#[test]
fn a_payout_fails_when_its_transaction_reverted_or_another_has_the_nonce_for_good() {
    let failed = |code| Standing::Failed { code };
    let reverted = Taken { is_success: false, has_paid: false, ..taken(1, 100) };
    let unpaid = Taken { has_paid: false, ..taken(1, 100) };
    for (head, seen, other, expected) in [
        (110, vec![reverted], None, Standing::Unconfirmed),
        (111, vec![reverted], None, failed(REVERTED)),
        (111, vec![unpaid], None, Standing::Doubtful),
        (110, vec![], Some(([9; 32], 100)), Standing::Unconfirmed),
        (111, vec![], Some(([9; 32], 100)), failed(NONCE_USED)),
        // The node has one of ours there, and no receipt of it.
        (111, vec![], Some(([2; 32], 100)), Standing::Doubtful),
        (111, vec![taken(1, 100)], Some(([9; 32], 100)), Standing::Doubtful),
        (111, vec![taken(1, 100), taken(2, 100)], None, Standing::Doubtful),
    ] {
        assert_eq!(standing(head, &seen, other), expected, "{head} {seen:?} {other:?}");
    }
}

#[test]
fn a_replacement_has_the_same_nonce_and_pays_more() {
    let more = fees(110, 1_100);
    let replaced = transfer().replaced(signing(2, more), at(9)).expect("a replacement");
    assert_eq!((replaced.attempts.len(), replaced.nonce, replaced.raw.as_slice()), (2, 5, [2].as_slice()));
    assert_eq!(replaced.newest().map(|newest| (newest.fees, newest.at)), Some((more, at(9))));
    for other in [
        Signing { nonce: 6, ..signing(2, more) },
        Signing { chain_id: 2, ..signing(2, more) },
        Signing { wallet: [8; 20], ..signing(2, more) },
        signing(1, more),
        signing(2, fees(109, 1_100)),
        signing(2, fees(110, 1_099)),
        signing(2, fees(1_200, 1_100)),
    ] {
        assert_eq!(transfer().replaced(other.clone(), at(9)), None, "{other:?}");
    }
    let mut many = transfer();
    let mut pays = fees(1_000, 10_000);
    for n in 2_u8.. {
        let Some(next) = many.replaced(signing(n, pays), at(0)) else { break };
        (many, pays) = (next, fees(pays.tip * 2, pays.max * 2));
    }
    assert_eq!(many.attempts.len(), ATTEMPTS_MAX);
}

#[test]
fn only_the_next_transaction_of_a_wallet_is_replaced_and_only_when_it_is_stuck() {
    let market = Market { count: 5, offered: Some(fees(50, 500)), max: 10_000, stuck_after_ms: 60_000 };
    let replace = Move::Replace(fees(113, 1_125));
    for (market, now, expected) in [
        (market, 59_999, Move::Broadcast),
        (market, 60_000, replace),
        (Market { count: 4, ..market }, 60_000, Move::Broadcast),
        (Market { count: 6, ..market }, 60_000, Move::Broadcast),
        (Market { offered: None, ..market }, 60_000, Move::Broadcast),
        (Market { max: 1_050, ..market }, 60_000, Move::Broadcast),
        (Market { max: 1_110, ..market }, 60_000, Move::Replace(fees(113, 1_110))),
        (Market { offered: Some(fees(900, 5_000)), ..market }, 60_000, Move::Replace(fees(900, 5_000))),
    ] {
        assert_eq!(next_move(&transfer(), market, at(now)), expected, "{market:?} {now}");
    }
}

#[test]
fn fees_are_waited_for_when_a_block_charges_more_than_is_paid() {
    for (base, tip, max, offered) in [
        (100, 10, 1_000, Some(fees(10, 210))),
        (500, 10, 1_000, Some(fees(10, 1_000))),
        (1_000, 10, 1_000, Some(fees(10, 1_000))),
        (1_001, 10, 1_000, None),
        (0, 50, 1_000, Some(fees(50, 50))),
        (0, 5_000, 1_000, Some(fees(1_000, 1_000))),
        (0, 0, 1_000, None),
        (u64::MAX, 1, u64::MAX, None),
    ] {
        assert_eq!(Fees::offered(base, tip, max), offered, "{base} {tip} {max}");
    }
}

proptest! {
    #[test]
    fn nothing_is_decided_by_a_block_that_may_go(
        head in 0_u64..300,
        confirmations in 1_u64..40,
        block in 0_u64..300,
        is_success: bool,
        has_paid: bool,
        is_other: bool,
    ) {
        let seen = Seen {
            head,
            taken: if is_other { vec![] } else { vec![Taken { is_success, has_paid, ..taken(1, block) }] },
            other: is_other.then_some(([9; 32], block)),
        };
        let standing = seen.standing(&transfer(), confirmations);
        let is_final = block + confirmations <= head + 1;
        let is_decided = matches!(standing, Standing::Done { .. } | Standing::Failed { .. });
        prop_assert!(is_final || !is_decided, "{standing:?}");
        prop_assert_eq!(
            matches!(standing, Standing::Done { .. }),
            is_final && !is_other && is_success && has_paid
        );
    }

    #[test]
    fn fees_never_exceed_what_is_paid_at_most(
        base in 0_u64..2_000,
        tip in 0_u64..2_000,
        max in 1_u64..3_000,
        before in (0_u64..2_000, 0_u64..2_000),
    ) {
        let Some(offered) = Fees::offered(base, tip, max) else { return Ok(()) };
        prop_assert!(offered.tip <= offered.max && offered.max <= max);
        if let Some(more) = fees(before.0, before.1).outbidding(offered, max) {
            prop_assert!(more.tip <= more.max && more.max <= max);
            prop_assert!(more.max * 10 >= before.1 * 11 && more.tip * 10 >= before.0 * 11);
        }
    }
}

/// A payout of live mode, or of test mode, that stands so.
fn payout(status: Status, livemode: bool) -> CryptoPayout {
    CryptoPayout {
        id: Id::derived(1, 1, 0),
        external_ref: ExternalRef::parse("wallet-1").expect("a reference"),
        status,
        amount: Usdt::from_minor(100),
        fee: Usdt::from_minor(20),
        network: Network::Polygon,
        address: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8".to_owned(),
        tx_hash: None,
        failure_code: None,
        kept: None,
        livemode,
        created_at: at(0),
        settled_at: None,
        order: OrderState { sends: 1, trace: Trace::queued(), ..OrderState::default() },
        transfer: None,
        drawn: Drawn::NONE,
    }
}

#[test]
fn a_transaction_is_recorded_only_for_a_live_payout_on_its_way() {
    let turn = Turn { livemode: true, ..Turn::at(at(9)) };
    let signed = |payout: &CryptoPayout, signing: Signing| {
        let command = Command::Sign(Box::new(signing));
        let ruling = payouts::decide(&Book::default(), Some(payout), command, &turn).expect("decided");
        assert!(ruling.effects.is_empty());
        ruling.record.map(|draft| (draft.record.cause, Arc::clone(&draft.record.entities[0].state)))
    };
    for status in Status::ALL {
        let is_recorded = signed(&payout(status, true), signing(1, fees(100, 1_000))).is_some();
        assert_eq!(is_recorded, status == Status::Processing, "{status:?}");
    }
    assert!(signed(&payout(Status::Processing, false), signing(1, fees(100, 1_000))).is_none());
    let (cause, state) =
        signed(&payout(Status::Processing, true), signing(1, fees(100, 1_000))).expect("recorded");
    let Entity::CryptoPayout(first) = &*state else { panic!("{state:?}") };
    assert_eq!(
        (cause, first.transfer.as_deref()),
        (Cause::CryptoPayoutSigned, Some(&Transfer::begun(signing(1, fees(100, 1_000)), at(9))))
    );
    // The same again is none, and neither is one of another nonce.
    assert!(signed(first, signing(1, fees(100, 1_000))).is_none());
    assert!(signed(first, Signing { nonce: 6, ..signing(2, fees(200, 2_000)) }).is_none());
    let (_, state) = signed(first, signing(2, fees(200, 2_000))).expect("recorded");
    let Entity::CryptoPayout(second) = &*state else { panic!("{state:?}") };
    assert_eq!(second.transfer.as_ref().map(|transfer| transfer.attempts.len()), Some(2));
}

/// An operator said why it failed; then the network had paid it. The code is not the network's word.
#[test]
fn a_contradicted_payout_shows_the_code_of_the_network_alone() {
    let said = |status| CryptoPayout {
        failure_code: Some("OURS".to_owned()),
        tx_hash: Some("0x01".to_owned()),
        ..payout(status, true)
    };
    for (status, code) in [(Status::Failed, None), (Status::Completed, Some("OURS"))] {
        let found = Entity::CryptoPayout(said(status)).rules().contradiction(at(0)).expect("one");
        assert_eq!((found.code.as_deref(), found.reference.as_deref()), (code, Some("0x01")), "{status:?}");
    }
}
