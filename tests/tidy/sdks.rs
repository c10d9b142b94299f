//! The SDKs: what of them is written from the description is what the description says now.

use crate::root;
use std::process::Command;

#[test]
fn the_sdks_are_written_from_the_description_of_today() {
    let Ok(output) = Command::new("python3").arg("sdks/generate").arg("--check").current_dir(root()).output()
    else {
        let is_required = std::env::var_os("PASARELA_PYTHON").is_some();
        assert!(!is_required, "python3 is not here, and PASARELA_PYTHON says that it has to be");
        eprintln!("skipped: python3 is not here");
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
}
