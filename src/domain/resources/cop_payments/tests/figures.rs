//! Fees, shares and the places that a refund takes money from, in figures alone.

use super::*;
use crate::values::ids::Id;
use crate::values::time::Timestamp;

#[test]
fn the_fee_rounds_half_up_and_never_exceeds_the_amount() {
    // By hand: 4.5 percent of 20,011 is 900.495, of 20,100 is 904.5, of 33,333 is 1,499.985.
    for (amount, expected) in [
        (0, 0),
        (1, 1),
        (1_500, 1_500),
        (1_570, 1_570),
        (1_571, 1_571),
        (1_572, 1_571),
        (20_000, 2_400),
        (20_011, 2_400),
        (20_100, 2_405),
        (33_333, 3_000),
        (50_000, 3_750),
        (100_503, 6_023),
        (999_999_999_999, 45_000_001_500),
    ] {
        assert_eq!(fee(Cop::from_minor(amount)), Some(Cop::from_minor(expected)), "{amount}");
    }
    assert_eq!(fee(Cop::from_minor(i64::MAX)), None);
}

#[test]
fn what_the_tenant_keeps_of_a_sellers_sale() {
    for (amount, ten_thousandths, commission, seller) in [
        (100_000, 100_000, 10_000, 84_000),
        (100_000, 0, 0, 94_000),
        (20_010, 12_345, 247, 17_363),
        (20_000, 880_000, 17_600, 0),
        (20_000, 880_100, 17_602, -2),
    ] {
        let got = figures(Cop::from_minor(amount), Some(percent(ten_thousandths)), None).expect("they fit");
        let expected = (Some(commission), Some(seller));
        assert_eq!((got.commission, got.seller_net), expected, "{ten_thousandths} of {amount}");
    }
    assert_eq!(
        figures(Cop::from_minor(50_000), None, None),
        Some(Figures { fee: 3_750, commission: None, seller_net: None, platform_fee: None })
    );
}

#[test]
fn a_transfer_key_follows_from_the_id_and_has_twenty_characters() {
    let id = |n| Id::derived(T0, n, 0);
    let key = |n| payment_of(id(n)).transfer_key();
    assert_eq!(key(1), key(1));
    assert_ne!(key(1), key(2));
    assert!(
        key(7).len() == 20
            && key(7).starts_with("@PSR")
            && key(7)[1..].bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    );
}

#[test]
fn a_refund_takes_of_so_many_holds_and_no_more() {
    let mut account = Account::default();
    for name in 0..30_000 {
        hold(&mut account, Timestamp::from_unix_ms(T0 + i64::from(name)).into(), name, 2);
    }
    let own = Some((Timestamp::from_unix_ms(T0 + 25_000), Id::derived(1, 1, 25_000)));
    let most = 2 * (1 + HOLDS_MAX as i64);
    assert_eq!((spendable(&account, own), take(&account, own, most + 1)), (most, None));
    assert_eq!(
        take(&account, own, most).expect("covered").from_holds.len(),
        1 + HOLDS_MAX,
        "its own hold wherever it is"
    );
}

fn hold(account: &mut Account, release_at: Release, name: u16, minor: i64) {
    let change = HoldChange {
        ledger: Ledger::Tenant,
        currency: Currency::Cop,
        release_at,
        hold: Id::derived(1, 1, name),
        minor,
    };
    account.net += minor;
    account.hold(&change);
}

proptest! {
    /// The amount is taken whole or not at all, never more from a place than it has, from the own
    /// hold first, and nothing from what is set aside already.
    #[test]
    fn taking_is_exact(
        holds in proptest::collection::vec((1_i64..50, 1_i64..100_000), 0..6),
        aside in 0_i64..50_000,
        free in -50_000_i64..100_000,
        wanted in 0_i64..300_000,
        own in 0_usize..6,
    ) {
        let mut account = Account { net: free, ..Account::default() };
        for (name, (at, minor)) in holds.iter().enumerate() {
            hold(&mut account, Timestamp::from_unix_ms(*at).into(), name as u16, *minor);
        }
        if aside > 0 {
            hold(&mut account, Release::WhenDecided, 99, aside);
        }
        let own_key = holds.get(own).map(|(at, _)| (Timestamp::from_unix_ms(*at), Id::derived(1, 1, own as u16)));
        let taken = take(&account, own_key, wanted);
        prop_assert_eq!(taken.is_some(), wanted <= spendable(&account, own_key));
        prop_assert_eq!(spendable(&account, own_key), free + holds.iter().map(|(_, minor)| minor).sum::<i64>());
        let Some(Taken { from_holds, from_available }) = taken else { return Ok(()) };
        prop_assert_eq!(from_available + from_holds.iter().map(|part| part.minor).sum::<i64>(), wanted);
        prop_assert!(from_available >= 0 && from_available <= account.free().max(0));
        for part in &from_holds {
            prop_assert!(part.minor > 0 && part.minor <= account.held_for(part.release_at, part.hold));
        }
        let of_own = own_key.map_or(0, |key| account.held_for(key.0, key.1).min(wanted));
        let from_own: i64 = from_holds.iter().filter(|part| Some((part.release_at, part.hold)) == own_key).map(|part| part.minor).sum();
        prop_assert_eq!(from_own, of_own);
        // Another hold is touched only once what is available is used up.
        if from_holds.iter().any(|part| Some((part.release_at, part.hold)) != own_key) {
            prop_assert_eq!(from_available, account.free().max(0));
        }
    }

    /// The three parts of a sale are all of it, and the fee is 4.5 percent plus 1,500 to the peso.
    #[test]
    fn a_sale_is_shared_to_the_peso(amount in 20_000_i64..=999_999_999_999, ten_thousandths in 0_i64..=1_000_000) {
        let figures = figures(Cop::from_minor(amount), Some(percent(ten_thousandths)), None).expect("they fit");
        let parts = figures.fee + figures.commission.unwrap_or(0) + figures.seller_net.unwrap_or(0);
        prop_assert_eq!(parts, amount);
        let exact = Decimal::from(amount) * Decimal::new(45, 3) + Decimal::from(1_500);
        prop_assert!((Decimal::from(figures.fee) - exact).abs() <= Decimal::new(5, 1));
    }
}
