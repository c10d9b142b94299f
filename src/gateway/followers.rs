//! The partitions that follow the first one, and how far each has: a change holds when it is answered, so the answer
//! waits until those that it concerns have followed, for a while.

use crate::gateway::keys::Directory;
use domain::platform::PlatformChange;
use domain::platform::beside::Beside;
use std::time::Duration;
use tokio::sync::watch;

pub struct Followers {
    pub(super) others: Vec<(u8, watch::Sender<u64>)>,
    pub newest: watch::Sender<u64>,
    patience: Duration,
}

impl Followers {
    /// Of a deployment of so many partitions.
    pub fn of(partitions: u8, patience: Duration) -> Followers {
        let others = (1..partitions).map(|number| (number, watch::Sender::new(0))).collect();
        Followers { others, newest: watch::Sender::new(0), patience }
    }

    /// For a rehearsal: as many, and nobody is waited for. Its numbers are beyond the log, so these hear nothing of it.
    pub fn rehearsed(&self) -> Followers {
        Followers::of(self.count(), Duration::ZERO)
    }

    pub fn count(&self) -> u8 {
        u8::try_from(self.others.len() + 1).unwrap_or(u8::MAX)
    }

    pub fn reached(&self, partition: u8, seq: u64) {
        if let Some((_, reached)) = self.others.iter().find(|(number, _)| *number == partition) {
            reached.send_replace(seq);
        }
    }

    /// After a record of the platform.
    pub async fn until_followed(&self, seq: u64, change: &PlatformChange, directory: &Directory) {
        // Of every payment in test mode, and nobody else's: a look through the log is not worth it.
        let is_fate = |entry: &Beside| matches!(entry, Beside::Fate { .. });
        if matches!(change, PlatformChange::Beside(entries) if entries.iter().all(is_fate)) {
            return;
        }
        self.newest.send_if_modified(|newest| {
            let is_newer = seq > *newest;
            *newest = seq.max(*newest);
            is_newer
        });
        let of = |number: u32| directory.tenant_numbered(number).map_or(0, |tenant| tenant.partition);
        let mut was_in = None;
        let concerned = match change {
            PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. } => Some(tenant.partition),
            PlatformChange::Moved { tenant, from } => {
                was_in = Some(*from);
                Some(tenant.partition)
            }
            PlatformChange::Key(key) => Some(of(key.tenant)),
            PlatformChange::LiveAsked(number) => Some(of(*number)),
            PlatformChange::Operator(_) | PlatformChange::Bank(..) | PlatformChange::Banks(_) => None,
            PlatformChange::Beside(entries) if entries.iter().any(|entry| entry.place().is_some()) => None,
            _ => return,
        };
        let concerned = self
            .others
            .iter()
            .filter(|(number, _)| concerned.is_none_or(|of| of == *number) || was_in == Some(*number));
        let all = async {
            for (_, reached) in concerned {
                let _ = reached.subscribe().wait_for(|reached| *reached >= seq).await;
            }
        };
        let _ = tokio::time::timeout(self.patience, all).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::resources::banks::Catalogue;

    #[tokio::test]
    async fn a_rehearsal_waits_for_nobody_and_is_no_newest_record() {
        let others = Followers::of(3, Duration::from_secs(3600));
        let banks = PlatformChange::Banks(Catalogue::embedded());
        others.rehearsed().until_followed(1 << 62, &banks, &Directory::default()).await;
        assert_eq!(*others.newest.borrow(), 0);
    }
}
