//! Tests of deposits to a session's addresses, in whatever parts: none is lost, and the session is
//! paid once, when there is enough.

use super::*;
use crate::entities::Entity;
use crate::entities::sale::Sale;
use crate::refusal::{CryptoRefusal, Refusal};
use crate::values::text::ExternalRef;
use proptest::prelude::*;

fn receive(book: &Book, to: &DepositAddress, incoming: Incoming, turn: &Turn) -> Ruling {
    super::receive(book, to, incoming, turn).unwrap_or_else(Ruling::refuse)
}

fn open_again(book: &Book, known: &DepositAddress, new: DepositAddress, turn: &Turn) -> Ruling {
    super::open_again(book, known, new, false, turn).unwrap_or_else(Ruling::refuse)
}

const SESSION: Id = Id::from_bytes([1; 16]);
const SELLER: Id = Id::from_bytes([2; 16]);

fn till(cents: i64, percent: Option<u32>) -> DepositAddress {
    let sale = Sale { session: SESSION, reference: None, metadata: None, link: None, platform_fee: None };
    let place = TillAddress { network: Network::Polygon, asset: Asset::Usdt, address: "0xAb".to_owned() };
    let till = Till {
        sale,
        amount: Usd::from_minor(cents),
        marketplace: percent.map(|percent| (SELLER, Rate(Decimal::from(percent)))),
        more: vec![place],
        received: Usdt::ZERO,
        seller_received: Usdt::ZERO,
        paid: None,
        generation: 0,
    };
    DepositAddress {
        id: Id::from_bytes([3; 16]),
        customer_ref: ExternalRef::parse("a session").expect("a reference"),
        network: Network::Trc20,
        asset: Asset::Usdt,
        address: "T1".to_owned(),
        livemode: false,
        created_at: Timestamp::from_unix_ms(0),
        till: Some(Box::new(till)),
    }
}

/// A deposit numbered `n`, to one address or the other.
fn incoming(n: usize, cents: i64) -> Incoming {
    let (address, network) =
        if n.is_multiple_of(2) { ("T1", Network::Trc20) } else { ("0xab", Network::Polygon) };
    let id = Id::derived(1_000 + n as i64, n as u64, 0);
    Incoming {
        id,
        address: address.to_owned(),
        amount: Usdt::from_minor(cents),
        network,
        asset: Asset::Usdt,
        tx_hash: format!("tx {n}"),
        entry: None,
    }
}

proptest! {
    #[test]
    fn parts_are_counted_and_pay_once(price in 1_i64..3_000, parts in proptest::collection::vec(1_i64..1_500, 1..8), percent in proptest::option::of(0_u32..=100)) {
        let mut book = Book::default();
        book.sellers.insert(SELLER, Default::default());
        let (mut to, mut payments, mut came) = (till(price, percent), Vec::new(), 0);
        for (n, cents) in parts.iter().enumerate() {
            let turn = Turn::at(Timestamp::from_unix_ms(1_000 + n as i64));
            let draft = receive(&book, &to, incoming(n, *cents), &turn).record.expect("money is never refused");
            came += cents;
            prop_assert_eq!(draft.record.postings.iter().map(|posting| posting.minor).sum::<i64>(), 0);
            let credited: i64 = draft.record.postings.iter().filter(|posting| posting.ledger != Ledger::Rail).map(|posting| posting.minor).sum();
            let held: i64 = draft.record.holds.iter().map(|hold| hold.minor).sum();
            prop_assert_eq!((credited, held), (*cents, *cents), "all of it is somebody's, and held");
            prop_assert!(draft.record.holds.iter().all(|hold| hold.minor >= 0));
            for written in &draft.record.entities {
                match &*written.state {
                    Entity::DepositAddress(changed) => to = changed.clone(),
                    Entity::Payment(payment) => payments.push(payment.clone()),
                    other => panic!("{other:?}"),
                }
            }
            let till = to.till.as_deref().expect("it stays a till");
            prop_assert_eq!(till.received.minor(), came);
            prop_assert_eq!(till.paid.is_some(), came >= price);
            prop_assert_eq!(till.paid.map(|(_, id)| id), payments.first().map(|payment| payment.id), "it keeps its first payment");
        }
        let amounts = |of: fn(&Means) -> Usdt| payments.iter().map(|payment| of(&payment.means).minor()).sum::<i64>();
        let all = amounts(|means| if let Means::Usdt { amount, .. } = means { *amount } else { Usdt::ZERO });
        prop_assert_eq!(all, if came >= price { came } else { 0 }, "once it is paid, every cent is in one payment");
        if let Some(first) = payments.first() {
            prop_assert_eq!(first.usd, Usd::from_minor(price));
            let sellers = amounts(|means| if let Means::Usdt { seller_net: Some(net), .. } = means { *net } else { Usdt::ZERO });
            prop_assert_eq!(sellers, to.till.as_ref().map_or(0, |till| till.seller_received.minor()));
            prop_assert!(sellers <= came);
        }
    }
}

#[test]
fn what_cannot_have_come_is_refused() {
    let turn = Turn::at(Timestamp::from_unix_ms(1_000));
    let wrong = [
        (
            Incoming { network: Network::Erc20, ..incoming(1, 5) },
            Refusal::Invalid { field: "network", message: "must be the address's own" },
        ),
        (
            Incoming { asset: Asset::Usdc, ..incoming(0, 5) },
            Refusal::Invalid { field: "asset", message: "must be the address's own" },
        ),
        (Incoming { address: "T2".to_owned(), ..incoming(0, 5) }, Refusal::NotFound),
    ];
    for (incoming, refusal) in wrong {
        let outcome = receive(&Book::default(), &till(5, None), incoming, &turn);
        assert_eq!((outcome.refusal, outcome.record.is_none()), (Some(refusal), true));
    }
}

#[test]
fn a_network_is_added_once_and_only_to_a_session() {
    let turn = Turn::at(Timestamp::from_unix_ms(1_000));
    let mut book = Book::default();
    book.tenant_settings.settings = std::sync::Arc::new(crate::platform::settings::Settings {
        usdt_enabled: true,
        ..(*book.tenant_settings.settings).clone()
    });
    let new = |network, asset| DepositAddress {
        id: Id::from_bytes([9; 16]),
        customer_ref: ExternalRef::parse("a session").expect("a reference"),
        network,
        asset,
        address: "0xcd".to_owned(),
        livemode: false,
        created_at: Timestamp::EPOCH,
        till: None,
    };
    let known = till(5, None);
    assert!(open_again(&book, &known, new(Network::Polygon, Asset::Usdt), &turn).record.is_none());
    let added = open_again(&book, &known, new(Network::Polygon, Asset::Usdc), &turn)
        .record
        .expect("another asset is another address");
    let Entity::DepositAddress(changed) = &*added.record.entities[0].state else { panic!("an address") };
    assert_eq!(
        (changed.id, changed.address_for(Network::Polygon, Asset::Usdc), changed.places().count()),
        (known.id, Some("0xcd"), 3)
    );
    let customers = DepositAddress { till: None, ..known };
    assert!(open_again(&book, &customers, new(Network::Polygon, Asset::Usdc), &turn).record.is_none());
    book.tenant_settings.settings = std::sync::Arc::new(crate::platform::settings::Settings {
        usdt_enabled: false,
        ..(*book.tenant_settings.settings).clone()
    });
    assert_eq!(
        open_again(&book, &till(5, None), new(Network::Bep20, Asset::Usdt), &turn).refusal,
        Some(CryptoRefusal::NotEnabled.into())
    );
}

#[test]
fn a_log_of_a_transaction_has_one_id_and_no_other_has_it() {
    let id = |chain, transaction: u8, log, at| deposit_id(chain, &[transaction; 32], log, at);
    let one = id(137, 1, 0, 1_795_226_000);
    assert_eq!(one, id(137, 1, 0, 1_795_226_000));
    assert_eq!(one.unix_ms(), 1_795_226_000_000);
    for other in [id(56, 1, 0, 1_795_226_000), id(137, 2, 0, 1_795_226_000), id(137, 1, 1, 1_795_226_000)] {
        assert_ne!(one, other);
    }
}

#[test]
fn an_entry_is_named_without_its_block_and_a_transaction_with_it() {
    let entry = |index, byte| LogEntry { chain_id: 137, index, block: [byte; 32] };
    assert_eq!(entry(7, 1).name("0xab"), entry(7, 2).name("0xab"));
    assert_ne!(entry(7, 1).name("0xab"), entry(8, 1).name("0xab"));
    assert_eq!(entry(7, 1).transaction_name("0xab"), entry(8, 2).transaction_name("0xab"));
    assert_ne!(entry(7, 1).block_id(), entry(7, 2).block_id());
}
