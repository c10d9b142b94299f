//! The steps of a start that need the platform's book: loading the directory of callers, and making
//! the first tenants.

use super::tenants;
use crate::config::BootstrapTenant;
use crate::gateway::keys::{Secret, stem};
use crate::gateway::services::Services;
use crate::gateway::tenant_settings::push_tenant_settings;
use crate::gateway::test_accounts::UNNOTED_MS;
use api::problem::Problem;
use domain::values::ids::{Mode, PLATFORM};

const NAME_CHARACTERS: std::ops::RangeInclusive<usize> = 1..=128;
const FIXED_KEY_CHARACTERS: std::ops::RangeInclusive<usize> = 9..=200;

pub async fn load_directory(services: &Services) -> Result<(), Problem> {
    let book = services.platform_book().await?;
    book.operators.values().for_each(|operator| services.callers.operators.learn(operator));
    book.tenants.values().for_each(|tenant| services.callers.directory.learn_tenant(tenant));
    book.keys.values().for_each(|key| services.callers.directory.learn_key(key));
    let now = services.now();
    for (number, account) in book.test_accounts.iter() {
        let unnoted_at = account.used_at.plus_ms(UNNOTED_MS).min(now);
        let keys = book.keys.of(*number);
        services.callers.directory.learn_test_account(*number, keys, account.used_at, unnoted_at);
    }
    for (number, at) in book.live_asked.iter() {
        services.callers.directory.live_asked.insert(*number, *at);
    }
    Ok(())
}

pub async fn bootstrap(services: &Services, entries: &[BootstrapTenant]) -> Result<usize, Problem> {
    if !services.callers.directory.tenants().is_empty() {
        return Ok(0);
    }
    check(entries)?;
    for entry in entries {
        let key = |(mode, key): (Mode, &str)| Secret::fixed(key).key(services.fresh_id(PLATFORM), mode);
        let (_, tenant) = tenants::open(
            services,
            (services.fresh_id(PLATFORM), entry.name.trim().to_owned()),
            services.callers.tenant_defaults.clone(),
            given(entry).map(key).collect(),
            (None, None),
        )
        .await?;
        push_tenant_settings(services, tenant.number).await?;
        tracing::info!(tenant = %tenant.id, name = tenant.name, "a tenant of the configuration was opened");
    }
    Ok(entries.len())
}

fn given(entry: &BootstrapTenant) -> impl Iterator<Item = (Mode, &str)> {
    [(Mode::Test, &entry.test_key), (Mode::Live, &entry.live_key)]
        .into_iter()
        .filter_map(|(mode, key)| Some((mode, key.as_ref()?.expose())))
}

/// Refuses what could not be used; the field is named as the configuration names it.
fn check(entries: &[BootstrapTenant]) -> Result<(), Problem> {
    let mut seen = Vec::new();
    for (n, entry) in entries.iter().enumerate() {
        let field = |name: &str| format!("bootstrap.tenants[{n}].{name}");
        if !NAME_CHARACTERS.contains(&entry.name.trim().chars().count()) {
            return Err(Problem::invalid_field(field("name"), "must have 1 to 128 characters"));
        }
        for (mode, key) in given(entry) {
            let name = field(if mode == Mode::Test { "test_key" } else { "live_key" });
            let fits = FIXED_KEY_CHARACTERS.contains(&key.len())
                && key.starts_with(stem(mode))
                && key.bytes().all(|byte| byte.is_ascii_graphic());
            if !fits {
                return Err(Problem::invalid_field(
                    name,
                    format!("must begin with {} and have 9 to 200 visible ASCII characters", stem(mode)),
                ));
            }
            if seen.contains(&key) {
                return Err(Problem::invalid_field(name, "must not be another tenant's"));
            }
            seen.push(key);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn entry(name: &str, test_key: Option<&str>, live_key: Option<&str>) -> BootstrapTenant {
        BootstrapTenant {
            name: name.to_owned(),
            test_key: test_key.map(config::Secret::new),
            live_key: live_key.map(config::Secret::new),
        }
    }

    #[test]
    fn what_could_not_be_used_is_named() {
        let named =
            |entries: &[BootstrapTenant]| check(entries).map_err(|problem| problem.fields[0].field.clone());
        let demo = entry("demo", Some("pk_test_demo"), None);
        assert_eq!(named(&[demo.clone(), entry("two", Some("pk_test_two"), Some("pk_live_two"))]), Ok(()));
        for (entry, field) in [
            (entry(" ", None, None), "name"),
            (entry("x", Some("pk_live_demo"), None), "test_key"),
            (entry("x", Some("pk_test_"), None), "test_key"),
            (entry("x", None, Some("pk_live_ñ")), "live_key"),
            (entry("x", Some("pk_test_demo"), None), "test_key"),
        ] {
            assert_eq!(named(&[demo.clone(), entry]), Err(format!("bootstrap.tenants[1].{field}")));
        }
    }

    #[test]
    fn an_entry_shows_its_keys_to_nobody() {
        assert!(!format!("{:?}", entry("demo", Some("pk_test_demo"), None)).contains("pk_test_demo"));
    }
}
