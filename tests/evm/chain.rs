//! A chain in this process that speaks as much JSON-RPC as the gateway asks: blocks are made when a
//! test says so, and it can be silent, forget, lie and reorganise.
//!
//! It knows one wallet and one token. Signatures are not checked here: the real chain does that.

use serde_json::{Value, json};
use sha3::{Digest, Keccak256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The chain's number, which is that of developers' chains.
pub const CHAIN_ID: u64 = 31_337;
/// The token.
pub const CONTRACT: &str = "0x5fbdb2315678afecb367f032d93f642f64180aa3";
/// The account of the hot wallet, the first of the words that developers use.
pub const WALLET: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
/// Who pays to the addresses of customers.
const PAYER: &str = "0x90f79bf6eb2c4f870365e785982e1f101e93b906";
/// The token's units in a USDT.
pub const UNITS: u128 = 1_000_000;

/// A transaction of the wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tx {
    pub hash: String,
    pub nonce: u64,
    pub tip: u128,
    pub max_fee: u128,
    pub to: String,
    pub units: u128,
    pub raw: String,
}

#[derive(Clone)]
struct Block {
    hash: String,
    timestamp: u64,
    base_fee: u128,
    /// The wallet's transactions, with whether each succeeded.
    taken: Vec<(Tx, bool)>,
    /// Transfers by others: from, to, units, the transaction's name.
    transfers: Vec<(String, String, u128, String)>,
}

/// What a node does, and what it has seen.
pub struct State {
    blocks: Vec<Block>,
    /// Makes the blocks after a reorganisation others than those before.
    forks: u64,
    /// What waits for a block, by nonce, the newest last.
    pub pool: BTreeMap<u64, Vec<Tx>>,
    /// Every transaction that it was given, in order.
    pub received: Vec<Tx>,
    pub usdt: u128,
    pub gas: u128,
    pub base_fee: u128,
    pub chain_id: u64,
    /// Addresses that transfers to fail on.
    pub reverting: BTreeSet<String>,
    /// Methods whose calls are carried out and not answered.
    pub silent: BTreeSet<&'static str>,
    /// Methods whose calls are neither carried out nor answered.
    pub deaf: BTreeSet<&'static str>,
    /// Nobody is answered at all.
    pub down: bool,
    /// What it says of transactions that no block has is wrong.
    pub lies: bool,
    /// The newest block that it claims to have, with nothing below it.
    pub claims: Option<u64>,
    /// It makes up the blocks below that too.
    pub makes_up: bool,
    /// The number of the wallet's transactions that it claims.
    pub claims_count: Option<u64>,
    /// Transactions whose transfer is shown as one of 2^128 units.
    pub beyond: BTreeSet<String>,
    /// Transactions whose transfer is shown in a block that is not in the chain.
    pub elsewhere: BTreeSet<String>,
    /// The seconds by which blocks are shown as younger than they are, below this one.
    pub younger: Option<(usize, u64)>,
    /// How often somebody has sent the token to others.
    deposits: u64,
    /// The most blocks whose logs can be asked for at once.
    pub log_blocks_max: usize,
    /// How often each method was called.
    pub calls: BTreeMap<String, usize>,
}

/// The chain.
pub struct Chain {
    state: Arc<Mutex<State>>,
    port: u16,
}

impl Chain {
    /// A chain with some blocks, whose wallet has money.
    pub fn start() -> Chain {
        let state = State {
            blocks: Vec::new(),
            forks: 0,
            pool: BTreeMap::new(),
            received: Vec::new(),
            usdt: 1_000_000 * UNITS,
            gas: 10_u128.pow(20),
            base_fee: 1_000_000_000,
            chain_id: CHAIN_ID,
            reverting: BTreeSet::new(),
            silent: BTreeSet::new(),
            deaf: BTreeSet::new(),
            down: false,
            lies: false,
            claims: None,
            makes_up: false,
            claims_count: None,
            beyond: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            younger: None,
            deposits: 0,
            log_blocks_max: 10_000,
            calls: BTreeMap::new(),
        };
        let chain = Chain { state: Arc::new(Mutex::new(state)), port: 0 };
        chain.mine(10);
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let state = Arc::clone(&chain.state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                thread::spawn(move || serve(&state, stream));
            }
        });
        Chain { port, ..chain }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The node, to look at it and to tell it what to do.
    pub fn node(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes blocks without the wallet's transactions.
    pub fn mine(&self, blocks: usize) {
        for _ in 0..blocks {
            self.node().push(Vec::new(), Vec::new());
        }
    }

    /// Makes a block with the wallet's transactions that can follow each other.
    pub fn take(&self) {
        let mut node = self.node();
        let mut next = node.count(usize::MAX);
        let mut taken = Vec::new();
        while let Some(waiting) = node.pool.remove(&next) {
            let best = waiting.into_iter().max_by_key(|tx| tx.max_fee).expect("one at least");
            let succeeds = !node.reverting.contains(&best.to);
            if succeeds {
                node.usdt -= best.units;
            }
            taken.push((best, succeeds));
            next += 1;
        }
        node.push(taken, Vec::new());
    }

    /// Makes a block in which somebody else has used the wallet's key for its next nonce.
    pub fn take_foreign(&self) {
        let mut node = self.node();
        let nonce = node.count(usize::MAX);
        node.pool.remove(&nonce);
        let hash = hash(&format!("foreign {nonce}"));
        let (to, raw) = (String::new(), String::new());
        let foreign = Tx { hash, nonce, tip: 0, max_fee: 0, to, units: 0, raw };
        node.push(vec![(foreign, true)], Vec::new());
    }

    /// Makes a block in which somebody has sent the token to these accounts; the names of the
    /// transactions.
    pub fn deposit(&self, to: &[(&str, u128)]) -> Vec<String> {
        let mut node = self.node();
        node.deposits += 1;
        let name = |at: usize| hash(&format!("deposit {} {at}", node.deposits));
        let names: Vec<String> = (0..to.len()).map(name).collect();
        let of = |((account, units), name): (&(&str, u128), &String)| {
            (PAYER.to_owned(), account.to_ascii_lowercase(), *units, name.clone())
        };
        let transfers = to.iter().zip(&names).map(of).collect();
        node.push(Vec::new(), transfers);
        names
    }

    /// Makes a block with these deposits, in this order: those that a reorganisation has taken out of one.
    pub fn deposit_again(&self, transfers: &[(&str, u128, &str)]) {
        let of = |(account, units, name): &(&str, u128, &str)| {
            (PAYER.to_owned(), account.to_ascii_lowercase(), *units, (*name).to_owned())
        };
        self.node().push(Vec::new(), transfers.iter().map(of).collect());
    }

    /// Takes the newest blocks out of the chain: what was in them waits again.
    pub fn reorganise(&self, depth: usize) {
        let mut node = self.node();
        for _ in 0..depth {
            let gone = node.blocks.pop().expect("a block");
            for (tx, succeeded) in gone.taken {
                if succeeded {
                    node.usdt += tx.units;
                }
                node.pool.entry(tx.nonce).or_default().push(tx);
            }
        }
        node.forks += 1;
    }

    pub fn head(&self) -> usize {
        self.node().blocks.len() - 1
    }
}

impl State {
    fn push(&mut self, taken: Vec<(Tx, bool)>, transfers: Vec<(String, String, u128, String)>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs();
        let hash = hash(&format!("block {} {}", self.blocks.len(), self.forks));
        self.blocks.push(Block { hash, timestamp: now, base_fee: self.base_fee, taken, transfers });
    }

    /// The wallet's transactions in blocks up to this one.
    fn count(&self, last: usize) -> u64 {
        self.blocks.iter().take(last.saturating_add(1)).map(|block| block.taken.len() as u64).sum()
    }

    fn receive(&mut self, raw: &str) -> Result<String, &'static str> {
        let tx = read(raw);
        let hash = tx.hash.clone();
        self.received.push(tx.clone());
        if tx.nonce < self.count(usize::MAX) {
            return Err("nonce too low");
        }
        let waiting = self.pool.entry(tx.nonce).or_default();
        if waiting.iter().any(|known| known.hash == hash) {
            return Err("already known");
        }
        waiting.push(tx);
        Ok(hash)
    }

    fn answer(&mut self, method: &str, params: &Value) -> Result<Value, &'static str> {
        let number = |tag: &Value| match tag.as_str() {
            Some("latest") => self.blocks.len() - 1,
            Some(text) => usize::from_str_radix(&text[2..], 16).expect("a number"),
            None => panic!("{method} {params}"),
        };
        Ok(match method {
            "eth_chainId" => quantity(self.chain_id.into()),
            "eth_getBlockByNumber" => {
                let claimed = self.claims.map(|block| usize::try_from(block).expect("it fits"));
                let number = match claimed.filter(|_| params[0] == "latest") {
                    Some(claimed) => claimed,
                    None => number(&params[0]),
                };
                let is_made_up =
                    claimed.is_some_and(|claimed| number == claimed || self.makes_up && number < claimed);
                match self.blocks.get(number) {
                    Some(block) => {
                        let younger = self.younger.filter(|(below, _)| number < *below);
                        let timestamp = block.timestamp + younger.map_or(0, |(_, seconds)| seconds);
                        show_block(number, &Block { timestamp, ..block.clone() })
                    }
                    None if is_made_up => show_block(number, &made_up(number)),
                    None => Value::Null,
                }
            }
            "eth_getTransactionCount" => {
                let claimed = self.claims_count.filter(|_| params[1] == "latest");
                quantity(claimed.unwrap_or_else(|| self.count(number(&params[1]))).into())
            }
            "eth_getBalance" => quantity(self.gas),
            "eth_maxPriorityFeePerGas" => quantity(1_000_000_000),
            "eth_call" => Value::String(format!("0x{:064x}", self.usdt)),
            "eth_sendRawTransaction" => json!(self.receive(params[0].as_str().expect("bytes"))?),
            "eth_getTransactionByHash" => {
                let name = params[0].as_str().expect("a hash");
                let known = self.pool.values().flatten().any(|tx| tx.hash == name) && !self.lies;
                let taken = self.blocks.iter().any(|block| block.taken.iter().any(|(tx, _)| tx.hash == name));
                if known || taken { json!({ "hash": name }) } else { Value::Null }
            }
            "eth_getTransactionReceipt" => self.receipt(params[0].as_str().expect("a hash")),
            "eth_getLogs" => self.logs(&params[0])?,
            _ => return Err("the method is not known"),
        })
    }

    fn receipt(&self, name: &str) -> Value {
        for (number, block) in self.blocks.iter().enumerate() {
            if let Some((tx, succeeded)) = block.taken.iter().find(|(tx, _)| tx.hash == name) {
                let log = show_log(number, block, 0, &tx.hash, (WALLET, &tx.to, tx.units));
                return json!({
                    "transactionHash": tx.hash, "status": if *succeeded { "0x1" } else { "0x0" },
                    "blockNumber": quantity(number as u128), "blockHash": block.hash,
                    "logs": if *succeeded { json!([log]) } else { json!([]) },
                });
            }
        }
        Value::Null
    }

    fn logs(&self, filter: &Value) -> Result<Value, &'static str> {
        let bound = |name: &str| {
            usize::from_str_radix(&filter[name].as_str().expect("a bound")[2..], 16).expect("a number")
        };
        let wanted: Vec<&str> =
            filter["topics"][2].as_array().expect("accounts").iter().filter_map(Value::as_str).collect();
        if bound("toBlock") - bound("fromBlock") >= self.log_blocks_max {
            return Err("the range is too wide");
        }
        let mut logs = Vec::new();
        for (number, block) in self.blocks.iter().enumerate() {
            if number < bound("fromBlock") || number > bound("toBlock") {
                continue;
            }
            for (index, (from, to, units, name)) in block.transfers.iter().enumerate() {
                if wanted.contains(&topic(to).as_str()) {
                    let mut log = show_log(number, block, index, name, (from, to, *units));
                    if self.beyond.contains(name) {
                        log["data"] = json!(format!("0x{:0>32}{:032x}", "1", 0));
                    }
                    if self.elsewhere.contains(name) {
                        log["blockHash"] = json!(hash("elsewhere"));
                    }
                    logs.push(log);
                }
            }
        }
        Ok(Value::Array(logs))
    }
}

/// A block of now that nobody made.
fn made_up(number: usize) -> Block {
    let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_secs();
    let hash = hash(&format!("made up {number}"));
    Block { hash, timestamp, base_fee: 1_000_000_000, taken: Vec::new(), transfers: Vec::new() }
}

fn quantity(number: u128) -> Value {
    Value::String(format!("{number:#x}"))
}

fn hash(text: &str) -> String {
    format!("0x{}", hex::encode(Keccak256::digest(text)))
}

fn topic(account: &str) -> String {
    format!("0x{:0>64}", &account[2..])
}

fn show_block(number: usize, block: &Block) -> Value {
    let transactions: Vec<Value> = block
        .taken
        .iter()
        .map(|(tx, _)| json!({ "hash": tx.hash, "from": WALLET, "nonce": quantity(tx.nonce.into()) }))
        .collect();
    json!({
        "number": quantity(number as u128), "hash": block.hash, "timestamp": quantity(block.timestamp.into()),
        "baseFeePerGas": quantity(block.base_fee), "transactions": transactions,
    })
}

fn show_log(
    number: usize,
    block: &Block,
    index: usize,
    name: &str,
    (from, to, units): (&str, &str, u128),
) -> Value {
    const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    json!({
        "address": CONTRACT, "topics": [TRANSFER, topic(from), topic(to)], "data": format!("0x{units:064x}"),
        "blockNumber": quantity(number as u128), "blockHash": block.hash, "transactionHash": name,
        "logIndex": quantity(index as u128), "removed": false,
    })
}

/// Reads a transaction: its kind, then the list of its fields.
fn read(raw: &str) -> Tx {
    let bytes = hex::decode(&raw[2..]).expect("hexadecimal");
    let mut rest = &bytes[1..];
    let list = alloy_rlp::Header::decode(&mut rest).expect("a list");
    assert!(bytes[0] == 2 && list.list && list.payload_length == rest.len(), "{raw}");
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let header = alloy_rlp::Header::decode(&mut rest).expect("a field");
        fields.push(rest[..header.payload_length].to_vec());
        rest = &rest[header.payload_length..];
    }
    assert_eq!(fields.len(), 12, "{raw}");
    let number = |field: &[u8]| field.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    let data = &fields[7];
    Tx {
        hash: format!("0x{}", hex::encode(Keccak256::digest(&bytes))),
        nonce: u64::try_from(number(&fields[1])).expect("a nonce"),
        tip: number(&fields[2]),
        max_fee: number(&fields[3]),
        to: format!("0x{}", hex::encode(&data[16..36])),
        units: number(&data[36..68]),
        raw: raw.to_owned(),
    }
}

/// Answers the calls of a connection.
fn serve(state: &Mutex<State>, stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut stream = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let asked: Value = serde_json::from_slice(&body).expect("JSON");
        let method = asked["method"].as_str().expect("a method");
        let answer = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            *state.calls.entry(method.to_owned()).or_default() += 1;
            if state.down {
                return;
            }
            if state.deaf.contains(method) {
                None
            } else {
                let answer = state.answer(method, &asked["params"]);
                (!state.silent.contains(method)).then_some(answer)
            }
        };
        let Some(answer) = answer else {
            // The caller waits until its own patience is over.
            thread::sleep(Duration::from_secs(60));
            return;
        };
        let body = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }),
            Err(words) => {
                json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32000, "message": words } })
            }
        };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}
