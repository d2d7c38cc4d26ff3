//! Grok: "which named parts does this log line have?"
//!
//! [`patterns`] is the library of named patterns; [`Grok`] is an expression compiled with it.

mod expression;
mod patterns;

pub use expression::{CaptureType, Found, Grok};
pub use patterns::{Ecs, library};
