//! A script of a request that sees no documents: it computes from the numbers of buckets.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::{DetachedScript, Script, ScriptContext};

/// A stored script, as a shard found it.
pub type FoundScript = Result<Arc<DetachedScript>, RequestError>;

/// A script as a request gives it.
#[derive(Debug, Clone)]
pub enum GivenScript {
    /// Compiled when the request was parsed.
    Inline(Arc<DetachedScript>),
    /// Found when the aggregation is bound to a shard.
    Stored(Script, ScriptContext),
}

impl GivenScript {
    /// Compiles a script, unless it is stored.
    ///
    /// # Errors
    /// As for [`DetachedScript::compile`].
    pub fn new(script: Script, context: ScriptContext) -> Result<GivenScript, RequestError> {
        if script.is_stored() {
            return Ok(GivenScript::Stored(script, context));
        }
        DetachedScript::compile(script, context).map(|script| GivenScript::Inline(Arc::new(script)))
    }

    /// Returns the script and what it is for, if it is stored.
    pub fn stored(&self) -> Option<(&Script, ScriptContext)> {
        match self {
            GivenScript::Inline(_) => None,
            GivenScript::Stored(script, context) => Some((script, *context)),
        }
    }

    /// Returns the compiled script. `found` is what a shard found, if it is stored.
    ///
    /// # Errors
    /// There is no stored script with this id, or it does not compile.
    pub fn compiled<'s>(
        &'s self,
        found: Option<&'s FoundScript>,
    ) -> Result<&'s DetachedScript, RequestError> {
        match (self, found) {
            (GivenScript::Inline(script), _) | (_, Some(Ok(script))) => Ok(script.as_ref()),
            (_, Some(Err(error))) => Err(error.clone()),
            (_, None) => Err(RequestError::illegal_argument("no shard looked up the stored script")),
        }
    }
}
