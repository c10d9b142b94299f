//! axe-core 4.14.1 in a page: what keeps people out who do not see, hear or point as others do. The library
//! is the npm registry's, unchanged, under its licence beside it; it runs in tests alone.

use crate::browser::Browser;

const LIBRARY: &str = include_str!("axe.min.js");

/// Looks at the whole page, and keeps what is serious: the rule, what it is about, and where.
const LOOK: &str = r"
    window.axeFound = null;
    axe.run(document, { resultTypes: ['violations'] }).then((found) => {
        window.axeFound = found.violations
            .filter((one) => ['serious', 'critical'].includes(one.impact))
            .map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) => node.html).join(' | ')}`);
    }, (error) => { window.axeFound = [String(error)]; });
";

impl Browser {
    /// Asserts that axe finds nothing serious in the page that is shown.
    #[track_caller]
    pub fn assert_open_to_all(&self) {
        self.script(LIBRARY);
        self.script(LOOK);
        self.wait_until("return window.axeFound !== null");
        let found = self.script("return window.axeFound");
        assert_eq!(found, serde_json::json!([]), "at {}", self.address());
    }
}
