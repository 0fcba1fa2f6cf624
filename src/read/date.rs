//! Dates as records have them, to days.

use std::ops::Range;

use jiff::civil::{Date, DateTime};
use jiff::fmt::{rfc2822, strtime, temporal};
#[cfg(any(feature = "parquet", test))]
use jiff::{SignedDuration, civil::Time};
use jiff::{Span, Timestamp, tz::Offset};

/// Longest date looked at, in bytes: one with the name of its time zone in a comment.
const LONGEST: usize = 100;
/// Sizes of numbers that are Unix seconds: from March 1973 to the year 5138, and as long before 1970.
const SECONDS: Range<f64> = 1e8..1e11;
/// Sizes of numbers that are Unix milliseconds: the same from where seconds end.
const MILLISECONDS: Range<f64> = 1e11..1e14;
/// The two older forms of dates in HTTP: those of RFC 850 and of `asctime`, always in UTC.
const OLDER: [&str; 2] = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// Days as people write them where no two orders of numbers can be meant.
const WRITTEN: [&str; 5] = ["%Y/%m/%d", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y"];

static ISO: temporal::DateTimeParser = temporal::DateTimeParser::new();
static MAIL: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new();

/// When a document is dated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Day {
    /// Nobody asked, or the record has no date: no such field, or null.
    #[default]
    None,
    /// Days since 1970-01-01.
    Known(i32),
    /// The record has a date that [`day`] does not understand.
    Unclear,
}

/// The day of a date, in days since 1970-01-01; `None` if it is none, or could be several.
///
/// | written | is |
/// |---|---|
/// | `2024-03-10`, `20240310`, `2024-03-10T23:30:00-02:00`, `2024-03-10 23:30` | ISO 8601, RFC 3339 |
/// | `Sun, 10 Mar 2024 23:30:00 -0200`, `Sunday, 10-Mar-24 23:30:00 GMT`, `Sun Mar 10 23:30:00 2024` | mail, HTTP |
/// | `2024/03/10`, `Mar 10, 2024`, `10 March 2024` | a day |
/// | `2024`, `2024-03` | the first day of the year or month |
/// | `20240310233000` | 14 digits: date and time as web archives write them |
/// | `1710113400`, `1710113400.5` | Unix seconds, from 10^8 to below 10^11, or as far below 0 |
/// | `1710113400000` | Unix milliseconds, from there to below 10^14 |
///
/// A time with an offset is taken to UTC first, so that its day may be the one before or after; a time without one is
/// in UTC. A name of a time zone counts only as a comment beside an offset. Dates with a day of the week that is not
/// theirs are none, nor are those like `03/04/2024`, which mean two days, nor numbers of other sizes: 0 often stands for
/// a date that nobody knows.
pub fn day(value: &str) -> Option<i32> {
    let value = value.trim();
    if value.is_empty() || value.len() > LONGEST {
        return None;
    }
    if value.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        && let Ok(number) = value.parse::<f64>()
    {
        return of_number(value, number);
    }
    of_month(value)
        .or_else(|| of_iso(value))
        .or_else(|| of_mail(value))
        .or_else(|| of_older(value))
        .or_else(|| of_written(value))
}

/// The month of a day: months since January 1970.
pub fn month_of(day: i32) -> i32 {
    date_of(day).map_or(0, |date| (i32::from(date.year()) - 1970) * 12 + i32::from(date.month()) - 1)
}

/// A month as people write it: `2024-03`.
pub fn written_month(month: i32) -> String {
    format!("{:04}-{:02}", 1970 + month.div_euclid(12), month.rem_euclid(12) + 1)
}

/// A day as people write it: `2024-03-10`. One of no year of four digits is its number of days since 1970-01-01.
#[cfg(any(feature = "parquet", test))]
pub fn written_day(day: i32) -> String {
    date_of(day).map_or_else(|| day.to_string(), |date| date.to_string())
}

/// A moment in nanoseconds since 1970-01-01 as ISO 8601 has it: `2024-03-10T12:00:00.5Z`, without the `Z` if it is not of UTC, but
/// what a clock shows somewhere; none of a year beyond 9999.
#[cfg(any(feature = "parquet", test))]
pub fn written_moment(nanoseconds: i128, utc: bool) -> Option<String> {
    const SECOND: i128 = 1_000_000_000;
    let second = i64::try_from(nanoseconds.div_euclid(SECOND)).ok()?;
    let since = SignedDuration::new(second, nanoseconds.rem_euclid(SECOND) as i32);
    let time = Date::constant(1970, 1, 1).to_datetime(Time::midnight()).checked_add(since).ok()?;
    Some(format!("{time}{}", if utc { "Z" } else { "" }))
}

/// A time of a day in nanoseconds as ISO 8601 has it: `12:00:00.5`; none beyond the day.
#[cfg(any(feature = "parquet", test))]
pub fn written_time(nanoseconds: i128) -> Option<String> {
    let since = SignedDuration::from_nanos(i64::try_from(nanoseconds).ok()?);
    let time = (!since.is_negative()).then(|| Time::midnight().checked_add(since).ok())??;
    Some(time.to_string())
}

/// The date of a day, in days since 1970-01-01.
fn date_of(day: i32) -> Option<Date> {
    Date::constant(1970, 1, 1).checked_add(Span::new().try_days(day).ok()?).ok()
}

/// A number: its digits are a date, or its size says what it counts.
fn of_number(digits: &str, number: f64) -> Option<i32> {
    match digits.len() {
        4 if is_digits(digits) => of_iso(&format!("{digits}-01-01")),
        8 if is_digits(digits) => of_iso(digits),
        14 if is_digits(digits) => of_iso(&format!("{}T{}", &digits[..8], &digits[8..])),
        _ if SECONDS.contains(&number.abs()) => of_seconds(number),
        _ if MILLISECONDS.contains(&number.abs()) => of_seconds(number / 1000.0),
        _ => None,
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn of_month(value: &str) -> Option<i32> {
    let (year, month) = value.split_once('-')?;
    let is_month = [year, month].map(str::len) == [4, 2] && is_digits(year) && is_digits(month);
    is_month.then(|| of_iso(&format!("{value}-01")))?
}

/// ISO 8601 and RFC 3339.
fn of_iso(value: &str) -> Option<i32> {
    let pieces = ISO.parse_pieces(value).ok()?;
    match (pieces.to_numeric_offset(), pieces.time()) {
        (Some(offset), Some(_)) if offset.seconds().abs() >= 86_400 => None,
        (Some(offset), Some(time)) => {
            of_timestamp(offset.to_timestamp(pieces.date().to_datetime(time)).ok()?)
        }
        _ if pieces.time_zone_annotation().is_some() => None,
        _ => of_date(pieces.date()),
    }
}

/// RFC 2822, and with it what HTTP writes.
fn of_mail(value: &str) -> Option<i32> {
    of_timestamp(MAIL.parse_timestamp(value).ok()?)
}

fn of_older(value: &str) -> Option<i32> {
    let parse = |form: &&str| strtime::parse(form, value).and_then(|parsed| parsed.to_datetime()).ok();
    OLDER.iter().find_map(parse).and_then(|time: DateTime| of_date(time.date()))
}

fn of_written(value: &str) -> Option<i32> {
    // Else a year of fewer digits would be one of the first centuries.
    let has_year = value.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4);
    if !has_year || !value.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let parse = |form: &&str| strtime::parse(form, value).and_then(|parsed| parsed.to_date()).ok();
    WRITTEN.iter().find_map(parse).and_then(of_date)
}

fn of_seconds(seconds: f64) -> Option<i32> {
    // Whole seconds below 10^11 are exact, and a day begins at one.
    of_timestamp(Timestamp::from_second(seconds.floor() as i64).ok()?)
}

fn of_timestamp(timestamp: Timestamp) -> Option<i32> {
    of_date(Offset::UTC.to_datetime(timestamp).date())
}

fn of_date(date: Date) -> Option<i32> {
    let since = Date::constant(1970, 1, 1).duration_until(date);
    i32::try_from(since.as_secs().div_euclid(86_400)).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2024-03-10.
    const TENTH: i32 = 19_792;

    #[test]
    fn moments_are_written_to_the_end_of_the_year_9999() {
        for at in [0, -1, 1_500_000_000, -62_135_596_800_000_000_000, 1_709_985_600_123_456_789_i128] {
            let want = Timestamp::from_nanosecond(at).expect("a time").to_string();
            assert_eq!(written_moment(at, false), want.strip_suffix('Z').map(str::to_owned));
            assert_eq!(written_moment(at, true), Some(want));
        }
        let last = 253_402_300_799_999_999_000;
        assert_eq!(written_moment(last, true).as_deref(), Some("9999-12-31T23:59:59.999999Z"));
        assert_eq!(
            (
                written_moment(last + 1_000, true),
                written_moment(i128::MAX, true),
                written_moment(i128::MIN, true)
            ),
            (None, None, None)
        );
    }

    #[test]
    fn times_have_the_digits_that_they_need() {
        let second = 1_000_000_000;
        let known = [(0, "00:00:00"), (1, "00:00:00.000000001"), (90 * second + 500_000_000, "00:01:30.5")];
        assert!(known.iter().all(|(at, time)| written_time(*at).as_deref() == Some(*time)));
        assert_eq!(written_time(86_400 * second - 1).as_deref(), Some("23:59:59.999999999"));
        assert!([-1, 86_400 * second, i128::MAX, i128::MIN].iter().all(|at| written_time(*at).is_none()));
    }

    #[test]
    fn every_form_is_read() {
        for value in [
            "2024-03-10",
            "20240310",
            " 2024-03-10T12:30:00Z\n",
            "2024-03-10T12:30:00.123456+01:00",
            "2024-03-10 23:59:59",
            "2024-03-10T12:30",
            "20240310T123000Z",
            "20240310123000",
            "2024-03-10T12:30:00+01:00[Europe/Paris]",
            "Sun, 10 Mar 2024 12:30:00 +0100",
            "Sun, 10 Mar 2024 12:30:00 GMT",
            "10 Mar 2024 12:30 EST",
            "Sun, 10 Mar 2024 12:30:00 +0100 (Central European Standard Time)",
            "Sunday, 10-Mar-24 12:30:00 GMT",
            "Sun Mar 10 12:30:00 2024",
            "2024/03/10",
            "Mar 10, 2024",
            "March 10, 2024",
            "10 Mar 2024",
            "10 march 2024",
            "1710070200",
            "1710070200.75",
            "1.7100702e9",
            "1710070200000",
        ] {
            assert_eq!(day(value), Some(TENTH), "{value}");
        }
        assert_eq!((day("2024"), day("2024-03")), (Some(19_723), Some(TENTH - 9)));
        assert_eq!((day("1970-01-01"), day("1969-12-31")), (Some(0), Some(-1)));
        assert_eq!((day("0001-01-01"), day("9999-12-31")), (Some(-719_162), Some(2_932_896)));
        assert_eq!((day("-100000000"), day("-100000000000")), (Some(-1158), Some(-1158)));
    }

    #[test]
    fn days_are_those_of_utc() {
        assert_eq!(day("2024-03-10T23:30:00-02:00"), Some(TENTH + 1));
        assert_eq!(day("2024-03-10T00:30:00+02:00"), Some(TENTH - 1));
        assert_eq!(day("Sun, 10 Mar 2024 23:30:00 -0200"), Some(TENTH + 1));
        assert_eq!((day("1710115199"), day("1710115200")), (Some(TENTH), Some(TENTH + 1)));
        assert_eq!((day("1710115199999"), day("1710115200000")), (Some(TENTH), Some(TENTH + 1)));
    }

    #[test]
    fn what_is_no_date_or_several_is_none() {
        let long = format!("2024-03-10{}", " ".repeat(200) + ".");
        for value in [
            "",
            " ",
            "yesterday",
            "2024-02-30",
            "20240230",
            "2024-13",
            "2024-3",
            "03/04/2024",
            "10.03.2024",
            "10/03/2024",
            "03/04/24",
            "10/03/24",
            "Mar 10, 24",
            "10 Mar 24",
            "-2024/03/10",
            "2024/03/2410",
            "2024/13/10",
            "Feb 30, 2024",
            "Marsh 10, 2024",
            "2024-03-10T25:00:00Z",
            "2024-03-10T12:30:00+25:00",
            "2024-03-10T12:30:00-24:00",
            "2024-03-10T12:30:00[Europe/Paris]",
            "2024-03-10 and later",
            "Mon, 10 Mar 2024 12:30:00 GMT",
            "0",
            "-1",
            "86400",
            "202403",
            "20241399999999",
            "1e300",
            "123456789012345678",
            "inf",
            "nan",
            "2024e",
            &long,
        ] {
            assert_eq!(day(value), None, "{value}");
        }
    }

    #[test]
    fn days_have_months() {
        for (written, month) in
            [("1970-01-01", 0), ("1969-12-31", -1), ("2024-02-29", 649), ("0001-01-01", -23_628)]
        {
            let day = day(written).expect("a day");
            assert_eq!((month_of(day), written_day(day)), (month, written.to_owned()));
            assert_eq!(written_month(month), written[..7]);
        }
    }

    proptest! {
        #[test]
        fn days_come_back(days in -719_162..2_932_896i32, second in 0..86_400i64, offset in -50_000..50_000i32) {
            let seconds = i64::from(days) * 86_400 + second;
            let time = Timestamp::from_second(seconds).expect("within all years");
            let offset = Offset::from_seconds(offset / 60 * 60).expect("within a day");
            prop_assert_eq!(day(&time.to_string()), Some(days));
            prop_assert_eq!(day(&Offset::UTC.to_datetime(time).date().to_string()), Some(days));
            prop_assert_eq!(day(&time.display_with_offset(offset).to_string()), Some(days));
            let zoned = time.to_zoned(jiff::tz::TimeZone::fixed(offset));
            if let Ok(mail) = rfc2822::to_string(&zoned) {
                prop_assert_eq!(day(&mail), Some(days), "{}", mail);
            }
            if SECONDS.contains(&(seconds as f64).abs()) {
                prop_assert_eq!(day(&seconds.to_string()), Some(days));
            }
            let thousandths = seconds * 1000 + 999;
            if MILLISECONDS.contains(&(thousandths as f64).abs()) && thousandths.to_string().len() != 14 {
                prop_assert_eq!(day(&thousandths.to_string()), Some(days));
            }
        }

        #[test]
        fn anything_may_be_a_date(value in "\\PC{0,40}|[0-9TZ:+. -]{0,30}") {
            day(&value);
        }
    }
}
