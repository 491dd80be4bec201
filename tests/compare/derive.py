#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes the cases of tests/unit/test_compare.c: sample files, the tables that must come
# out to the letter, and p-values.  It shares nothing with drainctl: the figures are
# exact fractions (deviations have 60 digits), rounded to a double at the very end, and
# the p-values are scipy's.  README.md tells more.  Not run by the tests; run it in this
# folder, with python3-scipy, when a case is added.

import math
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

from scipy import stats

getcontext().prec = 60
ORDERS = ["1st-qrtle 25", "2nd-qrtle 50", "3rd-qrtle 75", "Max-1 1", "Max-5 5", "Max-10 10",
          "Max-90 90", "Max-95 95", "Max-99 99"]


def root(x):
    return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).sqrt())


def figures(texts):
    xs = sorted(Fraction(t) for t in texts)
    n = len(xs)

    def k(p):
        return max(1, math.floor(Fraction(n * p, 100)))

    rows = {"Min": xs[0]}
    for name, p in (o.split() for o in ORDERS):
        rows[name] = xs[k(int(p)) - 1]
    rows["Max"] = xs[-1]
    mean = rows["Amean"] = sum(xs) / n
    rows["Stddev"] = root(sum((x - mean) ** 2 for x in xs) / (n - 1)) if n > 1 else Fraction(0)
    rows["CoeffVar"] = 100 * rows["Stddev"] / mean if mean and n > 1 else Fraction(0)
    for p in (99, 95, 90, 75, 50, 25):
        rows["BAmean-%d" % p] = sum(xs[:k(p)]) / k(p)
    return rows


def better(base, new):
    if base == new:
        return Fraction(0)
    if new == 0:
        return Fraction(100)
    if base == 0:
        return Fraction(-99)
    return 100 - 100 * new / base


def welch(a, b):
    fa, fb = figures(a), figures(b)
    se = math.sqrt(fa["Stddev"] ** 2 / len(a) + fb["Stddev"] ** 2 / len(b))
    diff = fa["Amean"] - fb["Amean"]
    df = len(a) + len(b) - 2
    if not se:
        return 0.0, df, 0.0 if diff else 1.0
    t = float(abs(diff)) / se
    return t, df, 2 * stats.t.sf(t, df)


def table(names, runs):
    lines = ["", ""]
    for name in names:
        minus = name.find("-")
        above = name[:-1] if minus < 0 else name[:minus]
        lines[0] += above.rjust(23)
        lines[1] += name[minus + 1:].rjust(23)
    lines = [(14 * " " + line).rstrip() for line in lines]
    all_figures = [figures(r) for r in runs]
    for row in all_figures[0]:
        line = "%-9s %-4s" % (row, "Time")
        for i, f in enumerate(all_figures):
            percent = better(all_figures[0][row], f[row])
            if row == "Stddev" and min(len(runs[0]), len(runs[i])) < 2:
                percent = Fraction(0)
            star = row == "Amean" and i > 0 and welch(runs[0], runs[i])[2] < 0.1
            line += "%12.2f" % float(f[row])
            line += " *%7.2f%%*" % float(percent) if star else " (%7.2f%%)" % float(percent)
        lines.append(line)
    return "\n".join(lines) + "\n"


def mann_whitney(a, b):
    """U of b over a, with scipy's p."""
    a, b = [float(x) for x in a], [float(x) for x in b]
    if len(set(a + b)) == 1:
        return len(a) * len(b) / 2, 1.0
    r = stats.mannwhitneyu(b, a, alternative="two-sided", method="asymptotic")
    return r.statistic, min(1.0, r.pvalue)


def resampled_medians(texts):
    """The exact distribution of a resample's median, for odd n."""
    xs = sorted(Fraction(t) for t in texts)
    n, middle = len(xs), (len(xs) + 1) // 2
    upto = [stats.binom.sf(middle - 1, n, j / n) for j in range(n + 1)]
    return [(x, upto[j + 1] - upto[j]) for j, x in enumerate(xs)]


def interval_bounds(a, b):
    """Where the ends of the 95 % interval may lie: exact 2 %, 3 %, 97 % and 98 %."""
    da, db = resampled_medians(a), resampled_medians(b)
    diffs = sorted((y - x, p * q) for x, p in da for y, q in db)
    out, total, want = [], 0.0, [0.02, 0.03, 0.97, 0.98]
    for d, p in diffs:
        total += p
        while want and total >= want[0]:
            out.append(float(d))
            want.pop(0)
    return out


# ---- cases ----

state = 12345


def draw():
    """Numbers from 0 to 1 (the minimal standard generator)."""
    global state
    state = state * 48271 % 2147483647
    return state / 2147483647


def times(n, base, spread):
    return ["%.3f" % (base - spread * math.log(1 - draw())) for _ in range(n)]


def read(path):
    with open(path) as f:
        return f.read().split()


def cases():
    for n in (1, 2, 3, 4, 20, 99, 100, 101, 256):
        yield "n%d" % n, ["baseline/", "with-patch/"], [times(n, 330, 15), times(n, 333, 14)]
    a = times(64, 20, 5)
    yield "equal", ["base", "same"], [a, sorted(a)]
    yield "zero", ["base", "faster", "slower"], [
        ["0", "0", "5", "7"], ["0", "0", "0", "0"], ["0.000", "1.5", "5", "9"]]
    yield "allzero", ["zero", "zero-again", "not"], [["0"] * 5, ["0.0"] * 5, ["3"] * 5]
    yield "flat", ["flat", "flat-too", "flat-higher", "not"], [
        ["333.333"] * 30, ["333.333"] * 30, ["333.334"] * 30, times(30, 333, 1)]
    yield "beyond", ["base", "slow-er", "slow-est"], [
        times(16, 1, 1), times(16, 30, 1), times(16, 123456, 1)]
    yield "unequal", ["one", "five", "seven-teen"], [
        ["10.5"], ["11", "9", "12.25", "10", "10.125"], times(17, 10, 1)]
    yield "unequal2", ["five", "one"], [["11", "9", "12.25", "10", "10.125"], ["10.5"]]
    yield "four", ["6.1-rc1-fix", "-lead", "trail-", "x"], [
        times(40, 100, 9), times(40, 100, 9), times(40, 110, 9), times(40, 90, 9)]
    yield "long", ["a-name-of-more-characters-than-its-column", "\u00fcber-\u00e4nderung",
                   "one-column-of-many-letters", "\u00e9t\u00e9"], [
        times(10, 100, 9) for _ in range(4)]


def main():
    out = open("stats.txt", "w")
    out.write("# SPDX-License-Identifier: GPL-2.0-only\n"
              "# Of each case and each run after its first: the numbers that derive.py and scipy\n"
              "# %s find: case run t df p U U's-p, and for odd n where the ends of the\n"
              "# bootstrap interval of the medians may lie, else -.\n" % sys.modules["scipy"].__version__)
    published = [read("baseline.txt"), read("with-patch.txt")]
    todo = [("published", ["baseline/", "with-patch/"], published)] + list(cases())
    for name, names, runs in todo:
        with open("cases/%s.table" % name, "w") as f:
            f.write(table(names, runs))
        for i, run in enumerate(runs):
            if name != "published":
                with open("cases/%s-%d.txt" % (name, i), "w") as f:
                    f.write("\n".join(run) + "\n")
            if not i:
                continue
            t, df, p = welch(runs[0], run)
            u, up = mann_whitney(runs[0], run)
            odd = len(run) % 2 and len(runs[0]) % 2
            ends = interval_bounds(runs[0], run) if odd else ["-"] * 4
            out.write("%s %d %.15g %d %.15g %.15g %.15g %s\n" % (
                name, i, t, df, p, u, up, " ".join(str(e) for e in ends)))
    out.close()


main()
