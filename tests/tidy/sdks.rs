//! The SDKs: what of them is written from the description is what the description says now.

use crate::{python, root};

#[test]
fn the_sdks_are_written_from_the_description_of_today() {
    let Some(output) = python(root(), &["sdks/generate", "--check"]) else { return };
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
}
