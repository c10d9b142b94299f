//! Our books beside a bank's statement (`docs/contract.md, 20.7`): [`statement`] reads the bank's
//! file, [`entries`] says what of ours such a file should show, [`matching`] puts both side by
//! side; all three are pure. [`shelf`] keeps what came of it, in files beside the data: it is
//! derived, so it is neither in the log nor in a copy. Who gathers our side, and who resolves what
//! was open, is `admin/reconciliations.rs`.

pub mod entries;
pub mod matching;
pub mod shelf;
pub mod statement;
