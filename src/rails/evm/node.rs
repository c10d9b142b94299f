//! Questions to nodes, and their answers as numbers and bytes. An answer that is not whole is none.

use super::erc20::{self, Transfer};
use super::rpc::{Endpoint, Rpc, RpcError};
use super::{Account, Hash, hex0x, read_hex};
use crate::rails::http::NoClient;
use domain::platform::Mark;
use serde_json::{Value, json};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(10);

pub struct Node {
    rpc: Rpc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub number: u64,
    pub hash: Hash,
    /// For a unit of gas, in wei; 0 on chains without such a fee.
    pub base_fee: u64,
    /// Seconds since 1970.
    pub timestamp: u64,
}

impl Block {
    pub const fn mark(&self) -> Mark {
        Mark { block: self.number, hash: self.hash, made_at: self.timestamp }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub block: u64,
    pub block_hash: Hash,
    pub is_success: bool,
    pub transfers: Vec<Transfer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    pub transfer: Transfer,
    pub block: u64,
    pub block_hash: Hash,
    pub transaction: Hash,
    pub index: u64,
    /// Block, transaction and place.
    pub name: String,
}

#[derive(Debug, Default)]
pub struct Logs {
    pub transfers: Vec<Logged>,
    /// Entries that are no transfer which could be credited: block, transaction and place, as far
    /// as they can be read.
    pub unreadable: Vec<String>,
}

fn at(block: u64) -> Value {
    Value::String(format!("{block:#x}"))
}

impl Node {
    pub fn new(endpoint: Endpoint) -> Result<Node, NoClient> {
        Ok(Node { rpc: Rpc::new(endpoint, TIMEOUT)? })
    }

    pub async fn chain_id(&self) -> Result<u64, RpcError> {
        self.rpc.ask("eth_chainId", json!([]), small).await
    }

    pub async fn head(&self) -> Result<Block, RpcError> {
        self.rpc.ask("eth_getBlockByNumber", json!(["latest", false]), read_block).await
    }

    pub async fn block(&self, number: u64) -> Result<Option<Block>, RpcError> {
        let read = |block: &Value| read_block(block).filter(|block| block.number == number);
        self.rpc.ask("eth_getBlockByNumber", json!([at(number), false]), if_there(read)).await
    }

    /// Without a block in the newest.
    pub async fn count(&self, account: &Account, block: Option<u64>) -> Result<u64, RpcError> {
        let block = block.map_or(json!("latest"), at);
        self.rpc.ask("eth_getTransactionCount", json!([hex0x(account), block]), small).await
    }

    pub async fn balance(&self, account: &Account) -> Result<u128, RpcError> {
        self.rpc.ask("eth_getBalance", json!([hex0x(account), "latest"]), quantity).await
    }

    pub async fn token_balance(&self, contract: &Account, account: &Account) -> Result<u128, RpcError> {
        let data = hex0x(&erc20::balance_of(account));
        let call = json!([{"to": hex0x(contract), "data": data}, "latest"]);
        self.rpc.ask("eth_call", call, |word| erc20::units(&hash(word)?)).await
    }

    /// Above a block's own fee, for a unit of gas, in wei.
    pub async fn tip(&self) -> Result<u64, RpcError> {
        self.rpc.ask("eth_maxPriorityFeePerGas", json!([]), small).await
    }

    /// What the node says about the transaction is no more than a hint.
    pub async fn broadcast(&self, raw: &[u8]) -> Result<(), RpcError> {
        self.rpc.call("eth_sendRawTransaction", json!([hex0x(raw)])).await.map(drop)
    }

    pub async fn knows(&self, transaction: &Hash) -> Result<bool, RpcError> {
        let found = self.rpc.call("eth_getTransactionByHash", json!([hex0x(transaction)])).await?;
        Ok(!found.is_null())
    }

    pub async fn receipt(&self, transaction: &Hash, contract: &Account) -> Result<Option<Receipt>, RpcError> {
        let read = |receipt: &Value| {
            read_receipt(receipt, contract)
                .filter(|_| hash(&receipt["transactionHash"]) == Some(*transaction))
        };
        self.rpc.ask("eth_getTransactionReceipt", json!([hex0x(transaction)]), if_there(read)).await
    }

    /// In blocks from the first to the last. An entry that cannot be read, or is of another block,
    /// keeps no other from being found.
    pub async fn transfers(
        &self,
        contract: &Account,
        to: &[Account],
        (first, last): (u64, u64),
    ) -> Result<Logs, RpcError> {
        let to: Vec<String> = to.iter().map(|account| hex0x(&erc20::topic(account))).collect();
        let filter = json!([{
            "address": hex0x(contract),
            "fromBlock": at(first),
            "toBlock": at(last),
            "topics": [hex0x(&erc20::TRANSFERRED), null, to],
        }]);
        let read = |logs: &Value| {
            let mut found = Logs::default();
            for log in logs.as_array()? {
                match read_logged(log, contract).filter(|logged| (first..=last).contains(&logged.block)) {
                    Some(logged) => found.transfers.push(logged),
                    None => found.unreadable.push(name_of(log)),
                }
            }
            Some(found)
        };
        self.rpc.ask("eth_getLogs", filter, read).await
    }

    pub async fn transaction_with(
        &self,
        account: &Account,
        nonce: u64,
        block: u64,
    ) -> Result<Option<Hash>, RpcError> {
        let is_meant = |transaction: &&Value| {
            transaction["from"].as_str().and_then(read_hex::<20>) == Some(*account)
                && small(&transaction["nonce"]) == Some(nonce)
        };
        let read = |whole: &Value| {
            let found = whole["transactions"].as_array()?.iter().find(is_meant);
            Some(found.and_then(|found| hash(&found["hash"])))
        };
        self.rpc.ask("eth_getBlockByNumber", json!([at(block), true]), read).await
    }
}

/// Nodes say null of what is not there.
fn if_there<T>(read: impl FnOnce(&Value) -> Option<T>) -> impl FnOnce(&Value) -> Option<Option<T>> {
    |value| if value.is_null() { Some(None) } else { read(value).map(Some) }
}

fn quantity(value: &Value) -> Option<u128> {
    u128::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

fn small(value: &Value) -> Option<u64> {
    quantity(value).and_then(|number| u64::try_from(number).ok())
}

fn hash(value: &Value) -> Option<Hash> {
    value.as_str().and_then(read_hex)
}

fn read_block(block: &Value) -> Option<Block> {
    let base_fee = if block["baseFeePerGas"].is_null() { 0 } else { small(&block["baseFeePerGas"])? };
    Some(Block {
        number: small(&block["number"])?,
        hash: hash(&block["hash"])?,
        base_fee,
        timestamp: small(&block["timestamp"])?,
    })
}

fn read_receipt(receipt: &Value, contract: &Account) -> Option<Receipt> {
    let logs = receipt["logs"].as_array()?;
    let is_success = match small(&receipt["status"])? {
        0 => false,
        1 => true,
        _ => return None,
    };
    Some(Receipt {
        block: small(&receipt["blockNumber"])?,
        block_hash: hash(&receipt["blockHash"])?,
        is_success,
        transfers: logs.iter().filter_map(|log| read_transfer(log, contract)).collect(),
    })
}

fn read_transfer(log: &Value, contract: &Account) -> Option<Transfer> {
    if log["address"].as_str().and_then(read_hex::<20>)? != *contract {
        return None;
    }
    let topics: Option<Vec<Hash>> = log["topics"].as_array()?.iter().map(hash).collect();
    let data = hex::decode(log["data"].as_str()?.strip_prefix("0x")?).ok()?;
    Transfer::read(&topics?, &data)
}

/// As far as it can be read.
fn name_of(log: &Value) -> String {
    let number = |name: &str| small(&log[name]).map_or_else(|| "?".to_owned(), |number| number.to_string());
    let transaction = hash(&log["transactionHash"]).map_or_else(|| "?".to_owned(), |hash| hex0x(&hash));
    format!("block {}, transaction {transaction}, log {}", number("blockNumber"), number("logIndex"))
}

fn read_logged(log: &Value, contract: &Account) -> Option<Logged> {
    if log["removed"] == Value::Bool(true) {
        return None;
    }
    Some(Logged {
        transfer: read_transfer(log, contract)?,
        block: small(&log["blockNumber"])?,
        block_hash: hash(&log["blockHash"])?,
        transaction: hash(&log["transactionHash"])?,
        index: small(&log["logIndex"])?,
        name: name_of(log),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_nodes() {
        for (text, number) in [
            ("0x0", Some(0)),
            ("0x7a69", Some(31_337)),
            ("0x000a", Some(10)),
            ("", None),
            ("0x", None),
            ("10", None),
            ("0xg", None),
        ] {
            assert_eq!(quantity(&json!(text)), number, "{text}");
        }
        assert_eq!((quantity(&json!(7)), small(&json!("0x10000000000000000"))), (None, None));
    }

    #[test]
    fn a_receipt_has_the_transfers_of_one_contract() {
        let word = |byte: u8| hex0x(&erc20::topic(&[byte; 20]));
        let log = |contract: u8| {
            json!({"address": hex0x(&[contract; 20]), "data": hex0x(&[0; 32]), "removed": false,
                "topics": [hex0x(&erc20::TRANSFERRED), word(1), word(2)], "blockNumber": "0x5",
                "blockHash": hex0x(&[9; 32]), "transactionHash": hex0x(&[8; 32]), "logIndex": "0x3"})
        };
        let receipt = |status: &str| json!({"status": status, "blockNumber": "0x5", "blockHash": hex0x(&[9; 32]), "logs": [log(7), log(6)]});
        let transfer = Transfer { from: [1; 20], to: [2; 20], units: 0 };
        let read = read_receipt(&receipt("0x1"), &[7; 20]).expect("a receipt");
        assert_eq!((read.block, read.is_success, &read.transfers), (5, true, &vec![transfer.clone()]));
        assert!(!read_receipt(&receipt("0x0"), &[7; 20]).expect("a receipt").is_success);
        assert_eq!(read_receipt(&receipt("0x2"), &[7; 20]), None);
        let logged = read_logged(&log(7), &[7; 20]).expect("a log");
        assert_eq!((logged.index, logged.block, logged.transfer), (3, 5, transfer));
        let mut gone = log(7);
        gone["removed"] = json!(true);
        assert_eq!(read_logged(&gone, &[7; 20]), None);
    }

    #[test]
    fn a_block_without_its_own_fee() {
        let block = json!({"number": "0x2", "hash": hex0x(&[1; 32]), "timestamp": "0x3"});
        let read = Block { number: 2, hash: [1; 32], base_fee: 0, timestamp: 3 };
        assert_eq!(read_block(&block), Some(read));
        assert_eq!(read_block(&json!({"number": "0x2"})), None);
    }
}
