//! Compiles scripts: "have I compiled this before, and may it be compiled?"

mod compiler;
mod spec;

pub(crate) use compiler::compile_detached;
pub use compiler::{AllowedScripts, ScriptLimits, Scripts};
pub use spec::{Code, Script, StoredScript};
