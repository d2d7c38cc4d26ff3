//! `script`: "run this Painless script on the document". Source: Elasticsearch's `ScriptProcessor`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext, Scripts};

use super::super::document::IngestDocument;
use super::super::script::PipelineScript;
use super::{Flow, Processor};

#[derive(Debug)]
struct ScriptProcessor {
    script: PipelineScript,
}

/// Compiles the processor. With `checks_stored`, a stored script must exist and compile too.
pub fn compile(
    scripts: &Arc<Scripts>,
    script: Script,
    checks_stored: bool,
) -> Result<Box<dyn Processor>, RequestError> {
    let script = PipelineScript::compile(scripts, script, ScriptContext::Ingest)?;
    if checks_stored {
        script.check()?;
    }
    Ok(Box::new(ScriptProcessor { script }))
}

impl Processor for ScriptProcessor {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        self.script.change(document)?;
        Ok(Flow::Continue)
    }
}
