#!/usr/bin/env python3
"""Print a JSON profile of a delimited text file.

Usage:
    profile_csv.py FILE [--delimiter CHAR] [--encoding NAME] [--key COL[,COL...]]
                        [--no-header] [--max-rows N] [--examples N]

The file is read as text only; nothing is converted or written. The profile
covers encoding, delimiter, header, row lengths, types, nulls and duplicates.
Use "\\t" or "tab" as the delimiter for tab-separated files.

Exit codes:
    0  profile printed, no structural problems
    1  profile printed, problems found (bad bytes, ragged rows, header problems,
       malformed quoting, blank or repeated keys)
    2  no profile: wrong arguments, unreadable or empty file, unknown encoding
"""

import argparse
import codecs
import csv
import hashlib
import io
import json
import re
import sys
from collections import Counter

NULL_TOKENS = {
    "", "null", "n/a", "na", "-", "--", "none", "nan", "#n/a", "?", "tbc", "(null)", "\\n",
}
DELIMITERS = [",", ";", "\t", "|"]
DISTINCT_CAP = 200000
DUPLICATE_CAP = 5000000
# UTF-8 text that was decoded as Windows-1252: a lead character followed by what
# a continuation byte (0x80-0xBF) looks like in that code page.
_CONT = "[\u0080-\u00bf\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152" \
        "\u017d\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]"
MOJIBAKE = re.compile("[\u00c2\u00c3]" + _CONT + "|\u00e2" + _CONT + "{2}")

PATTERNS = [
    ("boolean", re.compile(r"^(true|false|yes|no|y|n)$", re.I)),
    ("integer", re.compile(r"^[+\-\u2212]?\d+$")),
    ("decimal", re.compile(r"^[+\-\u2212]?(\d+\.\d*|\.\d+)$")),
    ("scientific", re.compile(r"^[+-]?\d+(\.\d+)?[eE][+-]?\d+$")),
    ("datetime", re.compile(r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?$")),
    ("date_iso", re.compile(r"^\d{4}-\d{2}-\d{2}$")),
    ("date_local", re.compile(r"^(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d{2})$")),
    ("number_formatted", re.compile(
        r"^\(?[+\-\u2212]?\d{1,3}([.,' \u00a0\u202f]\d{2,3})+([.,]\d+)?\)?-?$"
        r"|^[+\-\u2212]?\d+,\d+$|^\(\d+([.,]\d+)?\)$")),
    ("percent", re.compile(r"^[+\-\u2212]?\d+([.,]\d+)?\s*%$")),
    ("currency", re.compile(r"^[+\-\u2212]?\s*[$\u20ac\u00a3\u00a5]\s*[\d.,' \u00a0]+$"
                            r"|^[+\-\u2212]?[\d.,' \u00a0]+\s*[$\u20ac\u00a3\u00a5]$")),
    ("email", re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")),
]


def fail(message):
    print("profile_csv.py: error: " + message, file=sys.stderr)
    sys.exit(2)


def decode(raw, forced):
    """Return (text, encoding name, list of problems)."""
    problems = []
    if forced:
        try:
            return raw.decode(forced), forced, problems
        except LookupError:
            fail("not a known text encoding: " + forced)
        except UnicodeDecodeError as exc:
            line = raw.count(b"\n", 0, exc.start) + 1
            problems.append({"kind": "undecodable_bytes", "first_line": line,
                             "detail": "not valid %s; replaced with U+FFFD" % forced})
            return raw.decode(forced, errors="replace"), forced, problems
        except UnicodeError as exc:
            fail("cannot decode as %s: %s" % (forced, exc))
    for bom, name in ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"),
                      (codecs.BOM_UTF16_BE, "utf-16")):
        if raw.startswith(bom):
            text, bad = raw.decode(name, errors="replace"), False
            try:
                raw.decode(name)
            except UnicodeError:
                bad = True
            if bad:
                problems.append({"kind": "undecodable_bytes",
                                 "detail": "byte-order mark says %s but some bytes are invalid" % name})
            return text, name, problems
    sample = raw[:4000]
    if len(sample) > 3:
        for offset, name in ((1, "utf-16-le"), (0, "utf-16-be")):
            half = sample[offset::2]
            if half.count(0) > 0.8 * len(half):
                problems.append({"kind": "utf16_without_bom", "detail": "guessed from NUL bytes"})
                return raw.decode(name, errors="replace"), name, problems
    try:
        text = raw.decode("utf-8")
        return text, ("ascii" if text.isascii() else "utf-8"), problems
    except UnicodeDecodeError as exc:
        line = raw.count(b"\n", 0, exc.start) + 1
    bad_lines, multibyte_lines = [], 0
    for number, chunk in enumerate(raw.split(b"\n"), 1):
        try:
            if not chunk.decode("utf-8").isascii():
                multibyte_lines += 1
        except UnicodeDecodeError:
            bad_lines.append(number)
    if multibyte_lines:
        problems.append({"kind": "mixed_encoding", "first_line": line,
                         "lines": bad_lines[:20], "line_count": len(bad_lines),
                         "detail": "%d line(s) hold valid multi-byte UTF-8 but these do not; "
                                   "probably several sources joined" % multibyte_lines})
        return raw.decode("utf-8", errors="replace"), "utf-8", problems
    problems.append({"kind": "not_utf8", "first_line": line, "line_count": len(bad_lines),
                     "detail": "guessed cp1252; confirm by looking at accented words"})
    return raw.decode("cp1252", errors="replace"), "cp1252 (guess)", problems


def guess_delimiter(text):
    """Choose the delimiter that gives the most consistent multi-column rows."""
    sample = text[:200000]
    best, best_score = ",", 0.0
    for candidate in DELIMITERS:
        try:
            rows = [r for _, r in zip(range(200), csv.reader(io.StringIO(sample, newline=""),
                                                             delimiter=candidate)) if r]
        except csv.Error:
            continue
        if not rows:
            continue
        width, hits = Counter(len(r) for r in rows).most_common(1)[0]
        if width < 2:
            continue
        score = hits / len(rows) + min(width, 50) / 1000
        if score > best_score:
            best, best_score = candidate, score
    return best


def classify(value):
    for name, pattern in PATTERNS:
        if pattern.match(value):
            return name
    return "text"


class Column:
    def __init__(self, name, index, examples):
        self.name, self.index, self.limit = name, index, examples
        self.types, self.null_tokens, self.values = Counter(), Counter(), Counter()
        self.capped = False
        self.examples = {}
        self.padded = self.inner_space = self.zeros = self.long_digits = 0
        self.formula_text = 0
        self.date_first = self.date_second = self.newlines = 0
        self.min_len = self.max_len = None
        self.low = self.high = None

    def add(self, raw, line):
        value = raw.strip()
        if value != raw:
            self.padded += 1
        if value.lower() in NULL_TOKENS:
            self.null_tokens[value] += 1
            return
        if re.search("[\u00a0\u200b\u200c\u200d\ufeff]", value):
            self.inner_space += 1
        if "\n" in value or "\r" in value:
            self.newlines += 1
        kind = classify(value)
        self.types[kind] += 1
        seen = self.examples.setdefault(kind, [])
        if len(seen) < self.limit and value not in [e["value"] for e in seen]:
            seen.append({"line": line, "value": value[:80]})
        if kind == "integer":
            digits = value.lstrip("+-\u2212")
            if len(digits) > 1 and digits[0] == "0":
                self.zeros += 1
            if len(digits) > 15:
                self.long_digits += 1
        if kind in ("integer", "decimal"):
            number = float(value.replace("\u2212", "-"))
            self.low = number if self.low is None else min(self.low, number)
            self.high = number if self.high is None else max(self.high, number)
        if kind == "date_local":
            first, second, _ = re.split(r"[./-]", value)
            self.date_first += int(first) > 12
            self.date_second += int(second) > 12
        if value[0] in "=+-@" and kind == "text":
            self.formula_text += 1
        size = len(value)
        self.min_len = size if self.min_len is None else min(self.min_len, size)
        self.max_len = size if self.max_len is None else max(self.max_len, size)
        if len(self.values) < DISTINCT_CAP or value in self.values:
            self.values[value] += 1
        else:
            self.capped = True

    def main_type(self):
        kinds = set(self.types)
        if not kinds:
            return "empty"
        if len(kinds) == 1:
            return next(iter(kinds))
        if kinds == {"integer", "decimal"}:
            return "decimal"
        return "mixed"

    def report(self, rows):
        warnings = []
        kind = self.main_type()
        if kind == "mixed":
            warnings.append("several value types; see type_counts and examples")
        if self.zeros:
            warnings.append("%d value(s) with leading zeros: keep as text" % self.zeros)
        if self.long_digits:
            warnings.append("%d integer(s) longer than 15 digits: keep as text" % self.long_digits)
        if self.types["scientific"]:
            warnings.append("scientific notation: digits may have been lost in a spreadsheet")
        if self.types["date_local"]:
            if self.date_first and self.date_second:
                warnings.append("both day-first and month-first dates present")
            elif self.date_first:
                warnings.append("dates are day-first (%d value(s) prove it)" % self.date_first)
            elif self.date_second:
                warnings.append("dates are month-first (%d value(s) prove it)" % self.date_second)
            else:
                warnings.append("day/month order cannot be determined from this column")
        if len(self.null_tokens) > 1:
            warnings.append("more than one spelling of null")
        if self.padded:
            warnings.append("%d value(s) with leading or trailing whitespace" % self.padded)
        if self.inner_space:
            warnings.append("%d value(s) with non-breaking or zero-width characters" % self.inner_space)
        if self.newlines:
            warnings.append("%d value(s) contain line breaks" % self.newlines)
        if self.formula_text:
            warnings.append("%d text value(s) start with = + - or @ (spreadsheet formula risk)"
                            % self.formula_text)
        folded = {}
        if kind in ("text", "mixed", "boolean") and not self.capped:
            for value in self.values:
                folded.setdefault(" ".join(value.casefold().split()), []).append(value)
            clashes = [sorted(v) for v in folded.values() if len(v) > 1]
            if clashes:
                warnings.append("%d group(s) differ only in case or spacing, e.g. %s"
                                % (len(clashes), " / ".join(repr(v) for v in clashes[0][:3])))
        nulls = sum(self.null_tokens.values())
        out = {
            "name": self.name, "position": self.index + 1, "type": kind,
            "type_counts": dict(self.types.most_common()),
            "nulls": nulls, "null_percent": round(100.0 * nulls / rows, 2) if rows else 0.0,
            "null_tokens": dict(self.null_tokens.most_common(10)),
            "distinct": len(self.values), "distinct_capped": self.capped,
            "length": {"min": self.min_len, "max": self.max_len},
            "top_values": [{"value": v[:80], "count": c}
                           for v, c in self.values.most_common(5) if c > 1],
            "examples": self.examples, "warnings": warnings,
        }
        if self.low is not None:
            out["numeric_range"] = {"min": self.low, "max": self.high}
        return out


def header_report(header):
    problems = []
    for number, name in enumerate(header, 1):
        if not name.strip():
            problems.append({"kind": "blank_name", "position": number})
        elif name != name.strip():
            problems.append({"kind": "padded_name", "position": number, "name": name})
    counts = Counter(n.strip().lower() for n in header if n.strip())
    problems += [{"kind": "repeated_name", "name": n, "count": c} for n, c in counts.items() if c > 1]
    numeric = [n for n in header if classify(n.strip()) in
               ("integer", "decimal", "date_iso", "date_local", "datetime", "email")]
    if header and len(numeric) * 2 >= len(header):
        problems.append({"kind": "header_looks_like_data", "names": numeric[:5]})
    return problems


def profile(args):
    try:
        with open(args.file, "rb") as handle:
            raw = handle.read()
    except OSError as exc:
        fail("cannot read %s: %s" % (args.file, exc.strerror or exc))
    if not raw.strip():
        fail("%s is empty" % args.file)
    text, encoding, encoding_problems = decode(raw, args.encoding)
    replacement = text.count("\ufffd")
    if replacement:
        encoding_problems.append({"kind": "replacement_characters", "count": replacement})
    mojibake = MOJIBAKE.findall(text)
    if mojibake:
        encoding_problems.append({"kind": "probable_mojibake", "count": len(mojibake),
                                  "examples": sorted(set(mojibake))[:5]})
    nul = text.count("\x00")
    if nul:
        encoding_problems.append({"kind": "nul_characters", "count": nul,
                                  "detail": "removed for this profile"})
        text = text.replace("\x00", "")
    delimiter = args.delimiter or guess_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header, columns, ragged, structure = None, [], [], []
    rows = blank = repeated_header = ragged_total = 0
    widths, row_hashes, key_hashes = Counter(), {}, {}
    duplicate_rows = key_repeats = key_blank = 0
    duplicate_examples, key_examples, key_index = [], [], []
    truncated = dup_capped = False
    line_start = 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as exc:
            structure.append({"kind": "malformed_csv", "line": line_start, "detail": str(exc),
                              "effect": "profile stops here"})
            break
        line, line_start = line_start, reader.line_num + 1
        if not row or not any(cell.strip() for cell in row):
            blank += 1
            continue
        if header is None:
            header = ["column_%d" % (i + 1) for i in range(len(row))] if args.no_header else row
            columns = [Column(n.strip(), i, args.examples) for i, n in enumerate(header)]
            if args.key:
                names = [c.name for c in columns]
                for wanted in (k.strip() for k in args.key.split(",")):
                    if wanted not in names:
                        fail("key column %r not found; columns are: %s" % (wanted, ", ".join(names)))
                    key_index.append(names.index(wanted))
            if not args.no_header:
                continue
        if args.max_rows and rows >= args.max_rows:
            truncated = True
            break
        if row == header:
            repeated_header += 1
            continue
        rows += 1
        widths[len(row)] += 1
        if len(row) != len(header):
            ragged_total += 1
            if len(ragged) < 20:
                ragged.append({"line": line, "fields": len(row), "start": delimiter.join(row)[:80]})
        for column, cell in zip(columns, row):
            column.add(cell, line)
        if len(row_hashes) < DUPLICATE_CAP:
            mark = hashlib.blake2b("\x1f".join(row).encode("utf-8", "replace"), digest_size=10).digest()
            if mark in row_hashes:
                duplicate_rows += 1
                if len(duplicate_examples) < 5:
                    duplicate_examples.append({"line": line, "first_line": row_hashes[mark]})
            else:
                row_hashes[mark] = line
        else:
            dup_capped = True
        if key_index:
            parts = [row[i].strip() if i < len(row) else "" for i in key_index]
            if any(p.lower() in NULL_TOKENS for p in parts):
                key_blank += 1
            else:
                mark = "\x1f".join(parts)
                if mark in key_hashes:
                    key_repeats += 1
                    if len(key_examples) < 5:
                        key_examples.append({"line": line, "first_line": key_hashes[mark],
                                             "value": parts})
                else:
                    key_hashes[mark] = line
    if header is None:
        fail("no rows found in %s" % args.file)
    header_problems = [] if args.no_header else header_report(header)
    endings = {"crlf": text.count("\r\n"), "lf": text.count("\n") - text.count("\r\n"),
               "cr": text.count("\r") - text.count("\r\n")}
    result = {
        "file": args.file, "bytes": len(raw), "encoding": encoding,
        "encoding_problems": encoding_problems, "line_endings": endings,
        "delimiter": delimiter, "delimiter_guessed": args.delimiter is None,
        "has_header": not args.no_header, "header_problems": header_problems,
        "structure_problems": structure, "rows": rows, "rows_limited": truncated,
        "blank_rows": blank, "repeated_header_rows": repeated_header,
        "column_count": len(header), "row_widths": {str(k): v for k, v in sorted(widths.items())},
        "ragged_rows": {"count": ragged_total, "examples": ragged},
        "duplicates": {"extra_rows": duplicate_rows, "capped": dup_capped,
                       "examples": duplicate_examples},
    }
    if key_index:
        result["key"] = {"columns": [columns[i].name for i in key_index], "repeated": key_repeats,
                         "blank": key_blank, "examples": key_examples}
    result["columns"] = [c.report(rows) for c in columns]
    bad = bool(encoding_problems or header_problems or structure or ragged_total
               or repeated_header or key_repeats or key_blank)
    return result, bad


def main():
    parser = argparse.ArgumentParser(description="Print a JSON profile of a delimited text file.",
                                     epilog="Exit codes: 0 clean, 1 problems found, 2 cannot profile.")
    parser.add_argument("file", help="path of the CSV or TSV file")
    parser.add_argument("--delimiter", help="one character, or 'tab' (default: guess)")
    parser.add_argument("--encoding", help="Python encoding name (default: guess)")
    parser.add_argument("--key", help="column(s) that should identify a row, separated by commas")
    parser.add_argument("--no-header", action="store_true", help="the first row is data")
    parser.add_argument("--max-rows", type=int, default=0, help="stop after N data rows (default: all)")
    parser.add_argument("--examples", type=int, default=2, help="example values per type (default: 2)")
    args = parser.parse_args()
    if args.delimiter in ("tab", "\\t"):
        args.delimiter = "\t"
    if args.delimiter is not None and (len(args.delimiter) != 1 or args.delimiter in '"\r\n'):
        fail("--delimiter must be 'tab' or one character other than a quote or line break")
    if args.max_rows < 0 or args.examples < 0:
        fail("--max-rows and --examples must not be negative")
    csv.field_size_limit(10000000)
    try:
        result, bad = profile(args)
    except (ValueError, TypeError, csv.Error) as exc:
        fail("cannot profile %s: %s" % (args.file, exc))
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    try:
        print(json.dumps(result, indent=2, ensure_ascii=not utf8), flush=True)
    except BrokenPipeError:
        sys.stderr.close()  # the reader stopped early, for example `| head`
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
