//! Work on a separate thread that must end even when it panics, because others wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use limber_mapping::RequestError;

/// Runs `work` and turns a panic into an error.
pub(crate) fn caught<T, E: From<RequestError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let why = "the request panicked; this is a bug, and the log says where";
        Err(RequestError::internal("illegal_state_exception", why).into())
    })
}

#[cfg(test)]
mod tests {
    use limber_mapping::ErrorClass;

    use super::caught;
    use crate::api::Result;

    #[test]
    fn a_panic_is_an_error_and_everything_else_stays() {
        let done: Result<u32> = caught(|| Ok(7));
        assert_eq!(done.expect("done"), 7);
        let panicked: Result<u32> = caught(|| panic!("a bug"));
        assert_eq!(panicked.expect_err("a panic").class, ErrorClass::Internal);
    }
}
