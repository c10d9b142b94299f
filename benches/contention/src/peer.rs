//! What a peer is: a system that keeps one balance. To add one, write a file in `peers/` with what
//! is asked for here, and give it a row in `peers/mod.rs`.

use crate::Outcome;
use crate::cleanup::Ward;
use crate::loader::{Answer, Call, Caller, Callers, Load, Seen, Soon, Storm};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time that a server may take until it answers.
pub const READY: Duration = Duration::from_secs(60);
/// Of so many debits a forgetful caller leaves one out.
const FORGOTTEN_OF: u64 = 97;
/// The ports that servers get.
const PORTS: std::ops::Range<u16> = 21_400..21_600;

/// The circumstances of a peer.
#[derive(Clone, Debug)]
pub struct Setup {
    /// A directory of its own, which is empty at first.
    pub dir: PathBuf,
    /// The balance at first, in minor units.
    pub funds: i64,
    /// Whether the planted fault is on.
    pub plant: bool,
}

/// What the page says of a peer.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The name in tables.
    pub title: &'static str,
    /// Debits that a caller asks for at once.
    pub per_call: usize,
    /// How it is debited.
    pub how: &'static str,
    /// How its callers reach it.
    pub reached: &'static str,
    /// What makes a debit durable.
    pub durable: &'static str,
    /// What it does besides: the same id again, events, lists, the balance of the past.
    pub besides: [&'static str; 4],
    /// The planted fault.
    pub plant: &'static str,
}

/// A storm that runs in the peer's own process.
pub struct Driven {
    /// Its calls.
    pub calls: Vec<Call>,
    /// Kills that it survived.
    pub kills: usize,
}

/// A system that keeps one balance.
pub trait Peer: Send + Sync {
    /// What the page says of it.
    fn about(&self) -> About;

    /// Its version, asked of the program itself.
    fn version(&self) -> String;

    /// Starts it on its directory, with its funds if it is new; returns when it answers.
    fn start(&self) -> Soon<'_, Outcome<()>>;

    /// Ends it by SIGKILL, all processes of it.
    fn kill(&self);

    /// Opens callers.
    fn open(&self, callers: usize) -> Soon<'_, Outcome<Callers>>;

    /// The balance.
    fn balance(&self) -> Soon<'_, Outcome<i64>> {
        Box::pin(async move {
            let mut callers = self.open(1).await?;
            let read = callers[0].balance().await;
            read.ok_or_else(|| "the balance cannot be read".to_owned())
        })
    }

    /// The ids of the debits that it has, as often as it has them. `asked` is all that were asked
    /// for.
    fn debited<'a>(&'a self, asked: &'a [u64]) -> Soon<'a, Outcome<Vec<u64>>>;

    /// Settings that are tried before it is measured; the best is the peer of the run.
    fn settings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Takes the `nth` of its settings.
    fn take(&self, _nth: usize) {}

    /// Runs a load in its own process, where its callers are there; nothing for all others.
    fn drive(&self, _callers: usize, _load: Load) -> Option<Soon<'_, Outcome<Seen>>> {
        None
    }

    /// Runs a storm there, and kills it whenever another of `kill_at` debits were acknowledged.
    fn drive_storm(
        &self,
        _callers: usize,
        _storm: Storm,
        _kill_at: Vec<u64>,
    ) -> Option<Soon<'_, Outcome<Driven>>> {
        None
    }
}

/// A child process that can be started again.
#[derive(Default)]
pub struct Process(std::sync::Mutex<Option<Ward>>);

impl Process {
    /// Runs a command; what it says goes to a file in `dir`.
    pub fn run(&self, mut command: Command, dir: &Path, is_parent: bool) -> Outcome<()> {
        let log = dir.join("server.log");
        let fail = |error: std::io::Error| format!("{}: {error}", log.display());
        let out = File::options().create(true).append(true).open(&log).map_err(fail)?;
        let errors = out.try_clone().map_err(fail)?;
        let program = command.get_program().to_owned();
        // A group of its own: Ctrl-C comes to us alone, and we end it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
        *self.0.lock().expect("nobody panics with it") =
            Some(if is_parent { Ward::of_parent(child) } else { Ward::new(child) });
        Ok(())
    }

    /// Sends SIGKILL to it and to what it has started; returns when it is gone.
    pub fn kill(&self) {
        if let Some(ward) = self.0.lock().expect("nobody panics with it").take() {
            let family = crate::machine::family(ward.child().id());
            ward.kill();
            let pids = family.into_iter().skip(1).filter_map(|pid| i32::try_from(pid).ok());
            for pid in pids.filter_map(rustix::process::Pid::from_raw) {
                // It may have ended with its parent.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }

    /// Whether it runs; how it ended if not.
    pub fn check(&self, dir: &Path) -> Outcome<()> {
        let guard = self.0.lock().expect("nobody panics with it");
        match guard.as_ref().map(|ward| ward.child().try_wait()) {
            Some(Ok(None)) => Ok(()),
            ended => Err(format!("it ended ({ended:?}): {}", last_words(dir))),
        }
    }
}

/// The end of what a server said.
pub fn last_words(dir: &Path) -> String {
    let text = std::fs::read(dir.join("server.log")).unwrap_or_default();
    String::from_utf8_lossy(&text[text.len().saturating_sub(600)..]).trim().to_owned()
}

/// Tries until it works, the process has ended, or the time is over.
pub async fn until_ready<'a, T>(
    process: &Process,
    dir: &Path,
    attempt: impl Fn() -> Soon<'a, Outcome<T>>,
) -> Outcome<T> {
    let began = Instant::now();
    loop {
        let tried = tokio::time::timeout(Duration::from_secs(5), attempt()).await;
        match tried.unwrap_or_else(|_| Err("no answer".to_owned())) {
            Ok(done) => return Ok(done),
            Err(why) if began.elapsed() > READY => return Err(format!("{why}: {}", last_words(dir))),
            Err(_) => process.check(dir)?,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// An address that nobody listens on.
pub fn free_address() -> Outcome<SocketAddr> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = u32::from(PORTS.end - PORTS.start);
    (0..count)
        .map(|_| PORTS.start + (NEXT.fetch_add(1, Ordering::Relaxed) % count) as u16)
        .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .find(|address| TcpListener::bind(address).is_ok())
        .ok_or_else(|| "no free port".to_owned())
}

/// The first line that a program says of its version.
pub fn version_of(program: &Path, argument: &str) -> String {
    let out = Command::new(program).arg(argument).output().map(|out| out.stdout).unwrap_or_default();
    String::from_utf8_lossy(&out).lines().next().unwrap_or("unknown").trim().to_owned()
}

/// A caller with a planted fault, for peers whose server cannot be made wrong: it leaves debits out
/// and says that they are done.
struct Forgetful {
    caller: Box<dyn Caller>,
    count: Arc<AtomicU64>,
}

impl Caller for Forgetful {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            let is_forgotten =
                |_: &u64| self.count.fetch_add(1, Ordering::Relaxed) % FORGOTTEN_OF == FORGOTTEN_OF - 1;
            let forgotten: Vec<bool> = ids.iter().map(is_forgotten).collect();
            let sent: Vec<u64> =
                ids.iter().zip(&forgotten).filter(|(_, forgotten)| !**forgotten).map(|(id, _)| *id).collect();
            let mut answers = match sent.is_empty() {
                true => Vec::new(),
                false => self.caller.debit(&sent, minor).await,
            }
            .into_iter();
            forgotten
                .into_iter()
                .map(
                    |forgotten| {
                        if forgotten { Answer::Done } else { answers.next().unwrap_or(Answer::Unknown) }
                    },
                )
                .collect()
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        self.caller.balance()
    }
}

/// The callers, forgetful ones if the fault is planted.
pub fn perhaps_forgetful(callers: Callers, plant: bool) -> Callers {
    if !plant {
        return callers;
    }
    let count = Arc::new(AtomicU64::new(0));
    let forgetful = |caller| Box::new(Forgetful { caller, count: Arc::clone(&count) }) as Box<dyn Caller>;
    callers.into_iter().map(forgetful).collect()
}
