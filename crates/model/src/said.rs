//! Times: when words were said, with the offset of the clock that said so, and when the ledger recorded them.

use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcMs(pub i64);

/// When something was said: a moment in UTC milliseconds and the offset its source gave. Missing is missing, not now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SaidAt {
    ms: i64,
    offset_minutes: i16,
}

const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

impl SaidAt {
    /// The moment `ms` (UTC milliseconds, years 1 to 9999) on a clock `offset_minutes` east of UTC (within ±18 hours).
    /// `None` where either is out of range.
    #[must_use]
    pub fn new(ms: i64, offset_minutes: i16) -> Option<Self> {
        let fits = RANGE.contains(&ms) && (-1080..=1080).contains(&offset_minutes);
        fits.then_some(Self { ms, offset_minutes })
    }

    /// Reads an RFC 3339 time; anything finer than a millisecond is dropped. `None` where it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        let ms = i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000_000)).ok()?;
        Self::new(ms, at.offset().whole_minutes())
    }

    /// UTC milliseconds.
    #[must_use]
    pub const fn ms(self) -> i64 {
        self.ms
    }

    /// Minutes east of UTC.
    #[must_use]
    pub const fn offset_minutes(self) -> i16 {
        self.offset_minutes
    }

    /// RFC 3339 in UTC, to the second, or to the millisecond where there are any.
    #[must_use]
    pub fn utc(self) -> String {
        format(self.ms, 0, Fraction::Needed)
    }

    /// RFC 3339 with the offset it was said in.
    #[must_use]
    pub fn local(self) -> String {
        format(self.ms, self.offset_minutes, Fraction::Needed)
    }
}

impl UtcMs {
    /// RFC 3339 in UTC; an out-of-range number is given as it is.
    #[must_use]
    pub fn utc(self) -> String {
        format(self.0, 0, Fraction::Needed)
    }
}

/// How finely a time is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fraction {
    /// Milliseconds where there are any.
    Needed,
    /// Always milliseconds: texts of one clock then sort as their times do.
    Always,
}

fn format(ms: i64, offset_minutes: i16, fraction: Fraction) -> String {
    moment(ms, offset_minutes, fraction).unwrap_or_else(|| format!("{ms} ms"))
}

fn moment(ms: i64, offset_minutes: i16, fraction: Fraction) -> Option<String> {
    let utc = OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000).ok()?;
    let offset = UtcOffset::from_whole_seconds(i32::from(offset_minutes) * 60).ok()?;
    let at = utc.checked_to_offset(offset)?;
    let second = at.format(format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]")).ok()?;
    let whole = ms.rem_euclid(1_000) == 0 && fraction == Fraction::Needed;
    let part = if whole { String::new() } else { format!(".{:03}", ms.rem_euclid(1_000)) };
    let zone = match offset_minutes {
        0 => "Z".to_owned(),
        _ => at.format(format_description!("[offset_hour sign:mandatory]:[offset_minute]")).ok()?,
    };
    Some(format!("{second}{part}{zone}"))
}

impl serde::Serialize for SaidAt {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format(self.ms, self.offset_minutes, Fraction::Always))
    }
}

impl serde::Serialize for UtcMs {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format(self.0, 0, Fraction::Always))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_keeps_its_offset_and_its_milliseconds() {
        let at = SaidAt::parse("2026-11-30T18:14:05.250+09:00").unwrap();
        assert_eq!(at.local(), "2026-11-30T18:14:05.250+09:00");
        assert_eq!(at.utc(), "2026-11-30T09:14:05.250Z");
        assert_eq!(SaidAt::parse("2026-11-30T09:14:05Z").unwrap().utc(), "2026-11-30T09:14:05Z");
        assert_eq!(SaidAt::new(-1, -570).unwrap().local(), "1969-12-31T14:29:59.999-09:30");
        assert_eq!(SaidAt::parse("yesterday"), None);
    }
}
