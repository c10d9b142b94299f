//! The progress of a long command, on stderr: a bar on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// What takes less time than this needs no line.
const FIRST_LINE: Duration = Duration::from_secs(1);
/// Between plain lines; once there was one, there is one at the end of each part in any case.
const LINE_EVERY: Duration = Duration::from_secs(5);

const WITH_END: &str = "{msg} {wide_bar} {human_pos} of {human_len} ({percent} %, {eta} left)";
const WITHOUT_END: &str = "{msg} {human_pos} ({elapsed})";

pub fn shown<T>(work: impl FnOnce(&mut dyn FnMut(&'static str, u64, u64)) -> T) -> T {
    let mut shown = Shown::new();
    work(&mut |part, done, of| shown.tell(part, done, of))
}

pub struct Shown {
    bar: Option<ProgressBar>,
    part: &'static str,
    /// When the part began, and what was done by then.
    began: (Instant, u64),
    next_line: Instant,
    has_told: bool,
}

impl Shown {
    pub fn new() -> Shown {
        let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
        let now = Instant::now();
        Shown { bar, part: "", began: (now, 0), next_line: now + FIRST_LINE, has_told: false }
    }

    /// `of` is 0 when nobody knows how much there is.
    pub fn tell(&mut self, part: &'static str, done: u64, of: u64) {
        let new = part != self.part;
        self.part = part;
        let now = Instant::now();
        if new {
            self.began = (now, done);
        }
        match &self.bar {
            Some(bar) => {
                if new {
                    let template = if of > 0 { WITH_END } else { WITHOUT_END };
                    if let Ok(style) = ProgressStyle::with_template(template) {
                        bar.set_style(style);
                    }
                    bar.reset();
                    bar.set_message(part);
                }
                if of > 0 {
                    bar.set_length(of);
                }
                bar.set_position(done);
            }
            None if now < self.next_line && !(self.has_told && done == of) => {}
            None => {
                (self.next_line, self.has_told) = (now + LINE_EVERY, true);
                match done.saturating_mul(100).checked_div(of) {
                    Some(percent) => {
                        let left = self.seconds_left(now, done, of);
                        eprintln!("{part}: {done} of {of} ({percent} %{left})");
                    }
                    None => eprintln!("{part}: {done}"),
                }
            }
        }
    }

    /// As long as the rest takes at the pace of this part so far.
    fn seconds_left(&self, now: Instant, done: u64, of: u64) -> String {
        let (began, before) = self.began;
        let taken_ms = now.duration_since(began).as_millis();
        let left = u128::from(of.saturating_sub(done)) * taken_ms;
        match left.checked_div(u128::from(done.saturating_sub(before)) * 1000) {
            Some(seconds) if done < of => format!(", {seconds} s left"),
            _ => String::new(),
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
