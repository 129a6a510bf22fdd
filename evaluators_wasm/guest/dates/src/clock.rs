//! Times of day, datetimes and lengths of time.

use crate::civil::{Date, LAST_DAY, UNIX_EPOCH};

pub const SECONDS_OF_DAY: i64 = 86_400;
const NANOSECONDS_OF_SECOND: i32 = 1_000_000_000;

/// A length of time, or the time since the start of day 0. Seconds are rounded down, so that the nanoseconds
/// are 0 to 999,999,999 and the order is that of the fields.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Length {
    pub seconds: i64,
    pub nanoseconds: i32,
}

/// A time of day: less than a day after midnight.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Time {
    /// 0 to 86,399.
    pub seconds: i32,
    /// 0 to 999,999,999.
    pub nanoseconds: i32,
}

/// A date and a time at some place, and how far that place's clock is ahead of UTC, if that is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DateTime {
    pub date: Date,
    pub time: Time,
    /// Minutes, -1439 to 1439.
    pub offset: Option<i32>,
}

impl Length {
    /// A number of whole seconds.
    #[must_use]
    pub const fn of_seconds(seconds: i64) -> Self {
        Self {
            seconds,
            nanoseconds: 0,
        }
    }

    /// The sum. Seconds of both are at most 19 digits below 4·10^18, which the callers see to.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let nanoseconds = self.nanoseconds + other.nanoseconds;
        let carry = nanoseconds >= NANOSECONDS_OF_SECOND;
        Self {
            seconds: self.seconds + other.seconds + i64::from(carry),
            nanoseconds: if carry {
                nanoseconds - NANOSECONDS_OF_SECOND
            } else {
                nanoseconds
            },
        }
    }

    /// The negative.
    #[must_use]
    pub fn negative(self) -> Self {
        if self.nanoseconds == 0 {
            return Self::of_seconds(-self.seconds);
        }
        Self {
            seconds: -self.seconds - 1,
            nanoseconds: NANOSECONDS_OF_SECOND - self.nanoseconds,
        }
    }

    /// The difference; see `plus`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(other.negative())
    }

    /// -1, 0 or 1.
    #[must_use]
    pub fn sign(self) -> i64 {
        if self.nanoseconds > 0 && self.seconds == 0 {
            1
        } else {
            self.seconds.signum()
        }
    }

    /// The length without its sign.
    #[must_use]
    pub fn magnitude(self) -> Self {
        if self.seconds < 0 {
            self.negative()
        } else {
            self
        }
    }

    /// How many whole units of so many seconds it has, truncated towards zero.
    #[must_use]
    pub fn whole(self, unit: i64) -> i64 {
        self.sign() * (self.magnitude().seconds / unit)
    }
}

impl Time {
    /// The first and the last moment of a day.
    pub const MIDNIGHT: Self = Self {
        seconds: 0,
        nanoseconds: 0,
    };
    const LAST: Self = Self {
        seconds: SECONDS_OF_DAY as i32 - 1,
        nanoseconds: NANOSECONDS_OF_SECOND - 1,
    };

    /// The time of a clock, or `None` outside 00:00:00 to 23:59:59.
    #[must_use]
    pub fn of_clock(hour: i32, minute: i32, second: i32, nanoseconds: i32) -> Option<Self> {
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some(Self {
            seconds: (hour * 60 + minute) * 60 + second,
            nanoseconds,
        })
    }
}

/// Minutes of an offset, or `None` outside 00:00 to 23:59 and for `-00:00`, which says that the offset is
/// unknown.
#[must_use]
pub fn offset_minutes(negative: bool, hour: i32, minute: i32) -> Option<i32> {
    let minutes = hour * 60 + minute;
    if hour > 23 || minute > 59 || (negative && minutes == 0) {
        return None;
    }
    Some(if negative { -minutes } else { minutes })
}

impl DateTime {
    /// The datetime whose own clock shows a time since the start of day 0, or `None` outside the years 1 to
    /// 9999.
    #[must_use]
    pub fn from_local(local: Length, offset: Option<i32>) -> Option<Self> {
        let date = Date::from_number(local.seconds.div_euclid(SECONDS_OF_DAY))?;
        let seconds = local.seconds.rem_euclid(SECONDS_OF_DAY) as i32;
        Some(Self {
            date,
            time: Time {
                seconds,
                nanoseconds: local.nanoseconds,
            },
            offset,
        })
    }

    /// The datetime in UTC of a Unix time in seconds, of at most 18 digits; `None` outside the years 1 to
    /// 9999.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Option<Self> {
        let epoch = i64::from(UNIX_EPOCH) * SECONDS_OF_DAY;
        Self::from_local(Length::of_seconds(seconds + epoch), Some(0))
    }

    /// What its own clock shows: the time since the start of day 0.
    #[must_use]
    pub fn local(self) -> Length {
        Length {
            seconds: i64::from(self.date.number()) * SECONDS_OF_DAY + i64::from(self.time.seconds),
            nanoseconds: self.time.nanoseconds,
        }
    }

    /// What a clock in UTC shows; without an offset, the same as its own.
    #[must_use]
    pub fn instant(self) -> Length {
        self.local()
            .minus(Length::of_seconds(i64::from(self.offset.unwrap_or(0)) * 60))
    }

    /// Seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub fn unix(self) -> i64 {
        self.instant().seconds - i64::from(UNIX_EPOCH) * SECONDS_OF_DAY
    }

    /// The same instant on a clock of another offset; `None` outside the years 1 to 9999.
    #[must_use]
    pub fn at_offset(self, offset: i32) -> Option<Self> {
        Self::from_local(
            self.instant().plus(Length::of_seconds(i64::from(offset) * 60)),
            Some(offset),
        )
    }

    /// `at_offset`, or the first or last moment of the calendar where that lies outside.
    #[must_use]
    pub fn at_offset_or_nearest(self, offset: i32) -> Self {
        match (self.at_offset(offset), self.date.number() > LAST_DAY / 2) {
            (Some(moved), _) => moved,
            (None, true) => Self {
                date: Date::LAST,
                time: Time::LAST,
                offset: Some(offset),
            },
            (None, false) => Self {
                date: Date::FIRST,
                time: Time::MIDNIGHT,
                offset: Some(offset),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::civil::Civil;

    fn length(seconds: i64, nanoseconds: i32) -> Length {
        Length { seconds, nanoseconds }
    }

    #[test]
    fn lengths_add_and_negate_like_the_count_of_nanoseconds() {
        let all = [
            length(0, 0),
            length(0, 1),
            length(-1, 999_999_999),
            length(5, 500_000_000),
            length(-6, 500_000_000),
            length(-1, 0),
            length(86_399, 999_999_999),
        ];
        let count =
            |length: Length| i128::from(length.seconds) * 1_000_000_000 + i128::from(length.nanoseconds);
        for left in all {
            assert_eq!(count(left.negative()), -count(left));
            assert_eq!(i128::from(left.sign()), count(left).signum());
            assert_eq!(count(left.magnitude()), count(left).abs());
            for unit in [1, 60, 3600] {
                assert_eq!(
                    i128::from(left.whole(unit)),
                    count(left) / (i128::from(unit) * 1_000_000_000)
                );
            }
            for right in all {
                let (sum, difference) = (left.plus(right), left.minus(right));
                assert_eq!(count(sum), count(left) + count(right));
                assert_eq!(count(difference), count(left) - count(right));
                assert!((0..1_000_000_000).contains(&sum.nanoseconds));
                assert!((0..1_000_000_000).contains(&difference.nanoseconds));
                assert_eq!(left < right, count(left) < count(right));
            }
        }
    }

    #[test]
    fn offsets_move_the_local_clock_and_not_the_instant() {
        let date = Civil {
            year: 2024,
            month: 3,
            day: 1,
        }
        .date();
        let moment = DateTime {
            date,
            time: Time::MIDNIGHT,
            offset: Some(0),
        };
        for offset in -1439..=1439 {
            let moved = moment.at_offset(offset).unwrap();
            assert_eq!(moved.instant(), moment.instant());
            assert_eq!(moved.unix(), 1_709_251_200);
            assert_eq!(moved.date < date, offset < 0);
        }
    }

    #[test]
    fn unix_times_go_there_and_back_up_to_the_ends_of_the_calendar() {
        for seconds in [-62_135_596_800, -1, 0, 1, 1_709_251_199, 253_402_300_799] {
            assert_eq!(DateTime::from_unix(seconds).unwrap().unix(), seconds);
        }
        for seconds in [
            -62_135_596_801,
            253_402_300_800,
            999_999_999_999_999_999,
            -999_999_999_999_999_999,
        ] {
            assert_eq!(DateTime::from_unix(seconds), None);
        }
    }

    #[test]
    fn a_moment_outside_the_calendar_is_replaced_by_the_nearest() {
        let first = DateTime {
            date: Date::FIRST,
            time: Time::MIDNIGHT,
            offset: Some(0),
        };
        assert_eq!(first.at_offset(-1), None);
        assert_eq!(
            first.at_offset_or_nearest(-1),
            DateTime {
                offset: Some(-1),
                ..first
            }
        );
        let last = DateTime {
            date: Date::LAST,
            time: Time::LAST,
            offset: Some(0),
        };
        assert_eq!(last.at_offset(1), None);
        assert_eq!(
            last.at_offset_or_nearest(1),
            DateTime {
                offset: Some(1),
                ..last
            }
        );
    }
}
