//! What the command line says about itself: [`help`] as wide as the terminal, and [`pages`] of the manual.

pub mod help;
mod pages;

pub use pages::ManCommand;
