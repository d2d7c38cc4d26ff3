//! MaxMind databases: "where is this address, and whose is it?"
//!
//! Users put their files (such as `GeoLite2-City.mmdb`) into `config/ingest-geoip` in the data folder. A
//! running node notices new, changed and removed files. Nothing is downloaded.

mod database;
mod databases;
mod property;
mod record;

pub use database::Database;
pub use databases::Databases;
pub use property::{DatabaseKind, Property};
