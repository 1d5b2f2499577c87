//! The wall clock, as the store and the wire write it.

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
