//! The marker of a directory that is not the active server: a copy, or one made from a log.
//! `pasarela serve` keeps live banks and webhooks shut in it until it is told to take over, and
//! does not start at all on one that was not finished.

use super::{Failed, at, directory, now_ms};
use domain::values::time::Timestamp;
use std::fs;
use std::path::Path;
use wal::Tip;

pub const MARKER: &str = "PAST";
const UNDER_CONSTRUCTION: &str = "PAST.new";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredCopy {
    pub made_by: String,
    /// On the machine's clock.
    pub made_at: Timestamp,
    /// `None` while the directory is being made, and for ever if that broke off.
    pub tip: Option<Tip>,
    /// Of a node whose further partitions are in it, each with a marker of its own.
    pub partitions: u8,
}

impl RestoredCopy {
    pub fn begun(made_by: &str) -> RestoredCopy {
        let made_at = Timestamp::from_unix_ms(now_ms());
        RestoredCopy { made_by: made_by.to_owned(), made_at, tip: None, partitions: 1 }
    }

    pub fn read(directory: &Path) -> Result<Option<RestoredCopy>, Failed> {
        let path = directory.join(MARKER);
        let Some(bytes) = directory::read(&path)? else { return Ok(None) };
        let past = String::from_utf8(bytes).ok().and_then(|text| RestoredCopy::parse(&text));
        let why = "cannot be understood; this directory is not to be trusted";
        past.map(Some).ok_or_else(|| Failed::At { path, source: why.into(), is_damage: true })
    }

    /// A copy of a directory whose making broke off would look whole. That of the active server has
    /// no marker.
    pub fn must_be_whole(directory: &Path) -> Result<Option<RestoredCopy>, Failed> {
        match RestoredCopy::read(directory)? {
            Some(RestoredCopy { made_by, tip: None, .. }) => {
                let advice = "broke off before this directory was finished; remove it and make it again";
                Err(Failed::refused(directory, format!("{made_by} {advice}")))
            }
            // The marker is the first file of a directory: without it there was nothing else yet.
            None if directory.join(UNDER_CONSTRUCTION).exists() => {
                let advice = "what began to make this directory broke off; remove it and make it again";
                Err(Failed::refused(directory, format!("{UNDER_CONSTRUCTION}: {advice}")))
            }
            past => Ok(past),
        }
    }

    fn parse(text: &str) -> Option<RestoredCopy> {
        let table: toml::Table = text.parse().ok()?;
        let word = |name: &str| table.get(name).and_then(toml::Value::as_str);
        let tip = match (table.get("seq").and_then(toml::Value::as_integer), word("head")) {
            (Some(seq), Some(head)) => {
                let mut hash = [0; 16];
                hex::decode_to_slice(head, &mut hash).ok()?;
                Some(Tip { seq: u64::try_from(seq).ok()?, hash })
            }
            (None, None) => None,
            _ => return None,
        };
        Some(RestoredCopy {
            made_by: word("made_by")?.to_owned(),
            made_at: Timestamp::parse(word("made_at")?).ok()?,
            tip,
            partitions: match table.get("partitions") {
                Some(number) => u8::try_from(number.as_integer()?).ok().filter(|number| *number > 1)?,
                None => 1,
            },
        })
    }

    /// Survives a power cut when this returns.
    pub fn write(&self, directory: &Path) -> Result<(), Failed> {
        let mut text = String::from(
            "# This directory is a restored copy: `pasarela serve` keeps live banks and webhooks shut in it \
             until `--take-over`.\n",
        );
        text.push_str(&format!("made_by = \"{}\"\nmade_at = \"{}\"\n", self.made_by, self.made_at));
        if self.partitions > 1 {
            text.push_str(&format!("partitions = {}\n", self.partitions));
        }
        match self.tip {
            Some(tip) => text.push_str(&format!("seq = {}\nhead = \"{}\"\n", tip.seq, hex::encode(tip.hash))),
            None => text.push_str("# It is not finished: without `seq` and `head` nobody may use it.\n"),
        }
        directory::write_whole(&directory.join(MARKER), directory::PLAIN, text.as_bytes())
    }

    pub fn whole_up_to(self, tip: Tip) -> RestoredCopy {
        RestoredCopy { tip: Some(tip), ..self }
    }

    pub fn remove(directory: &Path) -> Result<(), Failed> {
        let path = directory.join(MARKER);
        fs::remove_file(&path).map_err(at(&path))?;
        directory::sync_parent(&path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_comes_back_and_an_unfinished_one_says_so() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(RestoredCopy::read(directory.path()).expect("readable"), None);
        let begun = RestoredCopy::begun("import");
        assert_eq!(
            RestoredCopy::must_be_whole(directory.path()).expect("readable"),
            None,
            "the active server's"
        );
        begun.write(directory.path()).expect("written");
        assert_eq!(RestoredCopy::read(directory.path()).expect("readable"), Some(begun.clone()));
        assert!(
            RestoredCopy::must_be_whole(directory.path())
                .is_err_and(|failed| failed.to_string().contains("import broke off"))
        );
        let whole_up_to = begun.whole_up_to(Tip { seq: 7, hash: [0xAB; 16] });
        for partitions in [1, 3, 64] {
            let of_several = RestoredCopy { partitions, ..whole_up_to.clone() };
            of_several.write(directory.path()).expect("written");
            assert_eq!(RestoredCopy::read(directory.path()).expect("readable"), Some(of_several));
        }
        whole_up_to.write(directory.path()).expect("written");
        assert_eq!(RestoredCopy::read(directory.path()).expect("readable"), Some(whole_up_to.clone()));
        assert_eq!(RestoredCopy::must_be_whole(directory.path()).expect("readable"), Some(whole_up_to));
        for broken in ["", "seq = 7", "made_by = \"x\"\nmade_at = \"2026-11-21T00:00:00.000Z\"\nseq = 7\n"] {
            fs::write(directory.path().join(MARKER), broken).expect("written");
            assert!(RestoredCopy::read(directory.path()).is_err(), "{broken}");
        }
        RestoredCopy::remove(directory.path()).expect("removed");
        assert_eq!(RestoredCopy::read(directory.path()).expect("readable"), None);
    }
}
