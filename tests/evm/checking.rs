//! `pasarela check` of a network: whether its node will do (`docs/contract.md, 18.1`).

use crate::chain::Chain;
use crate::harness::server::Server;
use crate::world::World;

/// What it says, and its exit code.
fn checked(server: &Server) -> (Option<i32>, String) {
    let output = server.command(&["check"]);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("text");
    (output.status.code(), text)
}

#[test]
fn a_node_has_to_be_on_the_chain_that_is_configured() {
    let chain = Chain::start();
    let mut world = World::of(&chain.url());
    let (exit, said) = checked(&world.server);
    assert!(exit == Some(0), "{said}");
    for what in ["chain", "head", "gas"] {
        assert!(said.contains(&format!("POLYGON  ok    {what}")), "{said}");
    }
    world.server.set("PASARELA__RAILS__EVM__POLYGON__CHAIN_ID", "1");
    let (exit, said) = checked(&world.server);
    assert!(exit == Some(1) && said.contains("POLYGON  WRONG chain"), "{said}");
    drop(chain);
    world.server.set("PASARELA__RAILS__EVM__POLYGON__RPC_URL", "http://127.0.0.1:9/secret-of-the-provider");
    let (exit, said) = checked(&world.server);
    assert!(exit == Some(1) && said.contains("POLYGON  WRONG reach"), "{said}");
    assert!(!said.contains("secret-of-the-provider"), "{said}");
}
