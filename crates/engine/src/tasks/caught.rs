//! Work on a thread of its own, which must end for those who wait for it even when it panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use limber_mapping::RequestError;

/// Does `work`; a panic of it becomes an error.
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
