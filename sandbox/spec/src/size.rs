//! Sizes as people write them: `512M`, `4GiB`, `1.5g`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A number of bytes. Written with binary units: `4G` is 4 · 2³⁰ bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ByteSize(u64);

/// Why a text is not a size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a size: write a number with B, K, M, G or T behind it, such as 512M or 4G"
)]
pub struct ParseSizeError {
    text: String,
}

impl ByteSize {
    /// This many bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// This many times 2²⁰ bytes.
    pub const fn mib(mib: u64) -> Self {
        Self(mib << 20)
    }

    /// This many times 2³⁰ bytes.
    pub const fn gib(gib: u64) -> Self {
        Self(gib << 30)
    }

    /// The size in bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }

    /// The size in whole MiB, rounded down.
    pub const fn as_mib(self) -> u64 {
        self.0 >> 20
    }
}

impl FromStr for ByteSize {
    type Err = ParseSizeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || ParseSizeError {
            text: text.to_owned(),
        };
        let trimmed = text.trim();
        let digits_end = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits_end);
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return Err(wrong()),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole: u64 = whole.parse().map_err(|_| wrong())?;
        let unit = 1_u64 << shift;
        let mut bytes = whole.checked_mul(unit).ok_or_else(wrong)?;
        if !fraction.is_empty() {
            if fraction.len() > 6 || fraction.contains('.') {
                return Err(wrong());
            }
            let parts: u64 = fraction.parse().map_err(|_| wrong())?;
            let scale = 10_u64.pow(u32::try_from(fraction.len()).map_err(|_| wrong())?);
            let part = u128::from(unit) * u128::from(parts) / u128::from(scale);
            bytes = bytes
                .checked_add(u64::try_from(part).map_err(|_| wrong())?)
                .ok_or_else(wrong)?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        for (name, shift) in UNITS {
            let unit = 1_u64 << shift;
            if self.0 >= unit {
                let tenths = u128::from(self.0) * 10 / u128::from(unit);
                let (whole, tenth) = (tenths / 10, tenths % 10);
                return if tenth == 0 {
                    write!(f, "{whole} {name}")
                } else {
                    write!(f, "{whole}.{tenth} {name}")
                };
            }
        }
        write!(f, "{} B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, bytes) in [
            ("0", 0),
            ("512M", 512 << 20),
            ("4GiB", 4 << 30),
            ("1.5g", 3 << 29),
            ("10 kb", 10 << 10),
        ] {
            assert_eq!(
                text.parse::<ByteSize>().map(ByteSize::as_bytes),
                Ok(bytes),
                "{text}"
            );
        }
        for text in ["", "M", "-1", "1.2.3G", "5 apples", "99999999999T"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_print_with_one_decimal_at_most() {
        assert_eq!(ByteSize::mib(512).to_string(), "512 MiB");
        assert_eq!(ByteSize::mib(1536).to_string(), "1.5 GiB");
        assert_eq!(ByteSize::bytes(17).to_string(), "17 B");
    }
}
