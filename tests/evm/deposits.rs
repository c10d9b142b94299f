//! Deposits on a chain that a test drives block by block.

use crate::chain::{Chain, UNITS};
use crate::harness::buyers::Page;
use crate::harness::check::{assert_texts, list, race, text};
use crate::harness::flows::fresh;
use crate::world::{World, activate, eventually};
use serde_json::json;

/// The accounts 0 and 1 of `m/44'/60'/1'/0` of the words that developers use: the first tenant's.
const FIRST: [&str; 2] =
    ["0x8C8d35429F74ec245F8Ef2f4Fd1e551cFF97d650", "0x40FBBE484b8Ee6139Af08446950B088e10b2306A"];

#[test]
fn addresses_derive_from_the_seed_in_their_order() {
    let chain = Chain::start();
    let mut world = World::of(&chain.url());
    let customer = fresh("customer");
    let first = world.address(&customer);
    assert_texts(&first, &[("address", FIRST[0]), ("network", "POLYGON"), ("asset", "USDT")]);
    assert_eq!(first["livemode"], json!(true));
    assert_eq!(world.address(&customer), first);
    world.server.kill();
    world.server.restart();
    assert_texts(&world.address(&fresh("customer")), &[("address", FIRST[1])]);
    assert_eq!(world.address(&customer), first);
    // Several at once have different ones.
    let names: Vec<String> = (0..8).map(|_| fresh("customer")).collect();
    let addresses = race(8, |n| text(&world.address(&names[n]), "address").to_owned());
    let distinct: std::collections::BTreeSet<&String> = addresses.iter().collect();
    assert_eq!(distinct.len(), 8, "{addresses:?}");
    let other = world.server.tenant();
    activate(&world.server, &other);
    let body = json!({ "customerRef": customer, "network": "POLYGON", "asset": "USDT" });
    let theirs = other.live.post("/v1/crypto/deposit-addresses", &body).expect(201);
    assert!(
        !addresses.contains(&text(&theirs, "address").to_owned()) && theirs["address"] != first["address"]
    );
    for (network, asset) in [("POLYGON", "USDC"), ("TRC20", "USDT"), ("BEP20", "USDT")] {
        let body = json!({ "customerRef": customer, "network": network, "asset": asset });
        world.tenant.live.post("/v1/crypto/deposit-addresses", &body).refused(503, "rail_not_configured");
    }
}

#[test]
fn a_deposit_is_credited_after_its_confirmations_and_once() {
    let chain = Chain::start();
    let mut world = World::of(&chain.url());
    let (one, other) = (world.address(&fresh("customer")), world.address(&fresh("customer")));
    let names = chain.deposit(&[
        (text(&one, "address"), 40 * UNITS),
        (text(&other, "address"), 2 * UNITS + 500_000),
        // Nobody's.
        ("0x00000000000000000000000000000000000000aa", 9 * UNITS),
    ]);
    chain.mine(1);
    world.until_searched(chain.head() - 2);
    assert_eq!(world.held(), "0.00");
    chain.mine(1);
    world.until_held("42.50");
    let deposits = world.deposits();
    assert_eq!(deposits.len(), 2);
    for (deposit, (address, name, amount)) in
        deposits.iter().zip([(&one, &names[0], "40.00"), (&other, &names[1], "2.50")])
    {
        assert_texts(
            deposit,
            &[("amountUsdt", amount), ("txHash", name), ("network", "POLYGON"), ("asset", "USDT")],
        );
        assert_eq!(
            (&deposit["address"], &deposit["depositAddressId"]),
            (&address["address"], &address["id"])
        );
    }
    // Nothing is credited again, whatever is searched again.
    world.server.kill();
    world.server.restart();
    chain.mine(5);
    world.until_searched(chain.head() - 2);
    assert_eq!((world.held().as_str(), world.deposits().len()), ("42.50", 2));
    let events = world.tenant.live.get("/v1/crypto/balance/transactions").expect(200);
    assert_eq!(list(&events, "items").iter().filter(|row| text(row, "type") == "deposit").count(), 2);
}

#[test]
fn what_came_while_the_gateway_was_down_is_found() {
    let chain = Chain::start();
    let mut world = World::of(&chain.url());
    let address = world.address(&fresh("customer"));
    world.server.kill();
    chain.deposit(&[(text(&address, "address"), 7 * UNITS)]);
    chain.mine(600);
    chain.deposit(&[(text(&address, "address"), 8 * UNITS)]);
    chain.mine(600);
    // A node that tells of few blocks at once.
    chain.node().log_blocks_max = 100;
    chain.node().down = true;
    world.server.restart();
    chain.node().down = false;
    world.until_held("15.00");
    // The search is recorded, so that the next start begins there.
    world.until_searched(chain.head() - 2);
    world.server.terminate();
    let before = chain.node().calls["eth_getLogs"];
    world.server.restart();
    chain.deposit(&[(text(&address, "address"), UNITS)]);
    chain.mine(2);
    world.until_held("16.00");
    assert!(chain.node().calls["eth_getLogs"] - before < 12, "it was searched from the beginning");
}

#[test]
fn a_chain_that_reorganises_before_the_confirmations_credits_nothing() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let address = world.address(&fresh("customer"));
    let to = text(&address, "address");
    chain.deposit(&[(to, 5 * UNITS)]);
    chain.mine(1);
    chain.reorganise(2);
    chain.mine(6);
    world.until_searched(chain.head() - 2);
    assert_eq!((world.held().as_str(), world.deposits().len()), ("0.00", 0));
    // The same amount in the chain that stays is credited.
    chain.deposit(&[(to, 5 * UNITS)]);
    chain.mine(2);
    world.until_held("5.00");
}

#[test]
fn parts_of_a_cent_are_not_credited() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let address = world.address(&fresh("customer"));
    let to = text(&address, "address");
    chain.deposit(&[(to, 9_999), (to, 3 * UNITS + 19_999)]);
    chain.mine(2);
    world.until_held("3.01");
    assert_eq!(world.deposits().len(), 1);
}

#[test]
fn no_address_is_given_out_before_it_is_known_from_where_to_search() {
    let chain = Chain::start();
    chain.node().down = true;
    let world = World::of(&chain.url());
    let body = json!({ "customerRef": fresh("customer"), "network": "POLYGON", "asset": "USDT" });
    world.tenant.live.post("/v1/crypto/deposit-addresses", &body).refused(503, "rail_not_configured");
    chain.node().down = false;
    world.address(&fresh("customer"));
}

#[test]
fn a_checkout_of_live_mode_is_paid_to_an_address_of_its_own() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let customers = world.address(&fresh("customer"));
    let made = world.tenant.live.post("/v1/checkout/sessions", &json!({ "amountUsd": 10 })).expect(201);
    let page = Page::of(&world.server, &made);
    page.usdt("TRC20").refused(503, "rail_not_configured");
    // The pages offer what the wallet serves: its network by the first click, and no other coin.
    for path in ["", "?method=usdt"] {
        let answer = page.api.get(&format!("{}{path}", page.base));
        let html = answer.text();
        assert!(
            html.contains("POLYGON") && !html.contains("TRC20") && !html.contains("USDC"),
            "{path}: {html}"
        );
    }
    let to = page.usdt("POLYGON").expect(201);
    assert_eq!(text(&page.usdt("POLYGON").expect(200), "address"), text(&to, "address"));
    assert_eq!((text(&customers, "address"), text(&to, "address")), (FIRST[0], FIRST[1]));
    chain.deposit(&[(text(&to, "address"), 4 * UNITS)]);
    chain.deposit(&[(text(&to, "address"), 6 * UNITS)]);
    chain.mine(2);
    eventually("the session is paid", || (text(&page.state(), "status") == "paid").then_some(()));
    assert_eq!(world.held(), "10.00");
}

/// The blocks that a node claims for a while, and whether it makes them up when it is asked for them.
/// The last is within what a network may have made meanwhile.
const LIES: [(u64, bool); 4] =
    [(1_000_000_000, false), (1_000_000_000, true), (40_000, false), (3_000, true)];

#[test]
fn a_node_that_claims_more_blocks_for_a_while_hides_no_deposit() {
    race(LIES.len(), |at| {
        let (claimed, makes_up) = LIES[at];
        let chain = Chain::start();
        let mut world = World::of(&chain.url());
        let address = world.address(&fresh("customer"));
        let to = text(&address, "address");
        let searched = |world: &World| world.network()["scannedBlock"].as_u64().expect("a block");
        {
            let mut node = chain.node();
            (node.claims, node.makes_up) = (Some(claimed), makes_up);
        }
        let is_plausible = claimed < 5_000;
        if is_plausible {
            eventually("the lie is believed", || (searched(&world) > 100).then_some(()));
        } else {
            let before = chain.node().calls["eth_getBlockByNumber"];
            eventually("it has lied", || {
                (chain.node().calls["eth_getBlockByNumber"] > before + 10).then_some(())
            });
            assert!(searched(&world) < 100, "{claimed} {makes_up}: {}", world.network());
        }
        // While it lies, money comes, and the server is restarted.
        chain.deposit(&[(to, 5 * UNITS)]);
        world.server.kill();
        world.server.restart();
        chain.mine(3);
        chain.node().claims = None;
        world.until_held("5.00");
        eventually("the search is in the chain again", || {
            (searched(&world) as usize <= chain.head()).then_some(())
        });
        let metrics = world.server.admin().get("/metrics").text().to_owned();
        assert!(metrics.contains(r#"pasarela_usdt_scanned_block{network="POLYGON"}"#), "{metrics}");
        assert_eq!(world.deposits().len(), 1);
    });
}

#[test]
fn a_lie_at_the_first_start_hides_no_deposit() {
    race(LIES.len(), |at| {
        let (claimed, makes_up) = LIES[at];
        let chain = Chain::start();
        {
            let mut node = chain.node();
            (node.claims, node.makes_up) = (Some(claimed), makes_up);
        }
        let world = World::of(&chain.url());
        let body = json!({ "customerRef": "one", "network": "POLYGON", "asset": "USDT" });
        if claimed >= 5_000 {
            world.tenant.live.post("/v1/crypto/deposit-addresses", &body).refused(503, "rail_not_configured");
            chain.node().claims = None;
        }
        let address = world.address("one");
        chain.deposit(&[(text(&address, "address"), 5 * UNITS)]);
        chain.node().claims = None;
        chain.mine(3);
        world.until_held("5.00");
    });
}

#[test]
fn a_payout_is_not_final_by_a_block_that_nobody_made() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let payout = world.pay("10.00", json!({})).expect(202);
    eventually("it is broadcast", || (!chain.node().received.is_empty()).then_some(()));
    chain.take();
    chain.node().claims = Some(1_000);
    let before = chain.node().calls["eth_getBlockByNumber"];
    eventually("it was looked at", || {
        (chain.node().calls["eth_getBlockByNumber"] > before + 10).then_some(())
    });
    assert_eq!(text(&world.payout(&payout), "status"), "processing");
    chain.node().claims = None;
    chain.mine(3);
    world.until(&payout, "completed");
}

#[test]
fn an_entry_that_cannot_be_read_holds_up_nothing() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let address = world.address(&fresh("customer"));
    let to = text(&address, "address");
    let [beyond] = chain.deposit(&[(to, 1)]).try_into().expect("one");
    chain.node().beyond.insert(beyond.clone());
    chain.deposit(&[(to, 5 * UNITS)]);
    chain.mine(3);
    world.until_held("5.00");
    let metrics = world.server.admin().get("/metrics").text().to_owned();
    assert!(
        metrics.contains(r#"pasarela_usdt_log_entries_set_aside_total{network="POLYGON"} 1"#),
        "{metrics}"
    );
    assert!(world.server.log_tail().contains(&beyond), "{}", world.server.log_tail());
}

#[test]
fn a_deposit_that_a_reorganisation_moves_to_another_block_is_credited_once() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let (one, other) = (world.address(&fresh("customer")), world.address(&fresh("customer")));
    let (one, other) = (text(&one, "address"), text(&other, "address"));
    let names = chain.deposit(&[(one, 5 * UNITS), (other, 2 * UNITS)]);
    chain.mine(6);
    world.until_held("7.00");
    // Deeper than the confirmations: both are in another block now, behind somebody else's, and one alone again.
    chain.reorganise(7);
    let nobody = "0x00000000000000000000000000000000000000aa";
    chain.mine(2);
    chain.deposit_again(&[(nobody, UNITS, "0x01"), (other, 2 * UNITS, &names[1])]);
    chain.deposit_again(&[(one, 5 * UNITS, &names[0])]);
    chain.deposit(&[(one, UNITS)]);
    chain.mine(6);
    world.until_held("8.00");
    world.until_searched(chain.head() - 2);
    assert_eq!((world.held().as_str(), world.deposits().len()), ("8.00", 3));
    assert!(world.server.log_tail().contains(&names[1]), "{}", world.server.log_tail());
}

#[test]
fn a_node_that_tells_another_time_of_a_block_credits_nothing_again() {
    let chain = Chain::start();
    let mut world = World::of(&chain.url());
    let address = world.address(&fresh("customer"));
    let to = text(&address, "address");
    chain.deposit(&[(to, 5 * UNITS)]);
    chain.mine(3);
    world.until_held("5.00");
    chain.node().younger = Some((usize::MAX, 1));
    chain.deposit(&[(to, UNITS)]);
    chain.mine(2);
    world.until_held("6.00");
    world.server.kill();
    world.server.restart();
    chain.node().younger = Some((usize::MAX, 2));
    chain.mine(3);
    world.until_searched(chain.head() - 2);
    assert_eq!((world.held().as_str(), world.deposits().len()), ("6.00", 2));
}

#[test]
fn a_block_that_is_shown_from_the_future_once_holds_the_search_up_for_a_while_alone() {
    let chain = Chain::start();
    let mut world = World::of(&chain.url());
    let address = world.address(&fresh("customer"));
    let to = text(&address, "address");
    world.server.kill();
    // More than are searched at once.
    chain.mine(1_200);
    let below = chain.head() - 20;
    chain.node().younger = Some((below, 1_000_000_000));
    world.server.restart();
    let looks = || chain.node().calls.get("eth_getLogs").copied().unwrap_or(0);
    let before = looks();
    eventually("it has looked", || (looks() > before + 2).then_some(()));
    chain.node().younger = None;
    // The next piece of the chain, too.
    chain.mine(1_200);
    chain.deposit(&[(to, 5 * UNITS)]);
    chain.mine(3);
    world.until_searched(chain.head() - 2);
    world.until_held("5.00");
}

#[test]
fn an_entry_of_a_block_that_the_node_does_not_show_holds_up_nothing() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let address = world.address(&fresh("customer"));
    let to = text(&address, "address");
    let [elsewhere] = chain.deposit(&[(to, UNITS)]).try_into().expect("one");
    chain.node().elsewhere.insert(elsewhere.clone());
    chain.deposit(&[(to, 5 * UNITS)]);
    chain.mine(3);
    world.until_held("5.00");
    eventually("it is set aside", || {
        let metrics = world.server.admin().get("/metrics").text().to_owned();
        metrics.contains(r#"pasarela_usdt_log_entries_set_aside_total{network="POLYGON"} 1"#).then_some(())
    });
    assert!(world.server.log_tail().contains(&elsewhere), "{}", world.server.log_tail());
}
