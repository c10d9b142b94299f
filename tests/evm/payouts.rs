//! Payouts over a chain that a test drives block by block.

use crate::chain::{Chain, Tx, UNITS};
use crate::harness::check::{assert_nulls, assert_texts, text};
use crate::world::{TO, World, eventually};
use serde_json::json;

/// The transactions that the node was given, each once.
fn given(chain: &Chain) -> Vec<Tx> {
    let mut given = chain.node().received.clone();
    given.dedup();
    given
}

/// Waits until the node was given so many.
#[track_caller]
fn until_given(chain: &Chain, count: usize) -> Vec<Tx> {
    eventually("transactions are broadcast", || Some(given(chain)).filter(|given| given.len() == count))
}

#[test]
fn a_payout_completes_after_its_confirmations_and_not_before() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let payout = world.pay("25.01", json!({})).expect(202);
    assert_texts(&payout, &[("status", "processing"), ("totalUsdt", "25.21")]);
    let [tx] = until_given(&chain, 1).try_into().expect("one");
    assert_eq!((tx.nonce, tx.to.as_str(), tx.units), (0, TO, 2_501 * UNITS / 100));
    assert_eq!((tx.tip, tx.max_fee), (1_000_000_000, 3_000_000_000));
    chain.take();
    chain.mine(1);
    let seen = eventually("the node's head", || {
        let network = world.network();
        (network["head"] == chain.head()).then_some(network)
    });
    assert_eq!((&seen["nonce"], &seen["inFlight"], &seen["waits"]), (&json!(1), &json!(1), &json!(null)));
    assert_texts(&world.payout(&payout), &[("status", "processing")]);
    chain.mine(1);
    let done = world.until(&payout, "completed");
    assert_texts(&done, &[("txHash", &tx.hash)]);
    assert_nulls(&done, &["failureCode"]);
    assert_eq!((world.available().as_str(), given(&chain).len()), ("4974.79", 1));
    let network = world.network();
    assert_texts(&network, &[("network", "POLYGON"), ("balanceUsdt", "999974.99")]);
    assert_eq!(network["wallet"], json!("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"));
}

#[test]
fn payouts_have_nonces_in_the_order_of_their_acceptance() {
    let chain = Chain::start();
    chain.node().down = true;
    let world = World::of(&chain.url());
    let payouts: Vec<_> =
        (1..=20).map(|cents| world.pay(&format!("1.{cents:02}"), json!({})).expect(202)).collect();
    chain.node().down = false;
    // No more than a node keeps of one wallet.
    let first = until_given(&chain, 16);
    let order: Vec<(u64, u128)> = first.iter().map(|tx| (tx.nonce, tx.units / 10_000 - 100)).collect();
    assert_eq!(order, (0..16).map(|nonce| (nonce, u128::from(nonce) + 1)).collect::<Vec<_>>());
    chain.take();
    chain.mine(2);
    until_given(&chain, 20);
    chain.take();
    chain.mine(2);
    for payout in &payouts {
        world.until(payout, "completed");
    }
}

#[test]
fn what_was_recorded_is_broadcast_again_byte_by_byte_after_a_crash() {
    let chain = Chain::start();
    chain.node().down = true;
    let mut world = World::of(&chain.url());
    let payout = world.pay("7.00", json!({})).expect(202);
    // Accepted, and no node was asked.
    world.server.kill();
    {
        let mut node = chain.node();
        node.down = false;
        node.deaf.insert("eth_sendRawTransaction");
    }
    world.server.restart();
    // Recorded, and no node has it: the call is on its way.
    let sent = || chain.node().calls.get("eth_sendRawTransaction").copied();
    eventually("a transaction is sent", sent);
    world.server.kill();
    {
        let mut node = chain.node();
        node.deaf.clear();
        // Given to the node, and its answer lost.
        node.silent.insert("eth_sendRawTransaction");
    }
    world.server.restart();
    let [tx] = until_given(&chain, 1).try_into().expect("one");
    world.server.kill();
    chain.node().silent.clear();
    // The node has lost it.
    chain.node().pool.clear();
    world.server.restart();
    eventually("it is broadcast again", || (chain.node().pool.len() == 1).then_some(()));
    world.server.kill();
    chain.take();
    world.server.restart();
    world.server.kill();
    chain.mine(2);
    world.server.restart();
    assert_texts(&world.until(&payout, "completed"), &[("txHash", &tx.hash)]);
    assert!(chain.node().received.iter().all(|again| *again == tx), "others than the one that was recorded");
    assert_eq!(world.available(), "4992.80");
}

#[test]
fn a_stuck_transaction_is_replaced_within_the_bound_and_pays_once() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let (first, second) =
        (world.pay("1.00", json!({})).expect(202), world.pay("2.00", json!({})).expect(202));
    let replaced = eventually("the first is replaced twice", || {
        let given = given(&chain);
        (given.iter().filter(|tx| tx.nonce == 0).count() >= 3).then_some(given)
    });
    // The second waits for the first, and not for a better price.
    assert_eq!(replaced.iter().filter(|tx| tx.nonce == 1).count(), 1);
    let firsts: Vec<&Tx> = replaced.iter().filter(|tx| tx.nonce == 0).collect();
    for pair in firsts.windows(2) {
        assert!(
            pair[1].max_fee * 10 >= pair[0].max_fee * 11 && pair[1].tip * 10 >= pair[0].tip * 11,
            "{pair:?}"
        );
        assert_eq!((&pair[1].to, pair[1].units), (&pair[0].to, pair[0].units));
    }
    // The oldest of them is the one that a block takes.
    {
        let mut node = chain.node();
        node.pool.get_mut(&0).expect("they wait").truncate(1);
        node.base_fee = 99_000_000_000;
    }
    chain.take();
    chain.mine(2);
    assert_texts(&world.until(&first, "completed"), &[("txHash", &firsts[0].hash)]);
    world.until(&second, "completed");
    assert!(given(&chain).iter().all(|tx| tx.max_fee <= 100_000_000_000), "beyond the bound");
    assert_eq!(chain.node().usdt, 999_997 * UNITS);
}

#[test]
fn a_reverted_transaction_fails_when_it_is_final() {
    let chain = Chain::start();
    chain.node().reverting.insert(TO.to_owned());
    let world = World::of(&chain.url());
    let payout = world.pay("10.00", json!({})).expect(202);
    until_given(&chain, 1);
    chain.take();
    chain.mine(1);
    eventually("the node's head", || (world.network()["head"] == chain.head()).then_some(()));
    assert_texts(&world.payout(&payout), &[("status", "processing")]);
    chain.mine(1);
    let failed = world.until(&payout, "failed");
    assert_texts(&failed, &[("failureCode", "transaction_reverted")]);
    assert_eq!((world.available().as_str(), given(&chain).len()), ("5000.00", 1));
}

#[test]
fn a_nonce_that_another_transaction_has_used_fails_the_payout_when_that_is_final() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    let payout = world.pay("10.00", json!({})).expect(202);
    until_given(&chain, 1);
    chain.take_foreign();
    chain.mine(1);
    eventually("the node's head", || (world.network()["head"] == chain.head()).then_some(()));
    assert_texts(&world.payout(&payout), &[("status", "processing")]);
    chain.mine(1);
    assert_texts(&world.until(&payout, "failed"), &[("failureCode", "nonce_used")]);
    assert_eq!(world.available(), "5000.00");
    // The next one has the next nonce.
    let next = world.pay("1.00", json!({})).expect(202);
    assert_eq!(until_given(&chain, 2)[1].nonce, 1);
    chain.take();
    chain.mine(2);
    world.until(&next, "completed");
}

#[test]
fn a_chain_that_reorganises_or_lies_of_what_waits_changes_nothing() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    chain.node().lies = true;
    let payout = world.pay("3.00", json!({})).expect(202);
    let [tx] = until_given(&chain, 1).try_into().expect("one");
    chain.take();
    chain.mine(1);
    eventually("the node's head", || (world.network()["head"] == chain.head()).then_some(()));
    chain.reorganise(2);
    chain.mine(4);
    eventually("the node's head", || (world.network()["head"] == chain.head()).then_some(()));
    assert_texts(&world.payout(&payout), &[("status", "processing")]);
    chain.take();
    chain.mine(2);
    let done = world.until(&payout, "completed");
    // What is final stays so, whatever becomes of the chain.
    chain.reorganise(5);
    chain.node().pool.clear();
    chain.take_foreign();
    chain.mine(9);
    eventually("the node's head", || (world.network()["head"] == chain.head()).then_some(()));
    assert_eq!(world.payout(&payout), done);
    // The one that waited again, or what replaced it.
    assert!(given(&chain).iter().any(|given| given.hash == text(&done, "txHash") && given.nonce == tx.nonce));
}

#[test]
fn payouts_wait_while_the_wallet_is_short() {
    let chain = Chain::start();
    chain.node().usdt = 5 * UNITS;
    let world = World::of(&chain.url());
    let payout = world.pay("5.01", json!({})).expect(202);
    let waits = |why: &str| {
        eventually(&format!("payouts wait for {why}"), || (world.network()["waits"] == why).then_some(()));
    };
    waits("usdt");
    let behind = world.pay("1.00", json!({})).expect(202);
    {
        let mut node = chain.node();
        (node.usdt, node.gas) = (100 * UNITS, 0);
    }
    waits("gas");
    {
        let mut node = chain.node();
        (node.gas, node.base_fee) = (10_u128.pow(20), 101_000_000_000);
    }
    chain.mine(1);
    waits("fee");
    let metrics = world.server.admin().get("/metrics");
    let text = metrics.text();
    assert!(text.contains(r#"pasarela_usdt_payouts_held{network="POLYGON",for="fee"} 1"#), "{text}");
    assert!(text.contains(r#"pasarela_usdt_payouts{network="POLYGON",state="waiting"} 2"#), "{text}");
    chain.node().chain_id = 1;
    chain.node().down = true;
    waits("node");
    chain.node().down = false;
    waits("chain");
    assert_eq!(given(&chain), []);
    {
        let mut node = chain.node();
        (node.chain_id, node.base_fee) = (crate::chain::CHAIN_ID, 1);
    }
    chain.mine(1);
    let order: Vec<u128> = until_given(&chain, 2).iter().map(|tx| tx.units).collect();
    assert_eq!(order, [5_010_000, 1_000_000]);
    chain.take();
    chain.mine(2);
    world.until(&payout, "completed");
    world.until(&behind, "completed");
}

#[test]
fn an_operator_who_refuses_a_waiting_payout_keeps_it_from_being_sent() {
    let chain = Chain::start();
    chain.node().usdt = 0;
    let world = World::of(&chain.url());
    let payout = world.pay("5.00", json!({})).expect(202);
    eventually("it waits", || (world.network()["waits"] == "usdt").then_some(()));
    let admin = world.server.admin();
    let pending = admin.query("/admin/operations", &[("status", "pending")]).expect(200);
    let operation = text(&pending["items"][0], "operationId").to_owned();
    let word = json!({ "outcome": "refused", "failureCode": "not_now", "note": "the wallet is empty" });
    admin.post(&format!("/admin/operations/{operation}/resolve"), &word).expect(200);
    assert_texts(&world.payout(&payout), &[("status", "failed"), ("failureCode", "not_now")]);
    chain.node().usdt = 100 * UNITS;
    let next = world.pay("6.00", json!({})).expect(202);
    let [tx] = until_given(&chain, 1).try_into().expect("one");
    assert_eq!((tx.nonce, tx.units), (0, 6 * UNITS));
    chain.take();
    chain.mine(2);
    world.until(&next, "completed");
}

#[test]
fn only_networks_that_are_configured_are_served() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    for (network, address) in [("TRC20", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"), ("ERC20", TO), ("BEP20", TO)]
    {
        let refused = world.pay("1.00", json!({ "network": network, "address": address }));
        refused.refused(503, "rail_not_configured");
    }
}

#[test]
fn a_count_of_transactions_that_nobody_made_takes_no_nonce() {
    let chain = Chain::start();
    let world = World::of(&chain.url());
    chain.node().claims_count = Some(1_000_000_000);
    let payout = world.pay("10.00", json!({})).expect(202);
    let before = chain.node().calls["eth_getTransactionCount"];
    eventually("it was looked at", || {
        (chain.node().calls["eth_getTransactionCount"] > before + 4).then_some(())
    });
    assert!(chain.node().received.is_empty());
    chain.node().claims_count = None;
    eventually("it is broadcast", || (!chain.node().received.is_empty()).then_some(()));
    assert_eq!(chain.node().received[0].nonce, 0);
    chain.take();
    chain.mine(3);
    world.until(&payout, "completed");
}
