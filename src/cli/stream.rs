//! `pasarela stream`: makes the calls of a file over one connection, and keeps what became of each, until every one of
//! them has an answer: over cuts, failovers and kills of the server or of itself.

use super::client::Api;
use super::{Failure, runtime};
use bytes::Bytes;
use clap::Args;
use futures_util::stream;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, IsTerminal as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const TELL_EVERY: Duration = Duration::from_millis(500);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection without a word for so long, while something is to be answered, is given up. Banks are waited for less.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// A sign of life for the server, while nothing is sent.
const SIGN_EVERY: Duration = Duration::from_secs(20);
const BACKOFF_FIRST: Duration = Duration::from_millis(250);
const BACKOFF_MAX: Duration = Duration::from_secs(15);
/// Sent and not answered. The server has as many under way.
const AHEAD_MAX: usize = 1_024;
const LINE_END: u8 = b'\n';

/// Make the calls of a file over one connection
///
/// FILE has a call on each line, as POST /v1/stream takes them. OUT gets a line with the outcome of each call, in any
/// order; it is made at once and grows. The same command goes on from there. A server that is away is waited for.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  pasarela stream payouts.ndjson --out answers.ndjson --key pk_test_demo")]
pub struct Stream {
    /// The calls
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file of the outcomes
    #[arg(long, value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    api: Api,
}

impl Stream {
    pub fn run(self) -> Result<(), Failure> {
        let reached = self.api.reached().map_err(|failure| Failure::Usage(failure.to_string()))?;
        let is_sendable = reached.key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_sendable || reached.key.is_empty() {
            return Err(Failure::Usage("the key is none: it has other characters than keys have".to_owned()));
        }
        let calls = Calls::open(&self.file)?;
        let outcomes = Outcomes::open(&self.out, &self.file, &calls)?;
        let client = reached.client.connect_timeout(CONNECT_TIMEOUT).build().map_err(super::other)?;
        // What is no address would be waited for without an end.
        let is_address = |url: reqwest::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        if !reqwest::Url::parse(&reached.base).is_ok_and(is_address) {
            let why = format!("{} is no address of a server, such as http://127.0.0.1:8080", reached.base);
            return Err(Failure::Usage(why));
        }
        let url = format!("{}/v1/stream", reached.base);
        let work = Work { client, url, key: reached.key, calls, outcomes, backoff: Backoff::default() };
        runtime()?.block_on(work.finish())
    }
}

fn unusable(path: &Path, why: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("{}: {why}", path.display()))
}

/// The lines of the file that are not empty, by where they are.
struct Calls {
    file: File,
    lines: Vec<Range<u64>>,
}

impl Calls {
    fn open(path: &Path) -> Result<Calls, Failure> {
        let failed = |error| unusable(path, error);
        let file = File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(unusable(path, "is no file"));
        }
        let mut reading = BufReader::with_capacity(1 << 20, &file);
        let (mut lines, mut at, mut line) = (Vec::new(), 0, Vec::new());
        loop {
            line.clear();
            let bytes = reading.read_until(LINE_END, &mut line).map_err(failed)? as u64;
            if bytes == 0 {
                break;
            }
            if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
                lines.push(at..at + bytes);
            }
            at += bytes;
        }
        Ok(Calls { file, lines })
    }

    /// The key of a line, where it is a call that has one.
    fn key(&self, line: usize) -> std::io::Result<Option<String>> {
        Ok(serde_json::from_slice(&self.read(line)?).ok().and_then(|Keyed { key }| key))
    }

    fn read(&self, line: usize) -> std::io::Result<Vec<u8>> {
        let at = &self.lines[line];
        let mut bytes = vec![0; usize::try_from(at.end - at.start).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut bytes, at.start)?;
        if bytes.last() != Some(&LINE_END) {
            bytes.push(LINE_END);
        }
        Ok(bytes)
    }
}

#[derive(Deserialize)]
struct Keyed {
    key: Option<String>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    line: usize,
    key: Option<String>,
    status: u16,
    #[serde(borrow)]
    body: &'a RawValue,
}

#[derive(Deserialize)]
struct Problem {
    error: String,
}

impl Outcome<'_> {
    fn code(&self) -> String {
        serde_json::from_str(self.body.get()).map_or_else(|_| String::new(), |Problem { error }| error)
    }

    /// Nothing came of it yet: it is sent again.
    fn is_open(&self) -> bool {
        matches!(self.status, 429 | 503) || self.status == 409 && self.code() == "idempotency_in_progress"
    }
}

/// What became of the calls, in a file to which whole lines are added.
struct Outcomes {
    path: PathBuf,
    file: File,
    is_answered: Vec<bool>,
    answered: usize,
    refused: usize,
}

impl Outcomes {
    /// Half a line at the end, of a command that was killed, is dropped: it is asked for again.
    fn open(path: &Path, file_of_calls: &Path, calls: &Calls) -> Result<Outcomes, Failure> {
        let count = calls.lines.len();
        let failed = |error| unusable(path, error);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| unusable(path, error))?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() {
            return Err(unusable(path, "is no file"));
        }
        let other = calls.file.metadata().map_err(|error| unusable(file_of_calls, error))?;
        if (about.dev(), about.ino()) == (other.dev(), other.ino()) {
            return Err(unusable(path, "is the file of the calls"));
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(unusable(path, "another command writes to it")),
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut outcomes = Outcomes {
            path: path.to_owned(),
            file,
            is_answered: vec![false; count],
            answered: 0,
            refused: 0,
        };
        let mut reading = BufReader::with_capacity(1 << 20, &outcomes.file);
        let (mut found, mut whole, mut line) = (Vec::new(), 0, Vec::new());
        loop {
            line.clear();
            let bytes = reading.read_until(LINE_END, &mut line).map_err(failed)? as u64;
            if line.last() != Some(&LINE_END) {
                break;
            }
            whole += bytes;
            match serde_json::from_slice(&line) {
                Ok(Outcome { line, key, status, .. }) if (1..=count).contains(&line) => {
                    // Else a call that was never made would count as done.
                    let of_file = calls.key(line - 1).map_err(|error| unusable(file_of_calls, error))?;
                    if key.is_some() && of_file.is_some() && key != of_file {
                        let why = format!("has the outcome of another call than line {line} of the file");
                        return Err(unusable(path, why));
                    }
                    found.push((line, status));
                }
                _ => return Err(unusable(path, "has a line that is no outcome of a call of the file")),
            }
        }
        drop(reading);
        if whole < about.len() {
            outcomes.file.set_len(whole).map_err(failed)?;
        }
        for (line, status) in found {
            outcomes.note(line, status);
        }
        outcomes.file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(outcomes)
    }

    fn note(&mut self, line: usize, status: u16) {
        if !std::mem::replace(&mut self.is_answered[line - 1], true) {
            self.answered += 1;
            self.refused += usize::from(status >= 400);
        }
    }

    fn is_whole(&self) -> bool {
        self.answered == self.is_answered.len()
    }
}

/// Exponential, with jitter; it begins anew when something goes on.
#[derive(Default)]
struct Backoff {
    tries: u32,
}

impl Backoff {
    fn next(&mut self) -> Duration {
        let longest = BACKOFF_FIRST.saturating_mul(1 << self.tries.min(10)).min(BACKOFF_MAX);
        self.tries += 1;
        let mut random = [0; 8];
        // Without randomness the wait is as right, only not spread.
        let _ = getrandom::fill(&mut random);
        let half = u64::try_from(longest.as_millis() / 2).unwrap_or(u64::MAX);
        longest / 2 + Duration::from_millis(u64::from_le_bytes(random) % (half + 1))
    }
}

struct Work {
    client: reqwest::Client,
    url: String,
    key: String,
    calls: Calls,
    outcomes: Outcomes,
    backoff: Backoff,
}

/// Why a stream was over before everything was answered.
enum Cut {
    /// It is opened again; with why.
    Again(String),
    Failed(Failure),
}

impl From<Failure> for Cut {
    fn from(failure: Failure) -> Cut {
        Cut::Failed(failure)
    }
}

impl Work {
    async fn finish(mut self) -> Result<(), Failure> {
        let mut report = Report::new();
        while !self.outcomes.is_whole() {
            match self.stream(&mut report).await {
                Ok(()) => {}
                Err(Cut::Failed(failure)) => {
                    // That it could not run is all that is said.
                    if !matches!(failure, Failure::Usage(_)) {
                        report.end(&self.outcomes);
                    }
                    return Err(failure);
                }
                Err(Cut::Again(why)) => {
                    let wait = self.backoff.next();
                    report.say(&format!("{why}; trying again in {:.1} s", wait.as_secs_f64()));
                    let mut waited = pin!(tokio::time::sleep(wait));
                    loop {
                        tokio::select! {
                            () = &mut waited => break,
                            () = tokio::time::sleep(TELL_EVERY) => report.progress(&self.outcomes, true),
                        }
                    }
                }
            }
        }
        report.end(&self.outcomes);
        match self.outcomes.refused {
            0 => Ok(()),
            1 => Err(Failure::Other("1 line was refused".to_owned())),
            refused => Err(Failure::Other(format!("{refused} lines were refused"))),
        }
    }

    /// One stream, with all that has no answer.
    async fn stream(&mut self, report: &mut Report) -> Result<(), Cut> {
        let (sending, lines) = mpsc::channel::<Bytes>(64);
        let body = stream::unfold(lines, |mut lines: mpsc::Receiver<Bytes>| async move {
            let piece = lines.recv().await?;
            Some((Ok::<_, Infallible>(piece), lines))
        });
        let request = self
            .client
            .post(&self.url)
            .header("x-api-key", &self.key)
            .header("content-type", api::streams::MEDIA_TYPE)
            .body(reqwest::Body::wrap_stream(body));
        let answer = tokio::time::timeout(SILENCE_MAX, request.send()).await;
        let mut answer = match answer {
            Err(_) => return Err(Cut::Again("the server does not answer".to_owned())),
            Ok(Err(error)) => {
                let why = crate::fetch::causes(&error.without_url());
                return Err(Cut::Again(format!("no server at {} ({why})", self.url)));
            }
            Ok(Ok(answer)) => answer,
        };
        match answer.status().as_u16() {
            200 => {}
            401 => return Err(Failure::Usage("the key opens nothing on this server".to_owned()).into()),
            status @ (408 | 429 | 500..) => {
                return Err(Cut::Again(format!("the server opens no stream now ({status})")));
            }
            status => {
                let text = answer.text().await.unwrap_or_default();
                return Err(Failure::Other(super::client::refused(status, &text)).into());
            }
        }
        let count = self.calls.lines.len();
        let mut sending = Some(sending);
        // The line of the file for each line of the stream; what is to be sent again; and the next of the file.
        let (mut sent, mut again, mut at) = (Vec::<usize>::new(), VecDeque::<usize>::new(), 0);
        let (mut seen, mut rest) = (0_usize, Vec::<u8>::new());
        let (mut resting, mut heard, mut signed) = (None::<Instant>, Instant::now(), Instant::now());
        loop {
            report.progress(&self.outcomes, false);
            let now = Instant::now();
            if resting.is_some_and(|until| until <= now) {
                resting = None;
            }
            while at < count && self.outcomes.is_answered[at] {
                at += 1;
            }
            let next = again.front().copied().or((at < count).then_some(at));
            let ahead = sent.len() - seen;
            if next.is_none() && ahead == 0 {
                // The end of the request, after which the server ends its answer.
                sending = None;
            }
            let may_send = next.is_some() && ahead < AHEAD_MAX && resting.is_none();
            let wake =
                resting.map_or(TELL_EVERY, |until| until.saturating_duration_since(now).min(TELL_EVERY));
            tokio::select! {
                biased;
                chunk = answer.chunk() => {
                    heard = Instant::now();
                    match chunk {
                        Ok(Some(chunk)) => rest.extend_from_slice(&chunk),
                        Ok(None) => return Err(Cut::Again("the answer ended early".to_owned())),
                        Err(error) => {
                            let why = crate::fetch::causes(&error.without_url());
                            return Err(Cut::Again(format!("the connection was cut ({why})")));
                        }
                    }
                    let mut out = Vec::new();
                    let mut from = 0;
                    while let Some(end) = memchr::memchr(LINE_END, &rest[from..]) {
                        let line = &rest[from..=from + end];
                        from += end + 1;
                        let Ok(outcome) = serde_json::from_slice::<Outcome<'_>>(line) else {
                            self.write(&out)?;
                            return ended(line, self.outcomes.is_whole());
                        };
                        let Some(of) = outcome.line.checked_sub(1).and_then(|line| sent.get(line)).copied() else {
                            return Err(Failure::Other("the server answered a line that was not sent".to_owned()).into());
                        };
                        if self.outcomes.is_answered[of] {
                            let why = format!("the server answered line {} twice", of + 1);
                            return Err(Failure::Other(why).into());
                        }
                        let sent_key = self.calls.key(of).map_err(|error| Failure::Usage(error.to_string()))?;
                        if outcome.key.is_some() && sent_key.is_some() && outcome.key != sent_key {
                            let why = format!("the server answered line {} with the key of another call", of + 1);
                            return Err(Failure::Other(why).into());
                        }
                        if outcome.status == 401 {
                            // What was answered before is kept; a further run sends the rest.
                            self.write(&out)?;
                            let why = "the key opens nothing on this server any more".to_owned();
                            return Err(Failure::Usage(why).into());
                        }
                        seen += 1;
                        if outcome.is_open() {
                            again.push_back(of);
                            report.again += 1;
                            if resting.is_none() {
                                resting = Some(Instant::now() + self.backoff.next());
                            }
                            continue;
                        }
                        self.backoff = Backoff::default();
                        if outcome.status >= 400 {
                            report.say(&format!("line {}: {} {}", of + 1, outcome.status, outcome.code()));
                        }
                        // The members after the number are as the server wrote them.
                        let after = memchr::memchr(b',', line).unwrap_or(0);
                        out.extend_from_slice(format!("{{\"line\":{}", of + 1).as_bytes());
                        out.extend_from_slice(&line[after..]);
                        self.outcomes.note(of + 1, outcome.status);
                    }
                    rest.drain(..from);
                    self.write(&out)?;
                }
                permit = async {
                    match &sending {
                        Some(sending) => sending.reserve().await.ok(),
                        None => std::future::pending().await,
                    }
                }, if may_send => {
                    let (Some(permit), Some(line)) = (permit, next) else {
                        return Err(Cut::Again("the connection was cut".to_owned()));
                    };
                    let bytes = self.calls.read(line).map_err(|error| Failure::Usage(error.to_string()))?;
                    permit.send(bytes.into());
                    signed = Instant::now();
                    sent.push(line);
                    if again.pop_front().is_none() {
                        at += 1;
                    }
                }
                () = tokio::time::sleep(wake) => {
                    if ahead > 0 && heard.elapsed() > SILENCE_MAX {
                        return Err(Cut::Again("the server says nothing".to_owned()));
                    }
                    if ahead == 0 {
                        heard = now;
                    }
                    if signed.elapsed() > SIGN_EVERY && let Some(sending) = &sending {
                        let _ = sending.try_send(Bytes::from_static(b"\n"));
                        signed = now;
                    }
                }
            }
        }
    }

    fn write(&mut self, lines: &[u8]) -> Result<(), Failure> {
        let path = &self.outcomes.path;
        self.outcomes.file.write_all(lines).map_err(|error| unusable(path, error))
    }
}

#[derive(Deserialize)]
struct End {
    end: bool,
    #[serde(default)]
    code: String,
}

fn ended(line: &[u8], is_whole: bool) -> Result<(), Cut> {
    match serde_json::from_slice(line) {
        Ok(End { end: true, .. }) if is_whole => Ok(()),
        Ok(End { end: false, code }) => Err(Cut::Again(format!("the server ended the stream ({code})"))),
        _ => Err(Cut::Again("the server ended the stream".to_owned())),
    }
}

/// What is said on stderr meanwhile.
struct Report {
    is_terminal: bool,
    at: Instant,
    began: Instant,
    again: usize,
}

impl Report {
    fn new() -> Report {
        let now = Instant::now();
        Report { is_terminal: std::io::stderr().is_terminal(), at: now, began: now, again: 0 }
    }

    fn progress(&mut self, outcomes: &Outcomes, now: bool) {
        if !now && self.at.elapsed() < TELL_EVERY {
            return;
        }
        self.at = Instant::now();
        let line = format!(
            "{} of {} answered, {} refused",
            outcomes.answered,
            outcomes.is_answered.len(),
            outcomes.refused
        );
        if self.is_terminal {
            eprint!("\r\x1b[K{line}");
        } else {
            eprintln!("{line}");
        }
    }

    fn say(&self, line: &str) {
        eprintln!("{}{line}", if self.is_terminal { "\r\x1b[K" } else { "" });
    }

    fn end(&self, outcomes: &Outcomes) {
        let Outcomes { answered, refused, is_answered, .. } = outcomes;
        let (took, done, again) = (self.began.elapsed().as_secs_f64(), answered - refused, self.again);
        self.say(&format!(
            "{answered} of {} answered in {took:.1} s: {done} done, {refused} refused; {again} sent again",
            is_answered.len()
        ));
    }
}
