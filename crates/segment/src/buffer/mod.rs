//! Documents in memory until they become a segment: "take these typed values; now write them all".

pub mod values;

pub use values::Values;
