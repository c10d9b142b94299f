//! The founding of a cluster: done once, from one node's log.

use super::following::LookError;
use super::keys::{AgreedTip, Epoch, Keys};
use super::quorum::{Change, Compare, Quorum, Read, Transaction, TransactionOutcome};
use crate::record::Tip;

const FORMAT: &str = "1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Founded {
    pub fingerprint: String,
    pub id: String,
}

impl Founded {
    fn value(&self) -> Vec<u8> {
        format!("{FORMAT} {} {}", self.fingerprint, self.id).into_bytes()
    }

    fn parse(value: &[u8]) -> Option<Founded> {
        let mut words = std::str::from_utf8(value).ok()?.split(' ');
        let is_known = words.next() == Some(FORMAT);
        let founded = Founded { fingerprint: words.next()?.to_owned(), id: words.next()?.to_owned() };
        (is_known && words.next().is_none()).then_some(founded)
    }
}

pub fn founded(quorum: &dyn Quorum, keys: &Keys) -> Result<Option<Founded>, LookError> {
    let read = quorum.read(&[Read::Key(keys.founded())])?;
    match read.first().and_then(|pairs| pairs.first()) {
        None => Ok(None),
        Some((_, value)) => Founded::parse(value).map(Some).ok_or(LookError::Unknown),
    }
}

/// Writes the agreed log's end `tip`, and a first epoch held by nobody who appends.
pub fn found(
    quorum: &dyn Quorum,
    keys: &Keys,
    founding: &Founded,
    node: &str,
    epoch: u64,
    tip: Tip,
) -> Result<(), LookError> {
    let first = Epoch { number: epoch, node: node.to_owned(), token: founding.id.clone() };
    let tip = AgreedTip { tip, bytes: 0 };
    let transaction = Transaction {
        compare: vec![Compare::Absent(keys.founded()), Compare::Absent(keys.tip())],
        then: vec![
            Change::Put(keys.founded(), founding.value()),
            Change::Put(keys.epoch(), first.value()),
            Change::Put(keys.tip(), tip.value()),
        ],
        otherwise: vec![Read::Key(keys.founded())],
    };
    match quorum.transact(&transaction)? {
        TransactionOutcome::Done => Ok(()),
        // An attempt without an answer may have been carried out.
        TransactionOutcome::Refused(read) => {
            let is_ours = read.first().and_then(|pairs| pairs.first());
            if is_ours.is_some_and(|(_, value)| *value == founding.value()) {
                Ok(())
            } else {
                Err(LookError::Exists)
            }
        }
    }
}
