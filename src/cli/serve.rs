//! `pasarela serve`: runs the server until it is told to stop.

use super::{Failure, Settings, other};
use crate::app::{Outside, StartupError, front, live_rails, privacy};
use crate::cluster::{self, founding, growing};
use crate::telemetry::spans::Spans;
use crate::webhooks::post;
use crate::{app, telemetry};
use clap::Args;
use std::net::SocketAddr;
use std::sync::Arc;

/// Run the server
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pasarela serve --config config.toml --data-dir data
  PASARELA__SERVER__LISTEN=127.0.0.1:8180 pasarela serve")]
pub struct Serve {
    #[command(flatten)]
    settings: Settings,
    /// Open the banks and webhooks of a directory that was made by replay, restore or import
    #[arg(long)]
    take_over: bool,
    /// Leave this book alone, so that the other accounts can be served: the number of the tenant
    /// key, as a refused start names it. May be said more than once
    #[arg(long, value_name = "TENANT_KEY", value_parser = clap::value_parser!(u64).range(1..))]
    set_aside: Vec<u64>,
    /// Serve this partition of a node alone, behind its front
    #[arg(long, hide = true)]
    partition: Option<u8>,
    /// Of so many
    #[arg(long, hide = true, requires = "partition")]
    partitions: Option<u8>,
    /// Where the front listens for this process
    #[arg(long, hide = true, requires = "partition")]
    front: Option<SocketAddr>,
}

impl Serve {
    pub fn run(self) -> Result<(), Failure> {
        // Done before anything secret is read.
        privacy::forbid_core_dumps()
            .map_err(|error| Failure::Other(format!("core dumps could not be forbidden: {error}")))?;
        let node = self.settings.read(true)?;
        let mut config =
            self.partition.map_or_else(|| node.clone(), |partition| node.of_partition(partition));
        if config.cluster.is_on() {
            // Before anything is made in the directory.
            cluster::check_stored(&config).map_err(StartupError::from)?;
            if let Some(partition @ 1..) = self.partition {
                founding::make_partition(&node, partition).map_err(StartupError::from)?;
            }
            cluster::check_directory(&config).map_err(StartupError::from)?;
            config.front = self.front;
            config.partitions = match self.partitions {
                Some(number) => number,
                None => growing::number(&config).map_err(StartupError::from)?,
            };
        } else {
            cluster::leave(&config.storage.path, self.take_over).map_err(StartupError::from)?;
        }
        let networks = live_rails::networks(&config.rails)?;
        if config.server.traceable {
            privacy::allow_tracing().map_err(|error| Failure::Other(format!("server.traceable: {error}")))?;
        }
        // Done before any log line: a start that can't be is one line on stderr.
        let generated = config.admin.generate(&config.storage.path)?;
        config.access()?;
        if let Some(path) = &config.webhooks.extra_ca_file {
            post::certificates(path)?;
        }
        telemetry::start(&config.log, config.partition);
        if let Some(path) = generated {
            tracing::info!(file = %path.display(), "a token for operators was generated; `pasarela admin` finds it there");
        }
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        if config.server.worker_threads > 0 {
            runtime.worker_threads(config.server.worker_threads);
        }
        let runtime = runtime
            .enable_all()
            .thread_name("pasarela")
            .build()
            .map_err(|error| Failure::Other(format!("the runtime did not start: {error}")))?;
        if config.cluster.is_on() && config.partitions > 1 && config.partition.is_none() {
            let refused = runtime.block_on(front::run(config))?;
            cluster::start_anew_if_due();
            return refused.map_or(Ok(()), |code| Err(Failure::Said(code)));
        }
        let spans = Spans::start(&config.telemetry).map_err(other)?.map(Arc::new);
        let outside = Outside { spans: spans.clone(), networks };
        let ended = runtime.block_on(app::run(config, self.take_over, &self.set_aside, outside));
        if let Some(spans) = spans {
            spans.stop();
        }
        ended?;
        cluster::start_anew_if_due();
        Ok(())
    }
}
