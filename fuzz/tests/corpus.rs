//! The targets over their kept inputs, and over as many mutations of them, the same in every run.
//!
//! A failure prints the smallest input that was found; put into `corpus/` it is tried for ever.

use fuzz::Target;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The change that is made to an input.
#[derive(Clone, Debug)]
enum Step {
    Flip(Index, u8),
    Cut(Index, Index),
    Insert(Index, Vec<u8>),
    Copy(Index, Index, Index),
    /// The bytes of another input take the place of those from there on.
    Splice(Index, Index, Index),
}

/// An input that shows itself as it would be kept.
#[derive(Clone)]
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

fn folder(target: &Target) -> PathBuf {
    Path::new("corpus").join(target.name)
}

/// The kept inputs, by name.
fn kept(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = folder(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut kept: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, fs::read(&path).expect("a readable input"))
        })
        .collect();
    kept.sort();
    assert!(!kept.is_empty(), "{} has no kept input", target.name);
    kept
}

/// The words of `words.dict`, as libFuzzer reads it.
fn words() -> Vec<Vec<u8>> {
    let quoted = |line: &str| {
        let mut word = Vec::new();
        let mut rest =
            line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect("a word").bytes();
        while let Some(byte) = rest.next() {
            word.push(match (byte == b'\\').then(|| rest.next()).flatten() {
                None => byte,
                Some(b'x') => {
                    let digits = [rest.next(), rest.next()].map(|digit| char::from(digit.expect("a digit")));
                    u8::from_str_radix(&String::from_iter(digits), 16).expect("two digits")
                }
                Some(escaped) => escaped,
            });
        }
        word
    };
    include_str!("../words.dict").lines().filter(|line| !line.starts_with('#')).map(quoted).collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let insert = prop_oneof![
        select(words()),
        proptest::collection::vec(any::<u8>(), 1..9),
        (any::<u8>(), 1_usize..200).prop_map(|(byte, count)| vec![byte; count]),
    ];
    let at = any::<Index>;
    let step = prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, with)| Step::Flip(at, with)),
        (at(), at()).prop_map(|(from, to)| Step::Cut(from, to)),
        (at(), insert).prop_map(|(at, what)| Step::Insert(at, what)),
        (at(), at(), at()).prop_map(|(from, to, into)| Step::Copy(from, to, into)),
        (at(), at(), at()).prop_map(|(other, from, at)| Step::Splice(other, from, at)),
    ];
    proptest::collection::vec(step, 0..6)
}

/// A place in so many bytes, their end included.
fn place(index: &Index, length: usize) -> usize {
    index.index(length + 1)
}

fn mutated(inputs: &[Vec<u8>], of: &Index, steps: &[Step], bytes_max: usize) -> Input {
    let mut input = of.get(inputs).clone();
    let range = |from: &Index, to: &Index, length| {
        let (from, to) = (place(from, length), place(to, length));
        from.min(to)..from.max(to)
    };
    for step in steps {
        let length = input.len();
        match step {
            Step::Flip(at, with) if length > 0 => input[at.index(length)] ^= with,
            Step::Flip(..) => {}
            Step::Cut(from, to) => drop(input.drain(range(from, to, length))),
            Step::Insert(at, what) => drop(input.splice(place(at, length)..place(at, length), what.clone())),
            Step::Copy(from, to, into) => {
                let copied = input[range(from, to, length)].to_vec();
                let into = place(into, length);
                input.splice(into..into, copied);
            }
            Step::Splice(other, from, at) => {
                let other = other.get(inputs);
                input.truncate(place(at, length));
                input.extend_from_slice(&other[place(from, other.len())..]);
            }
        }
    }
    input.truncate(bytes_max);
    Input(input)
}

fn try_all(name: &str) {
    let target = fuzz::target(name).unwrap_or_else(|| panic!("there is no target {name}"));
    let kept = kept(target);
    for (file, input) in &kept {
        let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        assert!(ended.is_ok(), "corpus/{name}/{file} does not hold");
    }
    let inputs: Vec<Vec<u8>> = kept.into_iter().map(|(_, input)| input).collect();
    let bytes_max = target.bytes_max;
    let strategy =
        (any::<Index>(), steps()).prop_map(move |(of, steps)| mutated(&inputs, &of, &steps, bytes_max));
    let config = Config { cases: target.cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let outcome = TestRunner::new_with_rng(config, rng).run(&strategy, |Input(input)| {
        catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).map_err(|panic| {
            let why = panic.downcast_ref::<String>().cloned();
            let why = why.or_else(|| panic.downcast_ref::<&str>().map(|why| (*why).to_owned()));
            TestCaseError::fail(why.unwrap_or_default())
        })
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            try_all(stringify!($name));
        })*

        #[test]
        fn every_target_is_tried() {
            let tried = [$(stringify!($name)),*];
            assert_eq!(fuzz::TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), tried);
        }
    };
}

targets!(archive banks bodies config cursors forwarded heads json prices queries rails records snapshots statements stored values written);
