//! MaxMind databases: "where is this address, and whose is it?"
//!
//! Users put their files (`GeoLite2-City.mmdb` and the like) into `config/ingest-geoip` below the data
//! folder; new, changed and removed ones are noticed while the node runs. Nothing is downloaded.

mod database;
mod databases;
mod property;
mod record;

pub use database::Database;
pub use databases::Databases;
pub use property::{DatabaseKind, Property};
