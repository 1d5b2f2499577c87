//! Times as people say them.

use jiff::{Timestamp, tz::TimeZone};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

/// A length of time in its two largest units at most: `340 ms`, `2.5 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
pub(crate) fn length(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..60 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// How long ago something was, in one unit.
pub(crate) fn age(then: i64, now: i64) -> String {
    let seconds = now.saturating_sub(then).max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Day and time where the user is.
pub(crate) fn local(milliseconds: i64) -> String {
    format(milliseconds, "%Y-%m-%d %H:%M:%S")
}

/// Time of the day where the user is.
pub(crate) fn clock(milliseconds: i64) -> String {
    format(milliseconds, "%H:%M:%S")
}

fn format(milliseconds: i64, form: &str) -> String {
    match Timestamp::from_millisecond(milliseconds) {
        Ok(timestamp) => timestamp
            .to_zoned_datetime(TimeZone::system())
            .strftime(form)
            .to_string(),
        Err(_) => "at an unknown time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_ages_have_units_that_fit() {
        for (milliseconds, said) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (2_560, "2.5 s"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
            (273_600_000, "3 d 4 h"),
        ] {
            assert_eq!(length(milliseconds), said);
        }
        assert_eq!(age(0, 59_999), "59 s");
        assert_eq!(age(0, 60_000), "1 min");
        assert_eq!(age(0, 86_400_000), "1 d");
        assert_eq!(age(5_000, 0), "0 s");
        assert_eq!(local(i64::MAX), "at an unknown time");
    }
}
