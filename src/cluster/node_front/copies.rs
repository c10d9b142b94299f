//! Snapshots and backups of a node: each of its processes makes its own, whoever leads.

use super::NodeFront;
use crate::backups;
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use crate::recovery::Failed;
use crate::recovery::restored_copy::RestoredCopy;
use crate::recovery::sets;
use api::dry_run;
use api::fields::Fields;
use api::problem::Problem;
use api::writer::Object;
use bytes::Bytes;
use futures_util::future::join_all;
use hyper::Method;
use std::fs;
use std::path::PathBuf;

const IDEMPOTENCY_KEY: &str = "idempotency-key";

impl NodeFront {
    async fn asked(&self, partition: usize, arrival: &Arrival, body: Bytes) -> Result<Reply, Problem> {
        self.passing.ask(&self.partitions[partition].listens(), arrival, &mut Inbound::made(body)).await
    }

    /// The answer is the first partition's, unless another could not.
    pub(super) async fn snapshot(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let body = body.bytes().await?;
        let asked = (0..self.partitions.len()).map(|partition| self.asked(partition, arrival, body.clone()));
        let mut answers = join_all(asked).await;
        let refused = answers.iter().position(|answer| !is_done(answer)).unwrap_or(0);
        answers.swap_remove(refused)
    }

    /// The first partition's last, and then they are put together. It says who may, and what is wrong with the call.
    pub(super) async fn back_up(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let Arrival { head, request_id, peer } = arrival;
        let body = body.bytes().await?;
        let wanted = Fields::parse(&body).ok().and_then(|fields| backups::wanted(fields).ok());
        let Some(path) = wanted.filter(|_| head.method == Method::POST) else {
            return self.asked(0, arrival, body).await;
        };
        let mut alone = Arrival { head: head.clone(), request_id: request_id.clone(), peer: *peer };
        alone.head.headers.remove(IDEMPOTENCY_KEY);
        let set = path.clone();
        let is_new = on_disk(move || Ok(set.symlink_metadata().is_err())).await?;
        let mut beside = Vec::new();
        let is_made = is_new && dry_run::is_asked(&head.headers).is_ok_and(|is_rehearsed| !is_rehearsed);
        let others = if is_made { 1..self.partitions.len() } else { 0..0 };
        for (partition, number) in others.zip(1..) {
            let own = sets::beside(&path, number);
            let asked = Object::new().text("path", own.to_string_lossy()).end();
            let answer = self.asked(partition, &alone, asked.into()).await;
            if !is_done(&answer) {
                remove(beside).await;
                return answer;
            }
            beside.push(own);
        }
        let answer = self.asked(0, arrival, body).await;
        if is_done(&answer) {
            let (set, is_ours) = (path.clone(), !beside.is_empty());
            let together = on_disk(move || match is_ours {
                true => sets::complete(&set),
                // Of an earlier call, whose answer this one is, too.
                false => RestoredCopy::must_be_whole(&set).and_then(|_| sets::number_in(&set).map(drop)),
            });
            if let Err(why) = together.await {
                remove(beside).await;
                return Err(why);
            }
        }
        remove(beside).await;
        answer
    }
}

fn is_done(answer: &Result<Reply, Problem>) -> bool {
    matches!(answer, Ok(reply) if reply.status == 200)
}

/// A disk that does not answer must not hold a worker.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failed> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await.map_err(Problem::internal_error)?;
    done.map_err(|error| backups::failed(format!("the copies of several partitions: {error}")))
}

/// The copies that are in no set.
async fn remove(beside: Vec<PathBuf>) {
    let removing = on_disk(move || {
        for own in beside.iter().filter(|own| own.exists()) {
            if let Err(error) = fs::remove_dir_all(own) {
                tracing::warn!(path = %own.display(), %error, "a copy that is of no use could not be removed");
            }
        }
        Ok(())
    });
    let _ = removing.await;
}
