//! Questions to the leaders of other partitions about live money (`domain::platform::live_asks`). Who does not answer
//! has said nothing: it is never taken for "there is none".

use crate::gateway::services::Services;
use api::problem::Problem;
use domain::codec::{self, Decode};
use domain::platform::live_asks::LiveAsk;
use futures_util::future::join_all;
use std::time::Duration;

/// Somebody waits: a payer, or a bank that repeats what it was not answered.
const PATIENCE: Duration = Duration::from_secs(3);

pub async fn ask<T: Decode<u8>>(services: &Services, partition: u8, ask: &LiveAsk) -> Result<T, Problem> {
    let sending = services.callers.sending.as_ref().ok_or_else(Problem::no_leader)?;
    let said = sending.ask_of_live(partition, codec::encode_newest(ask));
    let said = match ask {
        // All of a book may be read for it.
        LiveAsk::Moved { .. } | LiveAsk::Unresolved | LiveAsk::Accept { .. } => said.await,
        _ => {
            let said = tokio::time::timeout(PATIENCE, said).await;
            said.unwrap_or_else(|_| Err("it does not answer".to_owned()))
        }
    };
    let said = said.map_err(|why| Problem::no_leader().because(format!("partition {partition}: {why}")))?;
    codec::decode(&said)
        .map_err(|error| Problem::internal_error(format!("what partition {partition} said: {error}")))
}

/// All other partitions at once; none where there is one log.
pub async fn ask_others<T: Decode<u8>>(services: &Services, asked: &LiveAsk) -> Vec<Result<T, Problem>> {
    let others = services.callers.sending.iter().flat_map(|sending| sending.others());
    join_all(others.map(|partition| ask(services, partition, asked))).await
}
