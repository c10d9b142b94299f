//! The progress of a long command, on stderr: a bar on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Between plain lines; there is one at the end of each part in any case.
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
    last_line: Instant,
}

impl Shown {
    pub fn new() -> Shown {
        let bar = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
        Shown { bar, part: "", last_line: Instant::now() }
    }

    /// `of` is 0 when nobody knows how much there is.
    pub fn tell(&mut self, part: &'static str, done: u64, of: u64) {
        let new = part != self.part;
        self.part = part;
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
            None if done != of && self.last_line.elapsed() < LINE_EVERY => {}
            None => {
                self.last_line = Instant::now();
                match done.saturating_mul(100).checked_div(of) {
                    Some(percent) => eprintln!("{part}: {done} of {of} ({percent} %)"),
                    None => eprintln!("{part}: {done}"),
                }
            }
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
