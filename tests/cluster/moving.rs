//! Moves of tenants, which a directory of a cluster takes no part in: what is written beside the
//! agreed log would be nobody's.

use crate::machines::{Machines, ok};

/// A command that is refused, and what it said.
fn fails(machines: &Machines, command: &[&str]) -> String {
    let output = machines.command(0, command);
    assert_eq!(output.status.code(), Some(1), "{command:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_tenant_of_a_cluster_stays_and_its_log_is_left_as_it_is() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found_without_serving();
    let nameless = fails(&machines, &["tenant", "id"]);
    assert!(nameless.contains("when its cluster first serves"), "{nameless}");
    machines.start(0);
    machines.until(|machines| machines.is_ready(0));
    let tenants = ok(machines.operator(0, "GET", "/admin/tenants", None));
    let tenant = tenants["items"][0]["tenantId"].as_str().expect("an id").to_owned();
    let name = machines.command(0, &["tenant", "id"]);
    assert!(name.status.success(), "beside a server too");
    machines.stop(0);
    let tip = || machines.command(0, &["wal", "info", "--json"]).stdout;
    let before = tip();
    let (file, elsewhere) = (machines.path("shop.tenant"), "0".repeat(32));
    let file = file.to_str().expect("text");
    let export = ["tenant", "export", &tenant, "--to-deployment", &elsewhere, "--to", file];
    for command in
        [&export[..], &["tenant", "import", file], &["tenant", "reopen", &tenant, "--not-imported"]]
    {
        let says = fails(&machines, command);
        assert!(says.contains("this directory is in a cluster"), "{command:?}: {says}");
    }
    assert!(!std::path::Path::new(file).exists());
    assert_eq!(machines.command(0, &["tenant", "id"]).stdout, name.stdout);
    assert_eq!(String::from_utf8_lossy(&tip()), String::from_utf8_lossy(&before));
    machines.start(0);
    machines.until(|machines| machines.is_ready(0));
}
