//! The pipelines of an index: "which of them do its settings name, or would they name once it is created?"

use crate::catalog::{Catalog, WriteTarget};
use crate::node::Node;

impl Node {
    /// Returns `default_pipeline` and `final_pipeline` of the index that a name stands for, or would have
    /// once it is created.
    pub(in crate::node) fn pipelines_of(&self, name: &str) -> IndexPipelines {
        pipelines_in(&self.catalog.load(), name, false)
    }
}

/// Does the work of [`Node::pipelines_of`]. With `ignores_indices`, existing indices are treated as not yet
/// created.
pub(in crate::node) fn pipelines_in(catalog: &Catalog, name: &str, ignores_indices: bool) -> IndexPipelines {
    let Ok(name) = catalog.resolve_date_math(name) else { return IndexPipelines::default() };
    let name = &*name;
    let target = match ignores_indices {
        true => Ok(WriteTarget::Missing),
        false => catalog.write_target(name, false),
    };
    match target {
        Ok(WriteTarget::Index { index, .. }) => IndexPipelines {
            default: index.typed.default_pipeline.clone(),
            last: index.typed.final_pipeline.clone(),
        },
        Ok(WriteTarget::Missing) => {
            let settings = catalog.templates.resolve(name).settings;
            let text = |key: &str| {
                let name = settings.get(key).and_then(|value| value.as_str());
                name.filter(|name| *name != "_none").map(str::to_owned)
            };
            IndexPipelines { default: text("index.default_pipeline"), last: text("index.final_pipeline") }
        }
        Err(_) => IndexPipelines::default(),
    }
}

/// The pipelines that an index's settings name.
#[derive(Debug, Default, Clone)]
pub(in crate::node) struct IndexPipelines {
    pub(in crate::node) default: Option<String>,
    pub(in crate::node) last: Option<String>,
}
