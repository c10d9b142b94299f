//! Redis, or Valkey, with `appendfsync always` and a script: the server writes and syncs its log
//! before it answers, once for all that came in the same turn of its loop.

use crate::Outcome;
use crate::loader::{Answer, Caller, Callers, Soon};
use crate::peer::{About, Peer, Process, Setup, until_ready, version_of};
use redis::aio::MultiplexedConnection;
use redis::{Client, cmd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Connections that the callers share; the client sends what waits on one together.
const CONNECTIONS: usize = 4;

/// Debits if the id is new and there is enough: 1 done, 0 refused. A set knows the ids, a list keeps
/// the movements.
const DEBIT: &str = "
if redis.call('SISMEMBER', 'ids', ARGV[1]) == 1 then return 1 end
if tonumber(redis.call('GET', 'balance')) < tonumber(ARGV[2]) then return 0 end
redis.call('DECRBY', 'balance', ARGV[2])
redis.call('SADD', 'ids', ARGV[1])
redis.call('RPUSH', 'movements', ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4])
return 1";

/// The server.
pub struct Redis {
    setup: Setup,
    process: Process,
}

/// A connection that is opened again when it broke, and the name of the script there.
struct Shared {
    client: Client,
    open: Mutex<Option<(MultiplexedConnection, String)>>,
}

struct SharedCaller {
    shared: Arc<Shared>,
    plant: bool,
}

impl Redis {
    /// A server on the setup's directory.
    pub fn new(setup: &Setup) -> Outcome<Redis> {
        if !program().is_file() {
            return Err("neither valkey-server nor redis-server is installed".to_owned());
        }
        Ok(Redis { setup: setup.clone(), process: Process::default() })
    }

    fn client(&self) -> Outcome<Client> {
        let socket = self.setup.dir.join("redis.sock");
        Client::open(format!("unix://{}", socket.display())).map_err(|error| error.to_string())
    }
}

fn program() -> PathBuf {
    let is_there = |name: &&&str| PathBuf::from("/usr/bin").join(name).is_file();
    PathBuf::from("/usr/bin")
        .join(["valkey-server", "redis-server"].iter().find(is_there).unwrap_or(&"redis-server"))
}

impl Peer for Redis {
    fn about(&self) -> About {
        About {
            title: "Redis, appendfsync always, a script",
            per_call: 1,
            how: "EVALSHA of a script: is the id new, is there enough, DECRBY, SADD of the id, RPUSH of the movement",
            reached: "4 connections over its unix socket that all callers share (pipelined)",
            durable: "appendonly yes, appendfsync always; no rewriting of the log during a run",
            besides: [
                "found in a set by the script",
                "none",
                "the movements' list, by place",
                "by adding movements up",
            ],
            plant: "GET, then SET, then the movement, as three commands",
        }
    }

    fn version(&self) -> String {
        version_of(&program(), "--version")
    }

    fn start(&self) -> Soon<'_, Outcome<()>> {
        Box::pin(async move {
            let mut command = Command::new(program());
            command.current_dir(&self.setup.dir);
            for (name, value) in [
                ("--port", "0"),
                ("--unixsocket", "redis.sock"),
                ("--unixsocketperm", "700"),
                ("--save", ""),
                ("--appendonly", "yes"),
                ("--appendfsync", "always"),
                ("--auto-aof-rewrite-percentage", "0"),
            ] {
                command.args([name, value]);
            }
            self.process.run(command, &self.setup.dir, false)?;
            let (client, funds) = (&self.client()?, self.setup.funds);
            until_ready(&self.process, &self.setup.dir, || {
                Box::pin(async move {
                    let fail = |error: redis::RedisError| error.to_string();
                    let mut open = client.get_multiplexed_async_connection().await.map_err(fail)?;
                    // While it reads its log it answers with an error.
                    cmd("SET").arg("balance").arg(funds).arg("NX").exec_async(&mut open).await.map_err(fail)
                })
            })
            .await
        })
    }

    fn kill(&self) {
        self.process.kill();
    }

    fn open(&self, callers: usize) -> Soon<'_, Outcome<Callers>> {
        Box::pin(async move {
            let shared: Vec<Arc<Shared>> = (0..CONNECTIONS.min(callers))
                .map(|_| Ok(Arc::new(Shared { client: self.client()?, open: Mutex::new(None) })))
                .collect::<Outcome<_>>()?;
            let caller = |nth: usize| SharedCaller {
                shared: Arc::clone(&shared[nth % shared.len()]),
                plant: self.setup.plant,
            };
            Ok((0..callers).map(|nth| Box::new(caller(nth)) as Box<dyn Caller>).collect())
        })
    }

    fn debited<'a>(&'a self, _asked: &'a [u64]) -> Soon<'a, Outcome<Vec<u64>>> {
        Box::pin(async move {
            let fail = |error: redis::RedisError| error.to_string();
            let mut open = self.client()?.get_multiplexed_async_connection().await.map_err(fail)?;
            let movements: Vec<String> =
                cmd("LRANGE").arg("movements").arg(0).arg(-1).query_async(&mut open).await.map_err(fail)?;
            let id = |movement: &String| movement.split(' ').next().and_then(|id| id.parse().ok());
            movements
                .iter()
                .map(|movement| id(movement).ok_or_else(|| format!("a movement says {movement}")))
                .collect()
        })
    }
}

impl Shared {
    /// The connection, and the script on it.
    async fn get(&self) -> redis::RedisResult<(MultiplexedConnection, String)> {
        let mut guard = self.open.lock().await;
        if let Some(open) = &*guard {
            return Ok(open.clone());
        }
        let mut connection = self.client.get_multiplexed_async_connection().await?;
        let script: String = cmd("SCRIPT").arg("LOAD").arg(DEBIT).query_async(&mut connection).await?;
        Ok(guard.insert((connection, script)).clone())
    }

    /// What came of it; a connection that failed is opened anew by the next.
    async fn seen<T>(&self, tried: redis::RedisResult<T>) -> Option<T> {
        if tried.is_err() {
            *self.open.lock().await = None;
        }
        tried.ok()
    }
}

impl Caller for SharedCaller {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(ids.len());
            for id in ids {
                let tried = match self.plant {
                    true => one_by_one(&self.shared, *id, minor).await,
                    false => script(&self.shared, *id, minor).await,
                };
                answers.push(match self.shared.seen(tried).await {
                    Some(true) => Answer::Done,
                    Some(false) => Answer::Refused,
                    None => Answer::Unknown,
                });
            }
            answers
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        Box::pin(async move {
            let tried = async {
                let (mut connection, _) = self.shared.get().await?;
                cmd("GET").arg("balance").query_async(&mut connection).await
            };
            self.shared.seen(tried.await).await
        })
    }
}

async fn script(shared: &Shared, id: u64, minor: i64) -> redis::RedisResult<bool> {
    let (mut connection, script) = shared.get().await?;
    let mut call = cmd("EVALSHA");
    call.arg(script)
        .arg(0)
        .arg(id)
        .arg(minor)
        .arg("01930000-0000-7000-8000-000000000001")
        .arg("pago de prueba");
    call.query_async(&mut connection).await
}

async fn one_by_one(shared: &Shared, id: u64, minor: i64) -> redis::RedisResult<bool> {
    let (mut connection, _) = shared.get().await?;
    let left = cmd("GET").arg("balance").query_async::<i64>(&mut connection).await? - minor;
    if left < 0 {
        return Ok(false);
    }
    cmd("SET").arg("balance").arg(left).exec_async(&mut connection).await?;
    cmd("RPUSH").arg("movements").arg(format!("{id} {minor}")).exec_async(&mut connection).await?;
    Ok(true)
}
