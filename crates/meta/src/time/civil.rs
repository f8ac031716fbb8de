//! Days since 1970 and dates of the Gregorian calendar, in both directions. Years are counted from March, so that the
//! leap day is the last; 400 years are always 146,097 days.

const DAYS_OF_ERA: i64 = 146_097;
/// From the first of March of year 0 to 1970.
const EPOCH: i64 = 719_468;

pub(super) fn from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    let (era, day) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

pub(super) fn to_days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = (month + 9) % 12;
    let day = (153 * month + 2) / 5 + day - 1;
    era * DAYS_OF_ERA + year * 365 + year / 4 - year / 100 + day - EPOCH
}

pub(super) fn days_in(year: i64, month: i64) -> i64 {
    let next = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    to_days(next.0, next.1, 1) - to_days(year, month, 1)
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
