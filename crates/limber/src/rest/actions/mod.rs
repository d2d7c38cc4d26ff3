//! The action that each route carries out: "which privilege does this request need?"
//!
//! Names are Elasticsearch's. An action on the cluster (`cluster:...`, templates) is allowed or denied as a
//! whole. An action on indices is checked again for every name, when the engine resolves names. A route
//! without an action fails a test and is open to superusers only.

mod lookup;

mod cat;
mod cluster;
mod documents;
mod indices;
mod searches;
mod security;

use lookup::Row;
pub use lookup::action_of;

const TABLES: [&[Row]; 6] =
    [security::ROWS, documents::ROWS, searches::ROWS, indices::ROWS, cluster::ROWS, cat::ROWS];
