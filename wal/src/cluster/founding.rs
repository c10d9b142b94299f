//! The founding of a cluster: done once, from one node's log.

use super::following::LookError;
use super::keys::{AgreedTip, Epoch, Keys};
use super::quorum::{Change, Compare, Quorum, Read, Transaction, TransactionOutcome};
use crate::record::Tip;

/// What the first release founded. It refuses the other, and with it what that cluster stores.
const FIRST: &str = "1";
const FORMAT: &str = "2";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Founded {
    pub fingerprint: String,
    pub id: String,
    /// The version in which records are written; `None`: that of the first release.
    pub stores: Option<u8>,
}

impl Founded {
    pub(crate) fn value(&self) -> Vec<u8> {
        let Founded { fingerprint, id, stores } = self;
        let value = match stores {
            None => format!("{FIRST} {fingerprint} {id}"),
            Some(stores) => format!("{FORMAT} {fingerprint} {id} {stores}"),
        };
        value.into_bytes()
    }

    pub(crate) fn parse(value: &[u8]) -> Option<Founded> {
        let words: Vec<&str> = std::str::from_utf8(value).ok()?.split(' ').collect();
        let (fingerprint, id, stores) = match words[..] {
            [FIRST, fingerprint, id] => (fingerprint, id, None),
            [FORMAT, fingerprint, id, stores] => (fingerprint, id, Some(stores.parse().ok()?)),
            _ => return None,
        };
        Some(Founded { fingerprint: fingerprint.to_owned(), id: id.to_owned(), stores })
    }
}

pub fn founded(quorum: &dyn Quorum, keys: &Keys) -> Result<Option<Founded>, LookError> {
    let read = quorum.read(&[Read::Key(keys.founded())])?;
    match read.first().and_then(|pairs| pairs.first()) {
        None => Ok(None),
        Some((_, value)) => Founded::parse(value).map(Some).ok_or(LookError::Unknown),
    }
}

/// The number of partitions. A cluster that was founded before there was a number has one.
pub fn partitions(quorum: &dyn Quorum, keys: &Keys) -> Result<u8, LookError> {
    Ok(number(quorum, keys)?.0)
}

/// With the value, if it is there.
fn number(quorum: &dyn Quorum, keys: &Keys) -> Result<(u8, Option<Vec<u8>>), LookError> {
    let read = quorum.read(&[Read::Key(keys.partitions())])?;
    let Some((_, value)) = read.into_iter().next().and_then(|pairs| pairs.into_iter().next()) else {
        return Ok((1, None));
    };
    let number = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
    Ok((number.ok_or(LookError::Unknown)?, Some(value)))
}

/// Raises the number of partitions to `to`, if it is not as high already: an attempt without an answer may have been
/// carried out, and somebody else may raise it at the same time.
pub fn grow(quorum: &dyn Quorum, keys: &Keys, to: u8) -> Result<(), LookError> {
    loop {
        let key = keys.partitions();
        let compare = match number(quorum, keys)? {
            (has, _) if has >= to => return Ok(()),
            (_, None) => Compare::Absent(key.clone()),
            (_, Some(value)) => Compare::Is(key.clone(), value),
        };
        let then = vec![Change::Put(key, to.to_string().into_bytes())];
        quorum.transact(&Transaction { compare: vec![compare], then, ..Transaction::default() })?;
    }
}

/// Before a further partition is founded: `first` has the keys of the first one, `own` those of this one, maybe in an
/// etcd of its own, which gets a name (`random`) that is written down. Founded in two, it would have two leaders. What
/// is lost (`is_lost`) is no longer another one.
pub fn place(
    first: (&dyn Quorum, &Keys),
    own: (&dyn Quorum, &Keys),
    partition: u8,
    random: &str,
    is_lost: bool,
) -> Result<(), LookError> {
    let name = kept(own.0, own.1.etcd(), random.as_bytes().to_vec())?;
    let key = first.1.etcd_of(partition);
    if is_lost {
        let put = Transaction { then: vec![Change::Put(key, name)], ..Transaction::default() };
        first.0.transact(&put)?;
        return Ok(());
    }
    if kept(first.0, key, name.clone())? == name { Ok(()) } else { Err(LookError::Elsewhere { partition }) }
}

/// The value of a key, which is this one if there was none.
fn kept(quorum: &dyn Quorum, key: Vec<u8>, value: Vec<u8>) -> Result<Vec<u8>, LookError> {
    let transaction = Transaction {
        compare: vec![Compare::Absent(key.clone())],
        then: vec![Change::Put(key.clone(), value.clone())],
        otherwise: vec![Read::Key(key)],
    };
    match quorum.transact(&transaction)? {
        TransactionOutcome::Done => Ok(value),
        TransactionOutcome::Refused(read) => {
            let there = read.into_iter().next().and_then(|pairs| pairs.into_iter().next());
            Ok(there.map_or(value, |(_, there)| there))
        }
    }
}

/// Writes the agreed log's end `tip`, and a first epoch held by nobody who appends.
pub fn found(
    quorum: &dyn Quorum,
    keys: &Keys,
    (founding, partitions): (&Founded, u8),
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
            Change::Put(keys.partitions(), partitions.to_string().into_bytes()),
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
