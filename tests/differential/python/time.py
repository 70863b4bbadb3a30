## datetime: construction and arithmetic
from datetime import date, datetime, timedelta
d = datetime(2026, 2, 28, 23, 59, 30)
print(d + timedelta(seconds=45), d.replace(year=2024) + timedelta(days=1), (date(2026, 3, 1) - date(2025, 3, 1)).days, d.weekday(), d.isocalendar())
## datetime: parsing and formatting
from datetime import datetime
d = datetime.strptime("03 Jul 2026 14:05", "%d %b %Y %H:%M")
print(d.isoformat(), d.strftime("%A %j %U %p %I"), datetime.fromisoformat("2026-07-01T12:00:00+02:00"), d.ctime())
## datetime: zones
from datetime import datetime, timedelta, timezone
a = datetime(2026, 1, 1, tzinfo=timezone.utc)
b = a.astimezone(timezone(timedelta(hours=5, minutes=30), "IST"))
print(b, b.tzname(), a == b, b.utcoffset(), a.timestamp())
## datetime: timedelta
from datetime import timedelta
t = timedelta(days=1, hours=2, milliseconds=5)
print(t, t.total_seconds(), t / 2, t // timedelta(hours=1), -t, abs(-t), timedelta(minutes=90) % timedelta(hours=1))
## datetime: errors and comparison
from datetime import date, datetime, timezone
for f in (lambda: date(2026, 2, 30), lambda: datetime(2026, 1, 1) < datetime(2026, 1, 1, tzinfo=timezone.utc)):
    try:
        f()
    except (TypeError, ValueError) as error:
        print(type(error).__name__)
print(date.min, date.max, date(2026, 1, 31) > date(2026, 1, 30), min(date(2026, 5, 1), date(2025, 5, 1)))
## datetime: last day of each month
import calendar
from datetime import date
print([date(2024, m, calendar.monthrange(2024, m)[1]).isoformat() for m in (1, 2, 12)])
## datetime: epoch
from datetime import datetime, timezone
print(datetime.fromtimestamp(0, timezone.utc), datetime.fromtimestamp(1.5e9, timezone.utc).isoformat(), datetime(1969, 12, 31, tzinfo=timezone.utc).timestamp())
## zoneinfo: offsets over the year
from datetime import datetime
from zoneinfo import ZoneInfo
for zone in ("Europe/Oslo", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"):
    print(zone, [datetime(2024, m, 1, tzinfo=ZoneInfo(zone)).utcoffset().total_seconds() for m in (1, 7)])
## zoneinfo: the hour that comes twice
from datetime import datetime
from zoneinfo import ZoneInfo
z = ZoneInfo("Europe/Berlin")
print([datetime(2024, 10, 27, 2, 30, fold=f, tzinfo=z).isoformat() for f in (0, 1)], z.key, repr(z))
## zoneinfo: unknown
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError
try:
    ZoneInfo("Nowhere/Atlantis")
except ZoneInfoNotFoundError as error:
    print("not found", "Atlantis" in str(error))
## calendar
import calendar
print(calendar.month(2026, 2))
print(calendar.isleap(2100), calendar.monthrange(2026, 2)[1], calendar.day_name[0], calendar.timegm((2026, 1, 1, 0, 0, 0)))
## calendar: weeks
import calendar
print(calendar.Calendar(6).monthdayscalendar(2026, 3), calendar.weekday(2026, 7, 1))
## time: conversions
import time
print(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1e9)), time.gmtime(0).tm_yday, calendar.timegm(time.gmtime(5)) if "calendar" in globals() else "-")
## time: clocks go on
import time
a, b = time.monotonic(), time.perf_counter()
time.sleep(0.02)
print(0.015 < time.monotonic() - a < 5, time.perf_counter() > b, time.time() > 1.7e9, time.time_ns() > 10**18)
## email dates
from email.utils import format_datetime, parsedate_to_datetime
d = parsedate_to_datetime("Wed, 01 Jul 2026 12:00:00 +0200")
print(d, format_datetime(d))
## timeit and sched
import sched, timeit
print(timeit.timeit("1 + 1", number=10) >= 0)
s, seen = sched.scheduler(), []
s.enter(0.02, 1, seen.append, ("b",))
s.enter(0.01, 1, seen.append, ("a",))
s.run()
print(seen)
