//! TigerBeetle by its official client: two accounts, of which the debited one may not owe more than
//! it was given; a debit is a transfer under the debit's id. Its server is the program that the
//! variable `TIGERBEETLE` names; Debian has none.

use crate::Outcome;
use crate::loader::{Answer, Caller, Callers, Soon};
use crate::peer::{About, Peer, Process, Setup, free_address, perhaps_forgetful, until_ready, version_of};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use tigerbeetle::{Account, AccountFlags, Client, CreateAccountStatus, CreateTransferStatus, Transfer};

/// Clients that the callers share: a server takes 64. A client has one request under way and puts
/// what waits meanwhile into the next.
const CLIENTS: usize = 16;
/// The most transfers in a request of a standard build.
const REQUEST_MAX: usize = 8_189;

const DEBITED: u128 = 1;
const CREDITED: u128 = 2;
const LEDGER: u32 = 1;
const CODE: u16 = 1;
/// The transfer that gives the balance its funds; debits have other ids.
const FUNDING: u128 = 1 << 100;

/// The server, of a cluster of one.
pub struct TigerBeetle {
    setup: Setup,
    per_call: usize,
    program: PathBuf,
    address: SocketAddr,
    process: Process,
}

struct ClientCaller(Arc<Client>);

impl TigerBeetle {
    /// A server that is asked for so many transfers at once.
    pub fn new(setup: &Setup, per_call: usize) -> Outcome<TigerBeetle> {
        let program =
            std::env::var_os("TIGERBEETLE").map(PathBuf::from).ok_or("TIGERBEETLE names no program")?;
        if !program.is_file() {
            return Err(format!("TIGERBEETLE names {}, which is not there", program.display()));
        }
        let address = free_address()?;
        Ok(TigerBeetle {
            setup: setup.clone(),
            per_call: per_call.min(REQUEST_MAX),
            program,
            address,
            process: Process::default(),
        })
    }

    fn client(&self) -> Outcome<Client> {
        Client::new(0, &self.address.to_string()).map_err(|error| format!("{error:?}"))
    }

    /// Makes the accounts and gives the balance its funds, unless that was done before.
    async fn fund(&self) -> Outcome<()> {
        let client = self.client()?;
        let account = |id, flags| Account { id, ledger: LEDGER, code: CODE, flags, ..Account::default() };
        let accounts = [
            account(DEBITED, AccountFlags::DebitsMustNotExceedCredits),
            account(CREDITED, AccountFlags::empty()),
        ];
        let made = client.create_accounts(&accounts).await.map_err(|error| format!("{error:?}"))?;
        if let Some(bad) = made
            .iter()
            .find(|made| !matches!(made.status, CreateAccountStatus::Created | CreateAccountStatus::Exists))
        {
            return Err(format!("the accounts: {:?}", bad.status));
        }
        let funding = transfer(FUNDING, CREDITED, DEBITED, self.setup.funds);
        let made = client.create_transfers(&[funding]).await.map_err(|error| format!("{error:?}"))?;
        match made[0].status {
            CreateTransferStatus::Created | CreateTransferStatus::Exists => Ok(()),
            status => Err(format!("the funds: {status:?}")),
        }
    }
}

fn transfer(id: u128, from: u128, to: u128, minor: i64) -> Transfer {
    Transfer {
        id,
        debit_account_id: from,
        credit_account_id: to,
        amount: minor.unsigned_abs().into(),
        ledger: LEDGER,
        code: CODE,
        ..Transfer::default()
    }
}

impl Peer for TigerBeetle {
    fn about(&self) -> About {
        let (title, how) = match self.per_call {
            1 => ("TigerBeetle, 1 transfer per call", "create_transfers with one transfer"),
            64 => ("TigerBeetle, 64 transfers per call", "create_transfers with 64 transfers"),
            _ => (
                "TigerBeetle, 8,189 transfers per call",
                "create_transfers with 8,189 transfers, the most that fit",
            ),
        };
        About {
            title,
            per_call: self.per_call,
            how,
            reached: "16 clients of the official library over TCP that all callers share",
            durable: "as it comes: a cluster of one replica, O_DIRECT and O_DSYNC",
            besides: [
                "found by the transfer's id",
                "by change data capture",
                "by account and time",
                "kept with flag history, off here",
            ],
            plant: "every 97th transfer is left out and acknowledged",
        }
    }

    fn version(&self) -> String {
        version_of(&self.program, "version")
    }

    fn start(&self) -> Soon<'_, Outcome<()>> {
        Box::pin(async move {
            let file = self.setup.dir.join("0_0.tigerbeetle");
            if !file.exists() {
                let formatted = Command::new(&self.program)
                    .args(["format", "--cluster=0", "--replica=0", "--replica-count=1"])
                    .arg(&file)
                    .output()
                    .map_err(|error| error.to_string())?;
                if !formatted.status.success() {
                    return Err(String::from_utf8_lossy(&formatted.stderr).trim().to_owned());
                }
            }
            let mut command = Command::new(&self.program);
            command.arg("start").arg(format!("--addresses={}", self.address)).arg(&file);
            self.process.run(command, &self.setup.dir, false)?;
            until_ready(&self.process, &self.setup.dir, || Box::pin(self.fund())).await
        })
    }

    fn kill(&self) {
        self.process.kill();
    }

    fn open(&self, callers: usize) -> Soon<'_, Outcome<Callers>> {
        Box::pin(async move {
            let clients: Vec<Arc<Client>> =
                (0..CLIENTS.min(callers)).map(|_| self.client().map(Arc::new)).collect::<Outcome<_>>()?;
            let caller = |nth: usize| {
                Box::new(ClientCaller(Arc::clone(&clients[nth % clients.len()]))) as Box<dyn Caller>
            };
            Ok(perhaps_forgetful((0..callers).map(caller).collect(), self.setup.plant))
        })
    }

    fn debited<'a>(&'a self, asked: &'a [u64]) -> Soon<'a, Outcome<Vec<u64>>> {
        Box::pin(async move {
            let client = self.client()?;
            let mut debited = Vec::new();
            for some in asked.chunks(REQUEST_MAX) {
                let ids: Vec<u128> = some.iter().map(|id| u128::from(*id)).collect();
                let found = client.lookup_transfers(&ids).await.map_err(|error| format!("{error:?}"))?;
                debited.extend(found.iter().map(|transfer| transfer.id as u64));
            }
            Ok(debited)
        })
    }
}

impl Caller for ClientCaller {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            let transfers: Vec<Transfer> =
                ids.iter().map(|id| transfer(u128::from(*id), DEBITED, CREDITED, minor)).collect();
            let Ok(results) = self.0.create_transfers(&transfers).await else { return Vec::new() };
            results
                .iter()
                .map(|result| match result.status {
                    CreateTransferStatus::Created | CreateTransferStatus::Exists => Answer::Done,
                    // An id that was refused stays refused.
                    CreateTransferStatus::ExceedsCredits | CreateTransferStatus::IdAlreadyFailed => {
                        Answer::Refused
                    }
                    _ => Answer::Unknown,
                })
                .collect()
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        Box::pin(async move {
            let found = self.0.lookup_accounts(&[DEBITED]).await.ok()?;
            let account = found.first()?;
            i64::try_from(account.credits_posted.checked_sub(account.debits_posted)?).ok()
        })
    }
}
