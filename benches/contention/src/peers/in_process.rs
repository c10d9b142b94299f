//! Pasarela's engine without HTTP: the callers are tasks in its own process, which is
//! `pasarela-bench debits` (`benches/load/src/debits.rs`). It runs loads and storms by itself and
//! notes every call of a storm in a file, which outlives it when it is killed.

use super::pasarela::ABOUT;
use crate::Outcome;
use crate::cleanup::Ward;
use crate::loader::{Answer, Call, Callers, Load, Seen, Soon, Storm, What};
use crate::peer::{About, Driven, Peer, Setup, version_of};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The time between two looks at what a storm has noted.
const LOOK: Duration = Duration::from_millis(2);

/// The process.
pub struct InProcess {
    setup: Setup,
    program: PathBuf,
    running: Mutex<Option<Running>>,
}

struct Running {
    ward: Ward,
    write: ChildStdin,
    read: BufReader<ChildStdout>,
}

impl InProcess {
    /// A process on the setup's directory.
    pub fn new(setup: &Setup) -> Outcome<InProcess> {
        let program = crate::program("PASARELA_BENCH_BIN", "pasarela-bench")?;
        Ok(InProcess { setup: setup.clone(), program, running: Mutex::default() })
    }

    fn spawn(&self) -> Outcome<()> {
        let mut command = Command::new(&self.program);
        // It measures no gateway, and is told of one that is there.
        command.arg("--server").arg(&self.program).arg("debits").arg("--dir").arg(&self.setup.dir);
        command.args(["--funds", &self.setup.funds.to_string()]);
        if self.setup.plant {
            command.arg("--plant");
        }
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let log = File::options().create(true).append(true).open(self.setup.dir.join("server.log"));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.map_err(|error| error.to_string())?)
            .spawn()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        let (Some(write), Some(read)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the engine's process has no pipes".to_owned());
        };
        let running = Running { ward: Ward::new(child), write, read: BufReader::new(read) };
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
        self.reply::<bool>().map(drop)
    }

    /// Has it do something; returns what it says.
    fn ask<T: DeserializeOwned>(&self, what: &Value) -> Outcome<T> {
        self.tell(what)?;
        self.reply()
    }

    fn tell(&self, what: &Value) -> Outcome<()> {
        let mut guard = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = guard.as_mut().ok_or("the engine does not run")?;
        writeln!(running.write, "{what}").map_err(|error| self.gone(&error.to_string()))
    }

    fn reply<T: DeserializeOwned>(&self) -> Outcome<T> {
        let mut guard = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = guard.as_mut().ok_or("the engine does not run")?;
        let mut line = String::new();
        running.read.read_line(&mut line).map_err(|error| self.gone(&error.to_string()))?;
        serde_json::from_str(&line).map_err(|error| self.gone(&error.to_string()))
    }

    fn gone(&self, why: &str) -> String {
        format!("{why}: {}", crate::peer::last_words(&self.setup.dir))
    }

    /// Runs a storm again and again until no kill ended it; the file has everything that was noted.
    fn storms(&self, callers: usize, mut storm: Storm, kill_at: &[u64]) -> Outcome<Driven> {
        let path = self.setup.dir.join("history");
        let (last, mut kills) = (storm.first_id + storm.asks, 0);
        loop {
            self.tell(&json!({ "Storm": { "callers": callers, "storm": storm, "notes": path } }))?;
            // Another thread waits for the end, as only a kill may come before it.
            let is_over = std::thread::scope(|scope| {
                let end = scope.spawn(|| self.reply::<Value>());
                while !end.is_finished() {
                    std::thread::sleep(LOOK);
                    if kill_at.get(kills).is_some_and(|at| acknowledged(&path) >= *at) {
                        self.killed();
                        break;
                    }
                }
                end.join().map_err(|_| "the waiting thread panicked".to_owned())
            })?;
            let noted = Noted::read(&path)?;
            match is_over {
                Ok(_) => return Ok(Driven { calls: noted.whole(), kills }),
                Err(why) if kill_at.get(kills).is_none_or(|at| acknowledged(&path) < *at) => return Err(why),
                Err(_) => kills += 1,
            }
            storm.first_id = noted.asked.keys().next_back().map_or(storm.first_id, |id| id + 1);
            storm.asks = last.saturating_sub(storm.first_id);
            storm.again = noted.open();
            self.spawn()?;
        }
    }

    /// Kills it while somebody waits for its reply, who has the lock.
    fn killed(&self) {
        // The pid was noted when it started.
        let pid =
            std::fs::read_to_string(self.setup.dir.join("pid")).ok().and_then(|pid| pid.trim().parse().ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// What a storm has noted: a line before each debit, and one with each answer.
struct Noted {
    asked: BTreeMap<u64, u64>,
    calls: Vec<Call>,
}

/// How many debits were acknowledged until now.
fn acknowledged(path: &PathBuf) -> u64 {
    let mut text = String::new();
    let read = File::open(path).and_then(|mut file| file.read_to_string(&mut text));
    if read.is_err() { 0 } else { text.matches("\"Done\"").count() as u64 }
}

impl Noted {
    fn read(path: &PathBuf) -> Outcome<Noted> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut noted = Noted { asked: BTreeMap::new(), calls: Vec::new() };
        for line in text.lines() {
            match line.split_once(' ') {
                Some((id, at)) if !line.starts_with('{') => {
                    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{line}: {error}"));
                    noted.asked.entry(number(id)?).or_insert(number(at)?);
                }
                _ => {
                    noted.calls.push(serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?)
                }
            }
        }
        Ok(noted)
    }

    /// What was asked for and has no answer.
    fn open(&self) -> Vec<(u64, u64)> {
        let mut open = self.asked.clone();
        for call in &self.calls {
            if let What::Debit(id, answer) = call.what
                && answer != Answer::Unknown
            {
                open.remove(&id);
            }
        }
        open.into_iter().collect()
    }

    /// All calls; those without an answer have none.
    fn whole(mut self) -> Vec<Call> {
        self.calls.retain(|call| !matches!(call.what, What::Debit(_, Answer::Unknown)));
        let open = self.open();
        let unknown = |(id, start)| Call { start, end: u64::MAX, what: What::Debit(id, Answer::Unknown) };
        self.calls.extend(open.into_iter().map(unknown));
        self.calls
    }
}

impl Peer for InProcess {
    fn about(&self) -> About {
        About {
            title: "Pasarela's engine, in process",
            how: "the command of a credit to a phone, to its entity; the simulated bank is a function",
            reached: "tasks of its own process",
            ..ABOUT
        }
    }

    fn version(&self) -> String {
        version_of(&self.program, "--version")
    }

    fn start(&self) -> Soon<'_, Outcome<()>> {
        Box::pin(async { self.spawn() })
    }

    fn kill(&self) {
        if let Some(running) = self.running.lock().unwrap_or_else(PoisonError::into_inner).take() {
            running.ward.kill();
        }
    }

    fn open(&self, _callers: usize) -> Soon<'_, Outcome<Callers>> {
        Box::pin(async { Err("its callers are in its own process".to_owned()) })
    }

    fn balance(&self) -> Soon<'_, Outcome<i64>> {
        Box::pin(async { self.ask(&json!("Balance")) })
    }

    fn debited<'a>(&'a self, _asked: &'a [u64]) -> Soon<'a, Outcome<Vec<u64>>> {
        Box::pin(async { self.ask(&json!("Debited")) })
    }

    fn drive(&self, callers: usize, load: Load) -> Option<Soon<'_, Outcome<Seen>>> {
        Some(Box::pin(async move { self.ask(&json!({ "Load": { "callers": callers, "load": load } })) }))
    }

    fn drive_storm(
        &self,
        callers: usize,
        storm: Storm,
        kill_at: Vec<u64>,
    ) -> Option<Soon<'_, Outcome<Driven>>> {
        Some(Box::pin(async move { self.storms(callers, storm, &kill_at) }))
    }
}
