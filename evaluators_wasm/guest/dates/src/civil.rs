//! The proleptic Gregorian calendar: years, months and days as one count of days, and back.

/// The last year; the first is 1.
pub const LAST_YEAR: i32 = 9999;

/// Day numbers of 1970-01-01 and of the last day, 9999-12-31.
pub const UNIX_EPOCH: i32 = 719_163;
pub const LAST_DAY: i32 = 3_652_059;

/// Days of 400 years, after which the calendar repeats, and of 4 years with one leap day.
const DAYS_OF_400_YEARS: i32 = 146_097;
const DAYS_OF_4_YEARS: i32 = 1461;

/// From 0000-03-01 to 0001-01-01. Years that begin in March have their leap day last.
const MARCH_TO_JANUARY: i32 = 306;

/// A day of the years 1 to 9999; 0001-01-01 is number 1.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Date(i32);

/// A day by year, month and day of the month.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Civil {
    pub year: i32,
    pub month: i32,
    pub day: i32,
}

/// Whether February has 29 days.
#[must_use]
pub fn is_leap_year(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month from 1 to 12.
#[must_use]
pub fn days_in_month(year: i32, month: i32) -> i32 {
    match month {
        2 => 28 + i32::from(is_leap_year(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from March 1 to the first day of the month that is `months` after March, 0 to 11: five months have
/// 153.
fn days_after_march(months: i32) -> i32 {
    (153 * months + 2) / 5
}

impl Civil {
    /// The day's number. The year is 1 to 9999, the month 1 to 12, the day one of the month.
    #[must_use]
    pub fn date(self) -> Date {
        let before_march = self.month < 3;
        let year = self.year - i32::from(before_march);
        let months = if before_march {
            self.month + 9
        } else {
            self.month - 3
        };
        let leap_days = year / 4 - year / 100 + year / 400;
        Date(365 * year + leap_days + days_after_march(months) + self.day - MARCH_TO_JANUARY)
    }

    /// The same day of the month some months later, or the last day of that month where it has none;
    /// `None` outside the years 1 to 9999.
    #[must_use]
    pub fn plus_months(self, months: i64) -> Option<Self> {
        let index = (i64::from(self.year) * 12 + i64::from(self.month) - 1).checked_add(months)?;
        let year = index.div_euclid(12);
        if year < 1 || year > i64::from(LAST_YEAR) {
            return None;
        }
        let (year, month) = (year as i32, index.rem_euclid(12) as i32 + 1);
        Some(Self {
            year,
            month,
            day: self.day.min(days_in_month(year, month)),
        })
    }
}

impl Date {
    /// 0001-01-01 and 9999-12-31.
    pub const FIRST: Self = Self(1);
    pub const LAST: Self = Self(LAST_DAY);

    /// The day of a number, or `None` outside the years 1 to 9999.
    #[must_use]
    pub fn from_number(number: i64) -> Option<Self> {
        if number < 1 || number > i64::from(LAST_DAY) {
            return None;
        }
        Some(Self(number as i32))
    }

    /// Days since 0000-12-31.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }

    /// The day some days later, or `None` outside the years 1 to 9999.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Option<Self> {
        Self::from_number(i64::from(self.0).checked_add(days)?)
    }

    /// Year, month and day.
    ///
    /// The number of whole periods in n days, where a period has a + b/c days on average and its longest
    /// instance comes last, is `(c * n + c - 1) / (c * a + b)`; that is applied to centuries, to years and to
    /// months.
    #[must_use]
    pub fn civil(self) -> Civil {
        let days = self.0 - 1 + MARCH_TO_JANUARY;
        let century = (4 * days + 3) / DAYS_OF_400_YEARS;
        let days = days - DAYS_OF_400_YEARS * century / 4;
        let year = (4 * days + 3) / DAYS_OF_4_YEARS;
        let days = days - DAYS_OF_4_YEARS * year / 4;
        let months = (5 * days + 2) / 153;
        let before_march = months >= 10;
        Civil {
            year: 100 * century + year + i32::from(before_march),
            month: if before_march { months - 9 } else { months + 3 },
            day: days - days_after_march(months) + 1,
        }
    }

    /// Monday 1 to Sunday 7; day 1 is a Monday.
    #[must_use]
    pub fn iso_weekday(self) -> i32 {
        (self.0 - 1) % 7 + 1
    }

    /// 1 to 366.
    #[must_use]
    pub fn day_of_year(self) -> i32 {
        let first = Civil {
            month: 1,
            day: 1,
            ..self.civil()
        }
        .date();
        self.0 - first.0 + 1
    }

    /// Year and week, 1 to 53, of ISO 8601: those of the week's Thursday. Day 1 is a Monday and the last day
    /// a Friday, so that the Thursday is never outside the calendar.
    #[must_use]
    pub fn iso_week(self) -> (i32, i32) {
        let thursday = Self(self.0 + 4 - self.iso_weekday());
        (thursday.civil().year, (thursday.day_of_year() - 1) / 7 + 1)
    }

    /// The n-th Monday to Friday after this day, or the -n-th before it, or the day itself for 0; `None`
    /// outside the years 1 to 9999.
    #[must_use]
    pub fn plus_workdays(self, n: i64) -> Option<Self> {
        if n == 0 {
            return Some(self);
        }
        // Workdays are numbered from 0 on day 1. The next one is as many as there are up to this day, itself
        // included.
        let next = if n > 0 {
            workdays_before(self.0 + 1) - 1
        } else {
            workdays_before(self.0)
        };
        let workday = i64::from(next).checked_add(n)?;
        if workday < 0 {
            return None;
        }
        Self::from_number((workday / 5).checked_mul(7)?.checked_add(workday % 5 + 1)?)
    }

    /// Mondays to Fridays from this day on and before `end`; minus those after `end` up to this day where
    /// `end` is before it.
    #[must_use]
    pub fn workdays_until(self, end: Self) -> i32 {
        let past = i32::from(end < self);
        workdays_before(end.0 + past) - workdays_before(self.0 + past)
    }
}

/// Mondays to Fridays from day 1, a Monday, on and before the day of a number.
fn workdays_before(number: i32) -> i32 {
    let days = number - 1;
    days / 7 * 5 + (days % 7).min(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn civil(year: i32, month: i32, day: i32) -> Civil {
        Civil { year, month, day }
    }

    /// All days of the calendar, counted one by one.
    fn every_day(mut visit: impl FnMut(i32, Civil, i32)) {
        let mut number = 0;
        for year in 1..=LAST_YEAR {
            let mut day_of_year = 0;
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    number += 1;
                    day_of_year += 1;
                    visit(number, civil(year, month, day), day_of_year);
                }
            }
            assert_eq!(day_of_year, 365 + i32::from(is_leap_year(year)));
        }
        assert_eq!(number, LAST_DAY);
    }

    #[test]
    fn every_day_of_the_calendar_is_one_number_and_back() {
        every_day(|number, day, day_of_year| {
            let date = day.date();
            assert_eq!(date.number(), number);
            assert_eq!(date.civil(), day);
            assert_eq!(date.day_of_year(), day_of_year);
        });
    }

    #[test]
    fn weekdays_follow_each_other_and_weeks_are_those_of_the_fourth_of_january() {
        let mut weekday = 7;
        let mut week = (0, 0);
        every_day(|number, day, _| {
            let date = Date(number);
            weekday = weekday % 7 + 1;
            assert_eq!(date.iso_weekday(), weekday);
            if weekday == 1 {
                // A week is the first of a year where it has January 4 in it, that is, begins on December 29
                // or later.
                let is_first = (day.month == 12 && day.day >= 29) || (day.month == 1 && day.day <= 4);
                week = if is_first {
                    (day.year + i32::from(day.month == 12), 1)
                } else {
                    (week.0, week.1 + 1)
                };
            }
            assert_eq!(date.iso_week(), week, "{:?}", day);
        });
    }

    #[test]
    fn known_days_have_their_weekday() {
        assert_eq!(civil(1970, 1, 1).date().number(), UNIX_EPOCH);
        for (year, month, day, weekday) in [
            (1970, 1, 1, 4),
            (2000, 2, 29, 2),
            (1900, 1, 1, 1),
            (1582, 10, 15, 5),
            (9999, 12, 31, 5),
        ] {
            assert_eq!(civil(year, month, day).date().iso_weekday(), weekday, "{}", year);
        }
    }

    #[test]
    fn years_repeat_their_weekdays_after_400_years() {
        for year in 1..=LAST_YEAR - 400 {
            let (first, later) = (civil(year, 3, 1).date(), civil(year + 400, 3, 1).date());
            assert_eq!(later.number() - first.number(), DAYS_OF_400_YEARS);
            assert_eq!(first.iso_weekday(), later.iso_weekday());
        }
    }

    #[test]
    fn months_clamp_the_day_and_stay_inside_the_calendar() {
        assert_eq!(civil(2024, 1, 31).plus_months(1), Some(civil(2024, 2, 29)));
        assert_eq!(civil(2024, 3, 31).plus_months(-13), Some(civil(2023, 2, 28)));
        assert_eq!(civil(1, 1, 31).plus_months(-1), None);
        assert_eq!(civil(9999, 12, 1).plus_months(1), None);
        assert_eq!(civil(1, 1, 31).plus_months(119_987), Some(civil(9999, 12, 31)));
        assert_eq!(civil(2024, 1, 1).plus_months(i64::MAX), None);
        assert_eq!(civil(2024, 1, 1).plus_months(i64::MIN), None);
        let start = civil(2023, 12, 31);
        for months in -24_000..=90_000 {
            if let Some(reached) = start.plus_months(months) {
                let moved =
                    i64::from(reached.year - start.year) * 12 + i64::from(reached.month - start.month);
                assert_eq!(moved, months);
                assert_eq!(reached.day, days_in_month(reached.year, reached.month));
            }
        }
    }

    #[test]
    fn days_outside_the_calendar_have_no_date() {
        assert_eq!(Date::LAST.plus_days(1), None);
        assert_eq!(Date::FIRST.plus_days(-1), None);
        assert_eq!(Date::FIRST.plus_days(i64::from(LAST_DAY) - 1), Some(Date::LAST));
        assert_eq!(Date::LAST.plus_days(i64::MAX), None);
    }

    #[test]
    fn workdays_are_what_counting_them_gives() {
        for start in (1..40).chain(LAST_DAY - 40..=LAST_DAY).map(Date) {
            let (mut day, mut n) = (start, 0);
            while let Some(next) = day.plus_days(1).filter(|_| n < 30) {
                assert_eq!(
                    start.workdays_until(next) - start.workdays_until(day),
                    i32::from(day.iso_weekday() < 6)
                );
                day = next;
                if day.iso_weekday() < 6 {
                    n += 1;
                    assert_eq!(start.plus_workdays(n), Some(day));
                }
            }
            let (mut day, mut n) = (start, 0);
            while let Some(next) = day.plus_days(-1).filter(|_| n > -30) {
                assert_eq!(
                    start.workdays_until(day) - start.workdays_until(next),
                    i32::from(day.iso_weekday() < 6)
                );
                day = next;
                if day.iso_weekday() < 6 {
                    n -= 1;
                    assert_eq!(start.plus_workdays(n), Some(day));
                }
            }
            assert_eq!(start.plus_workdays(0), Some(start));
            assert_eq!(start.plus_workdays(3_000_000), None);
            assert_eq!(start.plus_workdays(-3_000_000), None);
            assert_eq!(start.plus_workdays(i64::MAX), None);
        }
    }
}
