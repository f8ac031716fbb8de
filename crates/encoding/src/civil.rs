//! Days since 1970 and dates of the Gregorian calendar, in both directions. Years are counted from March, so that the
//! leap day is the last; 400 years are always 146,097 days.

const DAYS_OF_ERA: i64 = 146_097;
/// From the first of March of year 0 to 1970.
const EPOCH: i64 = 719_468;
const SECONDS_OF_DAY: i64 = 86_400;

/// Year, month and day; both from 1.
pub fn from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Days since 1970-01-01, also before it.
pub fn to_days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = (month + 9) % 12;
    let day = (153 * month + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + year * 365 + year / 4 - year / 100 + day - EPOCH
}

/// How many days a month has.
pub fn days_in(year: i64, month: i64) -> i64 {
    let next = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    to_days(next.0, next.1, 1) - to_days(year, month, 1)
}

/// A point in time as a calendar and a clock in UTC show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
}

impl DateTime {
    /// Of seconds since 1970.
    pub fn from_unix(seconds: i64) -> Self {
        let (year, month, day) = from_days(seconds.div_euclid(SECONDS_OF_DAY));
        let of_day = seconds.rem_euclid(SECONDS_OF_DAY);
        Self {
            year,
            month,
            day,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
        }
    }

    /// Seconds since 1970.
    pub fn to_unix(self) -> i64 {
        let days = to_days(self.year, self.month, self.day);
        days * SECONDS_OF_DAY + self.hour * 3600 + self.minute * 60 + self.second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_and_more() {
        let mut last = (1599, 12, 31);
        for days in to_days(1600, 1, 1)..to_days(2101, 1, 1) {
            let date = from_days(days);
            assert_eq!(to_days(date.0, date.1, date.2), days);
            let late = days * 86_400 + 86_399;
            let time = DateTime::from_unix(late);
            assert_eq!((time.day, time.hour, time.second), (date.2, 23, 59));
            assert_eq!(time.to_unix(), late);
            assert!(date > last, "{date:?}");
            last = date;
        }
        assert_eq!(last, (2100, 12, 31));
        let leap = [(1900, 28), (2000, 29), (2023, 28), (2024, 29)];
        for (year, days) in leap {
            assert_eq!(days_in(year, 2), days);
        }
    }
}
