//! When a failed request is tried again: with growing pauses, never sooner than the API asks, and not for ever. Tasks that share an
//! API share its pauses.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use crate::ModelError;

/// The first pause; each is twice as long as the one before.
const FIRST: Duration = Duration::from_secs(1);

/// The longest pause that is not asked for.
const LONGEST: Duration = Duration::from_secs(60);

/// All pauses of one request together.
const TOTAL: Duration = Duration::from_mins(15);

/// Failures in a row after which it is given up.
const TRIES: u32 = 8;

/// The tries of one request.
#[derive(Debug)]
pub struct Retry {
    failures: u32,
    waited: Duration,
    first: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            failures: 0,
            waited: Duration::ZERO,
            first: FIRST,
        }
    }
}

impl Retry {
    /// How long to wait before the next try; `None` if there is none.
    pub fn pause(&mut self, error: &ModelError) -> Option<Duration> {
        self.failures += 1;
        if !error.is_transient() || self.failures >= TRIES {
            return None;
        }
        let asked = match error {
            ModelError::RateLimited { after, .. } | ModelError::Overloaded { after, .. } => *after,
            _ => None,
        };
        let own = self
            .first
            .saturating_mul(1 << (self.failures - 1))
            .min(LONGEST);
        let pause = asked.unwrap_or(own);
        // Up to a quarter more, so that those who were turned away together do not come back together.
        let pause = pause + pause.mul_f64(fastrand::f64() / 4.0);
        self.waited += pause;
        (self.waited <= TOTAL).then_some(pause)
    }
}

/// Until when an API is left alone, by its address.
#[derive(Debug, Default)]
pub struct Gate {
    closed: Mutex<HashMap<String, Instant>>,
}

impl Gate {
    /// Nobody asks before this.
    pub fn close(&self, address: &str, until: Instant) {
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        closed.retain(|_, until| *until > now);
        let entry = closed.entry(address.to_owned()).or_insert(until);
        *entry = (*entry).max(until);
    }

    /// How long it is still to be left alone.
    pub fn wait(&self, address: &str) -> Option<Duration> {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let left = closed
            .get(address)?
            .checked_duration_since(Instant::now())?;
        (!left.is_zero()).then_some(left)
    }
}

/// What `retry-after` asks for: seconds, or a date.
pub(crate) fn asked(
    milliseconds: Option<&str>,
    header: Option<&str>,
    now: SystemTime,
) -> Option<Duration> {
    if let Some(millis) = milliseconds.and_then(|text| text.trim().parse::<u32>().ok()) {
        return Some(Duration::from_millis(millis.into()));
    }
    let text = header?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// A delay that is only said in words, such as `Please try again in 1.5s` or `in 20ms`.
pub(crate) fn told(message: &str) -> Option<Duration> {
    let low = message.to_ascii_lowercase();
    let (_, rest) = low
        .split_once("try again in ")
        .or_else(|| low.split_once("retry in "))?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let number: f64 = rest[..end].parse().ok()?;
    let unit = rest[end..].trim_start();
    let seconds = if unit.starts_with("ms") {
        number / 1000.0
    } else if unit.starts_with('m') {
        number * 60.0
    } else {
        number
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(after: Option<u64>) -> ModelError {
        ModelError::RateLimited {
            message: String::new(),
            after: after.map(Duration::from_secs),
        }
    }

    #[test]
    fn b121_pauses_grow_are_what_is_asked_and_end() {
        let mut retry = Retry::default();
        let first = retry.pause(&limited(None)).unwrap();
        let second = retry.pause(&limited(None)).unwrap();
        assert!(first >= FIRST && second >= FIRST * 2 && second < FIRST * 3);
        assert!(retry.pause(&limited(Some(30))).unwrap() >= Duration::from_secs(30));
        assert_eq!(
            retry.pause(&limited(Some(3600))),
            None,
            "nobody waits for that long"
        );
        let mut retry = Retry::default();
        let pauses = (0..100)
            .take_while(|_| retry.pause(&limited(Some(1))).is_some())
            .count();
        assert_eq!(pauses, 7, "not for ever");
        assert_eq!(
            Retry::default().pause(&ModelError::Key(String::new())),
            None
        );
    }

    #[test]
    fn b121_what_is_asked_is_seconds_a_date_or_words() {
        let now = httpdate::parse_http_date("Wed, 02 Dec 2026 10:00:00 GMT").unwrap();
        let seconds = |duration: Option<Duration>| duration.map(|duration| duration.as_secs_f64());
        assert_eq!(seconds(asked(None, Some("3"), now)), Some(3.0));
        assert_eq!(seconds(asked(Some("1500"), Some("3"), now)), Some(1.5));
        assert_eq!(
            seconds(asked(None, Some("Wed, 02 Dec 2026 10:00:07 GMT"), now)),
            Some(7.0)
        );
        assert_eq!(
            seconds(asked(None, Some("Wed, 02 Dec 2026 09:00:00 GMT"), now)),
            Some(0.0)
        );
        for none in ["-1", "soon", "1e300", ""] {
            assert_eq!(asked(None, Some(none), now), None, "{none}");
        }
        assert_eq!(
            seconds(told("Rate limit reached. Please try again in 1.5s. See")),
            Some(1.5)
        );
        assert_eq!(seconds(told("try again in 250ms")), Some(0.25));
        assert_eq!(seconds(told("try again in 2m")), Some(120.0));
        assert_eq!(told("slow down"), None);
    }

    #[test]
    fn b121_tasks_of_one_api_wait_together() {
        let gate = Gate::default();
        assert_eq!(gate.wait("a"), None);
        gate.close("a", Instant::now() + Duration::from_secs(50));
        gate.close("a", Instant::now() + Duration::from_secs(5));
        assert!(gate.wait("a").unwrap() > Duration::from_secs(40));
        assert_eq!(gate.wait("b"), None);
    }
}
