//! The same rules against a real chain with a real ERC-20: `tests/evm/run.sh` starts both and says
//! where they are. Each test puts the chain back to where it found it.

use crate::harness::check::{assert_nulls, assert_texts, text};
use crate::harness::client::Api;
use crate::world::{TO, World, eventually};
use serde_json::{Value, json};

const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
/// The account that put the token on the chain, which anybody may order about here.
const OWNER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/// The chain.
struct Chain {
    node: Api,
    url: String,
    contract: String,
    snapshot: String,
}

impl Chain {
    fn of_run() -> Chain {
        let given = |name: &str| std::env::var(name).expect("tests/evm/run.sh says where the chain is");
        let url = given("EVM_RPC_URL");
        let node = Api::new(&url, &[]);
        let mut chain = Chain { node, url, contract: given("EVM_CONTRACT"), snapshot: String::new() };
        chain.snapshot = text(&json!({ "id": chain.ask("evm_snapshot", json!([])) }), "id").to_owned();
        chain
    }

    #[track_caller]
    fn ask(&self, method: &str, params: Value) -> Value {
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.node.post("/", &asked).json();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn mine(&self, blocks: u64) {
        self.ask("hardhat_mine", json!([format!("{blocks:#x}")]));
    }

    fn world(&self) -> World {
        World::with(&self.url, 31_337, &self.contract, &[])
    }

    /// The wallet's transactions in blocks.
    fn count(&self) -> Value {
        self.ask("eth_getTransactionCount", json!([WALLET, "latest"]))
    }

    /// The wallet's transactions that wait for a block.
    fn waiting(&self) -> Vec<Value> {
        let block = self.ask("eth_getBlockByNumber", json!(["pending", true]));
        let of_wallet =
            |tx: &&Value| tx["from"].as_str().is_some_and(|from| from.eq_ignore_ascii_case(WALLET));
        block["transactions"].as_array().expect("a list").iter().filter(of_wallet).cloned().collect()
    }

    #[track_caller]
    fn until_waiting(&self, count: usize) -> Vec<Value> {
        eventually("transactions wait", || Some(self.waiting()).filter(|waiting| waiting.len() == count))
    }

    fn call_token(&self, from: &str, data: &str) {
        self.ask("eth_sendTransaction", json!([{ "from": from, "to": self.contract, "data": data }]));
        self.mine(1);
    }

    /// Whether transfers to an address fail.
    fn shut_out(&self, account: &str, out: bool) {
        self.call_token(OWNER, &format!("0x{}{:0>64}{:064x}", SHUT_OUT, &account[2..], u8::from(out)));
    }

    fn balance_of(&self, account: &str) -> u128 {
        let data = format!("0x70a08231{:0>64}", &account[2..]);
        let word = self.ask("eth_call", json!([{ "to": self.contract, "data": data }, "latest"]));
        u128::from_str_radix(&word.as_str().expect("a word")[2..], 16).expect("a number")
    }

    fn head(&self) -> u64 {
        let head = self.ask("eth_blockNumber", json!([]));
        u64::from_str_radix(&head.as_str().expect("a number")[2..], 16).expect("a number")
    }

    /// Waits until the gateway has seen the newest block.
    #[track_caller]
    fn until_seen(&self, world: &World) {
        eventually("the gateway sees the newest block", || {
            (world.network()["head"] == self.head()).then_some(())
        });
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.ask("evm_revert", json!([self.snapshot]));
        }
    }
}

/// What a call of `shutOut(address,bool)` begins with.
const SHUT_OUT: &str = "04de0cd8";

#[test]
#[ignore = "tests/evm/run.sh"]
fn a_payout_completes_after_its_confirmations() {
    let chain = Chain::of_run();
    let world = chain.world();
    let before = chain.balance_of(TO);
    let payout = world.pay("12.34", json!({})).expect(202);
    chain.until_waiting(1);
    chain.mine(2);
    chain.until_seen(&world);
    assert_texts(&world.payout(&payout), &[("status", "processing")]);
    chain.mine(1);
    let done = world.until(&payout, "completed");
    assert_nulls(&done, &["failureCode"]);
    let receipt = chain.ask("eth_getTransactionReceipt", json!([done["txHash"]]));
    assert_eq!(receipt["status"], "0x1");
    assert_eq!((chain.balance_of(TO) - before, world.available().as_str()), (12_340_000, "4987.46"));
}

#[test]
#[ignore = "tests/evm/run.sh"]
fn a_gateway_that_is_killed_at_every_step_pays_once() {
    let chain = Chain::of_run();
    let mut world = chain.world();
    let before = chain.balance_of(TO);
    let payout = world.pay("5.00", json!({})).expect(202);
    world.server.kill();
    world.server.restart();
    chain.until_waiting(1);
    world.server.kill();
    world.server.restart();
    chain.mine(1);
    world.server.kill();
    world.server.restart();
    chain.mine(1);
    world.server.kill();
    chain.mine(1);
    world.server.restart();
    world.until(&payout, "completed");
    world.server.kill();
    world.server.restart();
    let next = world.pay("1.00", json!({})).expect(202);
    chain.until_waiting(1);
    chain.mine(3);
    world.until(&next, "completed");
    assert_eq!((chain.balance_of(TO) - before, chain.count()), (6_000_000, json!("0x2")));
}

#[test]
#[ignore = "tests/evm/run.sh"]
fn a_stuck_transaction_is_replaced_and_pays_once() {
    let chain = Chain::of_run();
    let world = chain.world();
    let before = chain.balance_of(TO);
    let payout = world.pay("2.00", json!({})).expect(202);
    let [first] = chain.until_waiting(1).try_into().expect("one");
    let replaced = eventually("another waits in its place", || {
        chain.waiting().first().filter(|tx| tx["hash"] != first["hash"]).cloned()
    });
    assert_eq!((&replaced["nonce"], &replaced["input"]), (&first["nonce"], &first["input"]));
    chain.mine(3);
    world.until(&payout, "completed");
    assert_eq!((chain.balance_of(TO) - before, chain.count()), (2_000_000, json!("0x1")));
}

#[test]
#[ignore = "tests/evm/run.sh"]
fn a_reverted_transaction_gives_the_money_back() {
    let chain = Chain::of_run();
    let world = chain.world();
    chain.shut_out(TO, true);
    let payout = world.pay("2.00", json!({})).expect(202);
    chain.until_waiting(1);
    chain.mine(3);
    assert_texts(&world.until(&payout, "failed"), &[("failureCode", "transaction_reverted")]);
    assert_eq!(world.available(), "5000.00");
}

#[test]
#[ignore = "tests/evm/run.sh"]
fn a_nonce_that_somebody_else_has_used_gives_the_money_back() {
    let chain = Chain::of_run();
    let world = chain.world();
    let payout = world.pay("2.00", json!({})).expect(202);
    let [waiting] = chain.until_waiting(1).try_into().expect("one");
    // The chain has the wallet's key too, and pays more for another transaction of the same nonce.
    chain.ask("hardhat_dropTransaction", json!([waiting["hash"]]));
    let other = json!([{ "from": WALLET, "to": OWNER, "value": "0x1", "nonce": waiting["nonce"],
        "maxFeePerGas": "0x174876e800", "maxPriorityFeePerGas": "0x174876e800" }]);
    chain.ask("eth_sendTransaction", other);
    chain.mine(3);
    assert_texts(&world.until(&payout, "failed"), &[("failureCode", "nonce_used")]);
    assert_eq!(world.available(), "5000.00");
}

/// Sends the token from the owner, who was given some, to an address.
fn send_token(chain: &Chain, to: &str, units: u128) {
    let data = format!("0xa9059cbb{:0>64}{units:064x}", &to[2..]);
    chain.ask("eth_sendTransaction", json!([{ "from": OWNER, "to": chain.contract, "data": data }]));
}

#[test]
#[ignore = "tests/evm/run.sh"]
fn a_deposit_is_credited_after_its_confirmations_also_when_the_gateway_was_down() {
    let chain = Chain::of_run();
    chain.call_token(OWNER, &format!("0x40c10f19{:0>64}{:064x}", &OWNER[2..], 100_000_000));
    let mut world = chain.world();
    let address = world.address("customer-1");
    send_token(&chain, text(&address, "address"), 40_000_000);
    chain.mine(2);
    world.until_searched(usize::try_from(chain.head()).expect("it fits") - 2);
    assert_eq!(world.held(), "0.00");
    chain.mine(1);
    world.until_held("40.00");
    let hash = world.deposits()[0]["txHash"].clone();
    assert_eq!(chain.ask("eth_getTransactionReceipt", json!([hash]))["status"], "0x1");
    world.server.kill();
    send_token(&chain, text(&address, "address"), 2_000_000);
    chain.mine(30);
    world.server.restart();
    world.until_held("42.00");
    world.server.kill();
    world.server.restart();
    chain.mine(5);
    world.until_searched(usize::try_from(chain.head()).expect("it fits") - 2);
    assert_eq!((world.held().as_str(), world.deposits().len()), ("42.00", 2));
}

#[test]
#[ignore = "tests/evm/run.sh"]
fn a_deposit_that_a_reorganisation_takes_away_credits_nothing() {
    let chain = Chain::of_run();
    chain.call_token(OWNER, &format!("0x40c10f19{:0>64}{:064x}", &OWNER[2..], 100_000_000));
    let world = chain.world();
    let address = world.address("customer-1");
    let before = chain.ask("evm_snapshot", json!([]));
    send_token(&chain, text(&address, "address"), 40_000_000);
    chain.mine(2);
    chain.until_seen(&world);
    chain.ask("evm_revert", json!([before]));
    chain.mine(8);
    world.until_searched(usize::try_from(chain.head()).expect("it fits") - 2);
    assert_eq!((world.held().as_str(), world.deposits().len()), ("0.00", 0));
    send_token(&chain, text(&address, "address"), 1_000_000);
    chain.mine(3);
    world.until_held("1.00");
}
