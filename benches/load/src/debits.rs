//! The engine for the contention lab (`benches/contention/`), whose callers in process have to be in
//! this process: debits of one balance by the command that `POST /v1/payments/credit` sends, without
//! HTTP. It does what stdin says, a line of JSON each, and answers on stdout.

#[path = "../../contention/src/loader.rs"]
mod loader;

/// The judge of the lab's histories: its crate is not built by the gate, so it is tested here.
#[cfg(test)]
#[path = "../../contention/src/judge.rs"]
mod judge;

use crate::Outcome;
use crate::in_process::{adjust, engine_with};
use actors::{Effects, Engine};
use clap::Args;
use domain::cause::Cause;
use domain::codec;
use domain::index::{self, Space};
use domain::ledger::Ledger;
use domain::machine::{AnyBook, Command, Domain, KeyedCommand};
use domain::rail::{Effect, RailAnswer, RailReply};
use domain::record::Record;
use domain::refusal::Refusal;
use domain::resources::payouts::{NewPayout, PhoneHolder, Receiver};
use domain::values::ids::{EntityId, Id, Mode, tenant_key};
use domain::values::money::Ves;
use domain::values::text::ExternalRef;
use domain::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use loader::{Answer, Call, Caller, Callers, Load, Notes, Soon, Storm};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::future::Future;
use std::io::{BufRead, Write, stdin};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The tenant whose balance is debited.
const TENANT: u32 = 1;
/// The callers that there may be at once.
const CALLERS_MAX: usize = 4_096;
/// The instant in the ids of all debits; what follows is their number.
const TIME_MS: i64 = 1_700_000_000_000;
/// With the planted fault, one of so many debits is left out and acknowledged.
const FORGOTTEN_OF: u64 = 97;

/// Debits one balance in process, as the contention lab says
#[derive(Args, Debug)]
pub struct Debits {
    /// The directory; the data is below it
    #[arg(long)]
    dir: PathBuf,
    /// The balance at first, in cents
    #[arg(long)]
    funds: i64,
    /// With the planted fault
    #[arg(long)]
    plant: bool,
}

/// What the lab asks for.
#[derive(Deserialize)]
enum Ask {
    Load { callers: usize, load: Load },
    Storm { callers: usize, storm: Storm, notes: PathBuf },
    Balance,
    Debited,
}

/// The simulated bank as a function: it does every order at once.
struct Bank;

impl Effects<Domain> for Bank {
    fn perform(&self, _tenant: u64, effect: Effect) -> Pin<Box<dyn Future<Output = KeyedCommand> + Send>> {
        let answer = RailAnswer::Done { reference: Some("000000000042".to_owned()) };
        let reply = RailReply::plain(effect.operation, effect.how, answer);
        Box::pin(std::future::ready(Command::RailReply(reply).into()))
    }
}

struct EngineCaller {
    engine: Engine<Domain>,
    /// Who is paid.
    to: PhoneHolder,
    /// Debits until now, where some are to be forgotten.
    forgets: Option<Arc<AtomicU64>>,
}

/// A file with a line before each debit and one with each answer; it outlives a kill.
struct NotesFile(File);

impl Debits {
    /// Opens the engine, and does what it is asked until stdin ends.
    pub fn run(self) -> Outcome<()> {
        std::fs::write(self.dir.join("pid"), std::process::id().to_string())
            .map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let tenant = tenant_key(TENANT, Mode::Test);
        let engine = runtime.block_on(async {
            let engine =
                engine_with(&self.dir.join("data"), CALLERS_MAX * 2, u64::MAX, Arc::new(Bank)).await?;
            if engine.status().durable_seq == 0 {
                adjust(&engine, tenant, self.funds).await?;
            }
            Ok::<_, String>(engine)
        })?;
        say(&true);
        for line in stdin().lock().lines() {
            let line = line.map_err(|error| error.to_string())?;
            match serde_json::from_str(&line).map_err(|error| format!("{line}: {error}"))? {
                Ask::Load { callers, load } => {
                    say(&runtime.block_on(loader::run(self.callers(&engine, callers)?, load))?);
                }
                Ask::Storm { callers, storm, notes } => {
                    let file = File::options().create(true).append(true).open(notes);
                    let notes = Arc::new(NotesFile(file.map_err(|error| error.to_string())?));
                    let callers = self.callers(&engine, callers)?;
                    runtime.block_on(loader::storm(callers, storm, notes, Arc::default()))?;
                    say(&true);
                }
                Ask::Balance => say(&runtime.block_on(balance(&engine))?),
                Ask::Debited => say(&debited(&engine)?),
            }
        }
        Ok(())
    }

    fn callers(&self, engine: &Engine<Domain>, count: usize) -> Outcome<Callers> {
        let to = PhoneHolder {
            bank: BankCode::parse("0134")?,
            phone: MobilePhone::parse("04147654321")?,
            identity: IdentityDocument::parse("V87654321")?,
        };
        let forgets = self.plant.then(Arc::default);
        let caller = || Box::new(EngineCaller { engine: engine.clone(), to, forgets: forgets.clone() });
        Ok((0..count).map(|_| caller() as Box<dyn Caller>).collect())
    }
}

fn say(what: &impl Serialize) {
    println!("{}", serde_json::to_string(what).unwrap_or_default());
}

async fn balance(engine: &Engine<Domain>) -> Outcome<i64> {
    match engine.view(tenant_key(TENANT, Mode::Test)).await {
        Ok((AnyBook::Tenant(book), _)) => Ok(book.available().minor()),
        Ok((AnyBook::Platform(_), _)) => Err("that is the platform's book".to_owned()),
        Err(failure) => Err(format!("{failure:?}")),
    }
}

/// The references of all debits in the log.
fn debited(engine: &Engine<Domain>) -> Outcome<Vec<u64>> {
    let mut debited = Vec::new();
    for stored in engine.reader().records(1, None) {
        let stored = stored.map_err(|error| error.to_string())?;
        let record: Record = codec::decode(&stored.payload).map_err(|error| error.to_string())?;
        let is_debit = record.cause == Cause::PayoutCreated;
        for posting in record.postings.iter().filter(|posting| is_debit && posting.ledger == Ledger::Tenant) {
            let reference = posting.row.as_ref().and_then(|row| row.external_ref.as_deref());
            debited
                .extend(reference.and_then(|reference| reference.strip_prefix("lab-")?.parse::<u64>().ok()));
        }
    }
    Ok(debited)
}

impl EngineCaller {
    async fn one(&self, id: u64, minor: i64) -> Outcome<Answer> {
        let forgotten =
            |count: &Arc<AtomicU64>| count.fetch_add(1, Ordering::Relaxed) % FORGOTTEN_OF == FORGOTTEN_OF - 1;
        if self.forgets.as_ref().is_some_and(forgotten) {
            return Ok(Answer::Done);
        }
        let (tenant, reference) = (tenant_key(TENANT, Mode::Test), format!("lab-{id}"));
        // As the gateway does: what was paid under the reference before is in the index.
        let name = index::name(tenant, Space::Payout, &reference);
        if self.engine.reader().index_get(&name).map_err(|error| error.to_string())?.is_some() {
            return Ok(Answer::Done);
        }
        let new = NewPayout {
            id: Id::derived(TIME_MS, id, 0),
            external_ref: ExternalRef::parse(&reference)?,
            receiver: Receiver::Credit(self.to),
            amount: Ves::from_minor(minor),
            concept: "pago de prueba".to_owned(),
        };
        let (payout, command) = (EntityId::payout(new.id), Command::from(Box::new(new)));
        let asked = self.engine.ask_entity(tenant, payout, true, command.into(), None, None).await;
        let settled = asked.map_err(|failure| format!("{failure:?}"))?;
        Ok(match (settled.refusal, settled.record) {
            (None, Some(_)) => Answer::Done,
            (Some(Refusal::InsufficientBalance { .. }), _) => Answer::Refused,
            _ => Answer::Unknown,
        })
    }
}

impl Caller for EngineCaller {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(ids.len());
            for id in ids {
                answers.push(self.one(*id, minor).await.unwrap_or(Answer::Unknown));
            }
            answers
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        Box::pin(async move { balance(&self.engine).await.ok() })
    }
}

impl Notes for NotesFile {
    fn asked(&self, id: u64, at: u64) {
        // A line is one write, so a kill leaves whole lines.
        let _ = (&self.0).write_all(format!("{id} {at}\n").as_bytes());
    }

    fn answered(&self, call: Call) {
        let line = serde_json::to_string(&call).unwrap_or_default() + "\n";
        let _ = (&self.0).write_all(line.as_bytes());
    }
}
