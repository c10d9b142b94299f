//! Two programs over one log: the digests of `wal states` of another program, compared with this one's, line by line.
//! The first record after which something differs is looked for in stretches, and then record by record. Memory holds
//! one stretch's changes, whatever the other program writes.

use super::states::{State, Stretch, Thing, states};
use super::{Failed, Progress};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use wal::{Reader, Seq};

/// A log as long as this is compared after each record; of a longer one stretches of so many are, as to digest a large
/// book takes longer than to apply a record to it.
const EACH_RECORD_UP_TO: u64 = 16_384;
const STRETCH: u64 = 4_096;
const LINE_BYTES_MAX: u64 = 64 << 10;
const LINES_WAITING: usize = 1_024;
/// A program that says nothing for as long, and for many times as long as this one took so far, is silent.
const SILENCE: Duration = Duration::from_secs(60);
const SILENCE_TIMES: u32 = 20;
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The program, and what it is given besides the stretch.
pub struct Other {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    pub seq: Seq,
    pub of: Thing,
    /// None where a program has no line.
    pub ours: Option<String>,
    pub theirs: Option<String>,
    /// The names of the parts that differ, where both programs say them.
    pub parts: Vec<String>,
}

#[derive(Default)]
pub struct Compared {
    /// Of books and objects, at the first sequence at which there are any, in order.
    pub first: Vec<Difference>,
    /// Of what follows from states, in the same way.
    pub derived: Vec<Difference>,
    /// Whether the other program says anything of that: earlier ones do not.
    pub says_derived: bool,
    /// The digests that were compared, and those that differ, by kind.
    pub kinds: BTreeMap<String, (u64, u64)>,
}

pub fn shadow(reader: &Reader, other: &Other, from: Seq, progress: Progress<'_>) -> Result<Compared, Failed> {
    let each = Stretch::to_end(reader, from, 1, says_derived(other)?)?;
    let (to, count) = (each.to, each.to - from + 1);
    if count <= EACH_RECORD_UP_TO {
        return compare(reader, other, each, progress, |_| true);
    }
    // The end of the log may be another one for the other program, beside a running server: whole stretches are
    // compared first.
    let whole = from + count / STRETCH * STRETCH - 1;
    let stretches = Stretch { to: whole, every: STRETCH, ..each };
    let mut compared = compare(reader, other, stretches, progress, |_| true)?;
    for of in [Compared::first, Compared::derived] {
        let Some(seq) = of(&mut compared).first().map(|first| first.seq) else { continue };
        let start = (seq + 1).saturating_sub(STRETCH).max(from);
        let stretch = Stretch { from: start, to: seq.min(to), ..each };
        let mut narrowed = compare(reader, other, stretch, progress, |found| of(found).is_empty())?;
        if !of(&mut narrowed).is_empty() {
            *of(&mut compared) = std::mem::take(of(&mut narrowed));
        }
    }
    if compared.first.is_empty() && whole < to {
        let rest = compare(reader, other, Stretch { from: whole + 1, ..each }, progress, |_| true)?;
        compared.first = rest.first;
        if compared.derived.is_empty() {
            compared.derived = rest.derived;
        }
        for (kind, (seen, different)) in rest.kinds {
            let all = compared.kinds.entry(kind).or_default();
            *all = (all.0 + seen, all.1 + different);
        }
    }
    Ok(compared)
}

/// Goes on as long as `goes_on`, which is given what was compared so far.
fn compare(
    reader: &Reader,
    other: &Other,
    stretch: Stretch,
    progress: Progress<'_>,
    goes_on: impl Fn(&mut Compared) -> bool,
) -> Result<Compared, Failed> {
    let mut lines = Lines::of(other, stretch)?;
    // Of a damaged log this program's own word comes first: it says where.
    let mut failed = None;
    match lines.receive() {
        Ok(next) => lines.next = next,
        Err(why) => failed = Some(why),
    }
    let mut compared = Compared { says_derived: stretch.derived, ..Compared::default() };
    let mut is_whole = true;
    states(reader, stretch, progress, &mut |seq, ours| {
        if let Some(why) = failed.take() {
            return Err(why);
        }
        compared.add(seq, ours, &mut lines)?;
        is_whole = goes_on(&mut compared);
        Ok(is_whole)
    })?;
    match failed {
        Some(why) => return Err(why),
        None if is_whole => lines.finish()?,
        None => {}
    }
    Ok(compared)
}

impl Compared {
    fn first(&mut self) -> &mut Vec<Difference> {
        &mut self.first
    }

    fn derived(&mut self) -> &mut Vec<Difference> {
        &mut self.derived
    }

    fn add(&mut self, seq: Seq, ours: Vec<State>, lines: &mut Lines) -> Result<(), Failed> {
        let mut missing: HashMap<Thing, State> = HashMap::with_capacity(ours.len());
        for state in ours {
            self.kinds.entry(state.of.kind.clone()).or_default().0 += 1;
            missing.insert(state.of.clone(), state);
        }
        // Of states, and of what follows from them: many of the one leave room for the other.
        let mut found = [Vec::new(), Vec::new()];
        while let Some(theirs) = lines.next_up_to(seq)? {
            let ours = if theirs.seq == seq { missing.remove(&theirs.of) } else { None };
            if ours.as_ref().is_none_or(|ours| ours.digest != theirs.digest) {
                self.kinds.entry(theirs.of.kind.clone()).or_default().1 += 1;
                // The lines of others are not believed to be few.
                let found = &mut found[usize::from(theirs.of.is_derived())];
                if found.len() < LINES_WAITING {
                    found.push(Difference::between(ours, theirs));
                }
            }
        }
        for (of, State { digest, .. }) in missing {
            self.kinds.entry(of.kind.clone()).or_default().1 += 1;
            let one = &mut found[usize::from(of.is_derived())];
            one.push(Difference { seq, of, ours: Some(digest), theirs: None, parts: Vec::new() });
        }
        for (first, mut found) in [&mut self.first, &mut self.derived].into_iter().zip(found) {
            found.sort_by(|one, other| (one.seq, &one.of).cmp(&(other.seq, &other.of)));
            if let (true, Some(seq)) = (first.is_empty(), found.first().map(|one| one.seq)) {
                found.retain(|difference| difference.seq == seq);
                *first = found;
            }
        }
        Ok(())
    }
}

impl Difference {
    fn between(ours: Option<State>, theirs: State) -> Difference {
        let State { seq, of, digest, parts: other } = theirs;
        let mut parts = Vec::new();
        if let Some(State { parts: own, .. }) = &ours
            && !own.is_empty()
            && !other.is_empty()
        {
            let names: BTreeSet<&String> = own.keys().chain(other.keys()).collect();
            parts.extend(names.into_iter().filter(|name| own.get(*name) != other.get(*name)).cloned());
        }
        Difference { seq, of, ours: ours.map(|ours| ours.digest), theirs: Some(digest), parts }
    }
}

/// What another program prints.
struct Lines {
    name: String,
    child: Child,
    lines: Receiver<Result<State, &'static str>>,
    next: Option<State>,
    /// The last sequence that it said.
    last: Seq,
    has_ended: bool,
    has_spoken: bool,
    began: Instant,
}

/// Whether the other program says what follows from states: earlier ones do not know the word.
fn says_derived(other: &Other) -> Result<bool, Failed> {
    let asked = Command::new(&other.program)
        .args(["wal", "states", "--derived", "--help"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let name = other.program.display();
    let mut child = asked.map_err(|error| Failed::NotDone(format!("{name} cannot be run: {error}")))?;
    let began = Instant::now();
    while began.elapsed() < SILENCE {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) => std::thread::sleep(LOOK_AGAIN),
            Err(error) => return Err(Failed::NotDone(format!("{name} cannot be waited for: {error}"))),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(Failed::NotDone(format!("{name} says nothing")))
}

impl Lines {
    fn of(other: &Other, stretch: Stretch) -> Result<Lines, Failed> {
        let name = other.program.display().to_string();
        let mut child = Command::new(&other.program)
            .args(["wal", "states"])
            .args(["--from".to_owned(), stretch.from.to_string()])
            .args(["--every".to_owned(), stretch.every.to_string()])
            .args(&other.arguments)
            .args(stretch.derived.then_some("--derived"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failed::NotDone(format!("{name} cannot be run: {error}")))?;
        let (give, lines) = sync_channel(LINES_WAITING);
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || read(stdout, &give));
        }
        let (next, last) = (None, stretch.from);
        Ok(Lines {
            name,
            child,
            lines,
            next,
            last,
            has_ended: false,
            has_spoken: false,
            began: Instant::now(),
        })
    }

    fn failed(&self, why: &str) -> Failed {
        Failed::NotDone(format!("{} {why}", self.name))
    }

    /// The next line of this sequence or an earlier one.
    fn next_up_to(&mut self, seq: Seq) -> Result<Option<State>, Failed> {
        if self.next.is_none() && !self.has_ended {
            self.next = self.receive()?;
        }
        Ok(self.next.take_if(|next| next.seq <= seq))
    }

    fn receive(&mut self) -> Result<Option<State>, Failed> {
        let patience = SILENCE.max(self.began.elapsed().saturating_mul(SILENCE_TIMES));
        match self.lines.recv_timeout(patience) {
            Ok(Ok(state)) if state.seq < self.last => Err(self.failed("prints sequences that do not ascend")),
            Ok(Ok(state)) => {
                (self.last, self.has_spoken) = (state.seq, true);
                Ok(Some(state))
            }
            Ok(Err(why)) => Err(self.failed(why)),
            Err(RecvTimeoutError::Timeout) => Err(self.failed("says nothing")),
            Err(RecvTimeoutError::Disconnected) => {
                self.has_ended = true;
                let status = self.child.wait();
                let status =
                    status.map_err(|error| self.failed(&format!("cannot be waited for: {error}")))?;
                if !status.success() {
                    return Err(self.failed(&format!("failed: {status}")));
                }
                // Each record changes a book at least.
                if self.has_spoken { Ok(None) } else { Err(self.failed("printed nothing")) }
            }
        }
    }

    /// It may have read a longer log, and must come to its end.
    fn finish(&mut self) -> Result<(), Failed> {
        while !self.has_ended {
            self.receive()?;
        }
        Ok(())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn read(stdout: ChildStdout, give: &SyncSender<Result<State, &'static str>>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = stdout.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let state = match read {
            Ok(0) => return,
            Ok(_) => serde_json::from_slice(&line).map_err(|_| "does not print what wal states prints"),
            Err(_) => Err("cannot be read"),
        };
        let is_wrong = state.is_err();
        if give.send(state).is_err() || is_wrong {
            return;
        }
    }
}
