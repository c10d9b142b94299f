//! The kind of a data directory: the active server's, or a restored copy, which keeps its live
//! outbound shut until an operator takes over.

use super::StartupError;
use crate::admin::{Begun, begin_take_over};
use crate::gateway::services::Services;
use crate::outbound::Outbound;
use crate::recovery::Failed;
use crate::recovery::restored_copy::RestoredCopy;
use std::path::Path;

pub struct DirectoryState {
    pub outbound: Outbound,
    copy: Option<RestoredCopy>,
    take_over: bool,
}

impl DirectoryState {
    pub fn of(data: &Path, take_over: bool) -> Result<DirectoryState, Failed> {
        let copy = RestoredCopy::must_be_whole(data)?;
        let outbound = if copy.is_some() { Outbound::shut() } else { Outbound::open() };
        Ok(DirectoryState { outbound, copy, take_over })
    }

    /// The record first, then the marker goes, then the outbound opens.
    pub async fn settle(self, data: &Path, services: &Services) -> Result<(), StartupError> {
        let Some(copy) = self.copy else {
            if self.take_over {
                tracing::info!("nothing to take over: this directory is the active server's");
            }
            return Ok(());
        };
        let (made_by, seq) = (copy.made_by, copy.tip.map_or(0, |tip| tip.seq));
        if !self.take_over {
            tracing::warn!(
                made_by,
                seq,
                "this directory is a restored copy: live banks and webhooks are shut; start with --take-over \
                 when the other one is gone for good"
            );
            return Ok(());
        }
        let unanswered =
            |problem| StartupError::Unanswered { what: "the take-over", problem: Box::new(problem) };
        if let Begun::Waits(approval) = begin_take_over(services, &made_by, seq).await.map_err(unanswered)? {
            tracing::warn!(
                made_by,
                seq,
                %approval,
                "the take-over waits for a second person: until somebody approves it, live banks and \
                 webhooks are shut"
            );
            return Ok(());
        }
        RestoredCopy::remove(data)?;
        self.outbound.take_over();
        tracing::info!(made_by, seq, "took over: live banks and webhooks are open");
        Ok(())
    }
}
