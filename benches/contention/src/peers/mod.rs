//! The peers: a file for each, and a row in the list.

mod in_process;
mod pasarela;
mod pasarela_batch;
mod pasarela_single;
mod pasarela_stream;
mod postgres;
mod postgres_batched;
mod postgres_rollup;
mod postgres_statement;
mod postgres_transaction;
mod redis;
mod tigerbeetle;

use crate::Outcome;
use crate::peer::{Peer, Setup};

/// Makes a peer; the error says why it cannot be there.
pub type Make = fn(&Setup) -> Outcome<Box<dyn Peer>>;

/// The peers by the names that the command line knows.
pub const PEERS: [(&str, Make); 12] = [
    ("postgres-transaction", |setup| {
        Ok(Box::new(postgres::Postgres::new(setup, postgres_transaction::Transaction { plant: setup.plant })))
    }),
    ("postgres-statement", |setup| {
        Ok(Box::new(postgres::Postgres::new(setup, postgres_statement::Statement { plant: setup.plant })))
    }),
    ("postgres-batched", |setup| {
        Ok(Box::new(postgres::Postgres::new(setup, postgres_batched::Batched::new(setup.plant))))
    }),
    ("postgres-rollup", |setup| {
        Ok(Box::new(postgres::Postgres::new(setup, postgres_rollup::RollUp { plant: setup.plant })))
    }),
    ("redis", |setup| Ok(Box::new(redis::Redis::new(setup)?))),
    ("tigerbeetle-1", |setup| Ok(Box::new(tigerbeetle::TigerBeetle::new(setup, 1)?))),
    ("tigerbeetle-64", |setup| Ok(Box::new(tigerbeetle::TigerBeetle::new(setup, 64)?))),
    ("tigerbeetle-8190", |setup| Ok(Box::new(tigerbeetle::TigerBeetle::new(setup, 8_190)?))),
    ("pasarela-single", |setup| Ok(Box::new(pasarela::Pasarela::new(setup, pasarela_single::Single)?))),
    ("pasarela-batch", |setup| Ok(Box::new(pasarela::Pasarela::new(setup, pasarela_batch::Batches)?))),
    ("pasarela-stream", |setup| {
        Ok(Box::new(pasarela::Pasarela::new(setup, pasarela_stream::Streams::default())?))
    }),
    ("pasarela-in-process", |setup| Ok(Box::new(in_process::InProcess::new(setup)?))),
];
