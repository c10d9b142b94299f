//! The next deposit address of a tenant in live mode: the first that derives from the network's seed
//! and that nobody has. Addresses of a tenant are given out in the order of their index, so any
//! wallet with the seed finds them all.

use crate::gateway::ask;
use crate::gateway::names::{Held, random_id};
use crate::gateway::services::Services;
use crate::rails::evm::{Account, TenantKeys};
use crate::store::history;
use api::problem::Problem;
use domain::entities::deposit_address::{Asset, DepositAddress};
use domain::index::Space;
use domain::values::address::{Network, canonical};
use domain::values::ids::{Id, is_live};

const NEXT: &str = "next";

/// Makes a new address the next one of the tenant in live mode, and returns the right to be the only one who takes it;
/// `None` where the network is not served, or is not yet searched for deposits.
pub async fn derive_in_live(
    services: &Services,
    tenant_key: u64,
    new: &mut DepositAddress,
) -> Result<Option<Held>, Problem> {
    if !is_live(tenant_key) || new.asset != Asset::Usdt {
        return Ok(None);
    }
    let Some(evm) = services.rails.network(new.network).filter(|evm| evm.state().figures.scanned.is_some())
    else {
        return Ok(None);
    };
    let held = services.names.reservations.hold_name(tenant_key, Space::DepositTo, NEXT).await;
    // Every record of an address before this one is durable from here on.
    ask::named_now(services, tenant_key, Space::DepositTo, NEXT, false).await?;
    let keys = tenant_keys(evm, tenant_key)?;
    let account = derived(&keys, first_free(services, tenant_key, new.network, &keys)?)?;
    if services.is_rehearsal() {
        // The next one may become somebody else's, who would be credited with what is paid to it.
        let random = [random_id(), random_id()];
        let mut bytes = random.iter().flat_map(Id::as_bytes);
        new.address = new.network.address(&std::array::from_fn(|_| *bytes.next().unwrap_or(&0)));
        return Ok(Some(held));
    }
    // Before anybody can pay to it.
    evm.state().watched.insert(account, tenant_key);
    new.address = new.network.address(&account);
    Ok(Some(held))
}

pub fn given_out(services: &Services, tenant_key: u64, network: Network) -> Result<Vec<Account>, Problem> {
    let Some(evm) = services.rails.network(network) else { return Ok(Vec::new()) };
    let keys = tenant_keys(evm, tenant_key)?;
    let free = first_free(services, tenant_key, network, &keys)?;
    (0..free).map(|index| derived(&keys, index)).collect()
}

/// The lowest index whose address nobody has. Those below it are all given out, on this network or
/// on another with the same seed, so it is found by halves.
fn first_free(
    services: &Services,
    tenant_key: u64,
    network: Network,
    keys: &TenantKeys,
) -> Result<u32, Problem> {
    let reader = services.engine.reader();
    let is_taken = |index: u32| -> Result<bool, Problem> {
        let address = network.address(&derived(keys, index)?);
        Ok(history::named(reader, tenant_key, Space::DepositTo, &canonical(&address))?.is_some())
    };
    let mut beyond = 1_u32;
    while is_taken(beyond - 1)? {
        beyond = beyond.checked_mul(2).ok_or_else(|| ask::defect("a tenant has too many addresses"))?;
    }
    // `low` are taken, and the one at `high` is free.
    let (mut low, mut high) = (beyond / 2, beyond - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_taken(middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

fn tenant_keys(evm: &crate::rails::evm::Evm, tenant_key: u64) -> Result<TenantKeys, Problem> {
    let number = u32::try_from(tenant_key / 2).map_err(Problem::internal_error)?;
    evm.settings.deposits.of_tenant(number).map_err(Problem::internal_error)
}

fn derived(keys: &TenantKeys, index: u32) -> Result<Account, Problem> {
    keys.account(index).map_err(Problem::internal_error)
}
