#!/usr/bin/env python3
"""Report risky PostgreSQL statements in SQL files.

Usage:
    find_risky_sql.py PATH [PATH...] [--format text|json] [--min-severity LEVEL]
    find_risky_sql.py - < change.sql
    find_risky_sql.py --list-rules

PATH is a file, a directory (searched for *.sql) or "-" for standard input.
The check is textual: it needs no database, and knows nothing of table sizes.
Comments, string literals and dollar-quoted bodies are not searched. Tables
created in the same file count as empty, so locking rules skip them.

Exit codes:
    0  no finding at or above --min-severity
    1  at least one finding
    2  wrong arguments, or a path could not be read
"""

import argparse
import json
import os
import re
import sys

LEVELS = ["low", "medium", "high", "critical"]
NAME = r'((?:"[^"]+"|[\w$]+)(?:\s*\.\s*(?:"[^"]+"|[\w$]+))*)'

RULES = {
    "delete-without-where": ("critical", "DELETE without WHERE removes every row",
                             "add a condition, or state that emptying the table is intended"),
    "update-without-where": ("critical", "UPDATE without WHERE changes every row",
                             "add a condition and batch large updates"),
    "always-true-where": ("critical", "WHERE condition is always true",
                          "replace it with a real condition"),
    "truncate": ("critical", "TRUNCATE removes all rows under ACCESS EXCLUSIVE",
                 "delete in batches, or confirm that the table is disposable"),
    "drop-table": ("critical", "dropping a table, schema or database loses its data",
                   "confirm that nothing reads it and that a backup was restored as a test"),
    "drop-column": ("critical", "DROP COLUMN loses data and breaks code that still uses the column",
                    "release code that ignores the column first; drop it in a later release"),
    "drop-cascade": ("critical", "CASCADE also drops dependent objects",
                     "list the dependent objects and drop them by name"),
    "row-security-off": ("critical", "row-level security is disabled or no longer forced",
                         "keep it on; use a role with BYPASSRLS for maintenance"),
    "index-blocks-writes": ("high", "CREATE INDEX blocks writes until the build ends",
                            "CREATE INDEX CONCURRENTLY outside a transaction"),
    "concurrently-in-transaction": ("high", "CONCURRENTLY fails inside a transaction block",
                                    "put it in its own non-transactional migration"),
    "constraint-scan": ("high", "adding this constraint scans the table while holding a lock",
                        "add it NOT VALID, then VALIDATE CONSTRAINT in a later transaction"),
    "constraint-builds-index": ("high", "builds an index under ACCESS EXCLUSIVE",
                                "build a unique index CONCURRENTLY, then ADD CONSTRAINT ... USING INDEX"),
    "set-not-null": ("high", "SET NOT NULL scans the table under ACCESS EXCLUSIVE",
                     "validate CHECK (col IS NOT NULL) first; the scan is then skipped (12+)"),
    "alter-type": ("high", "changing a column type may rewrite the table and its indexes",
                   "check whether this change rewrites; if so use a new column and a backfill"),
    "add-not-null-column": ("high", "new NOT NULL column without a default fails if rows exist",
                            "add it nullable, backfill, then enforce"),
    "rewrite-on-add-column": ("high", "this new column makes PostgreSQL rewrite the table",
                              "add it without the default, backfill in batches, then set the default"),
    "rename": ("high", "a rename breaks code that still uses the old name",
               "add the new name, write to both, then drop the old one"),
    "exclusive-maintenance": ("high", "blocks the table for the whole run",
                              "use REINDEX CONCURRENTLY, plain VACUUM or pg_repack"),
    "lock-table": ("high", "explicit table lock", "justify the mode and hold it briefly"),
    "null-comparison": ("high", "comparison with NULL is never true",
                        "IS NULL, IS NOT NULL or IS DISTINCT FROM"),
    "grant-public": ("high", "grants a right to every role", "grant to a named role"),
    "security-definer-path": ("high", "SECURITY DEFINER without a fixed search_path",
                              "add SET search_path to the function"),
    "not-in-subquery": ("medium", "NOT IN with a subquery matches nothing if it yields a NULL",
                        "NOT EXISTS"),
    "drop-index-blocks": ("medium", "DROP INDEX takes ACCESS EXCLUSIVE on the table",
                          "DROP INDEX CONCURRENTLY outside a transaction"),
    "refresh-blocks-reads": ("medium", "REFRESH MATERIALIZED VIEW blocks reads",
                             "REFRESH ... CONCURRENTLY (needs a unique index)"),
    "no-lock-timeout": ("medium", "lock-taking DDL without SET lock_timeout in this file",
                        "SET lock_timeout = '2s' and retry, unless the migration tool sets it"),
    "leading-wildcard": ("medium", "LIKE pattern starts with a wildcard, so a B-tree is no use",
                         "trigram index (pg_trgm), full-text search, or another condition"),
    "cascade-delete": ("low", "ON DELETE CASCADE can remove many rows from one delete",
                       "confirm that it is intended, and index the referencing column"),
    "select-star": ("low", "SELECT * depends on column order and reads unused columns",
                    "name the columns"),
    "large-offset": ("low", "OFFSET reads and discards the skipped rows", "keyset pagination"),
    "timestamp-without-zone": ("low", "timestamp without time zone stores no instant", "timestamptz"),
}


def die(message):
    print("find_risky_sql.py: error: " + message, file=sys.stderr)
    sys.exit(2)


def mask(sql):
    """Blank out comments, literals and dollar-quoted bodies, keeping all offsets."""
    out, i, n = list(sql), 0, len(sql)

    def blank(start, end):
        for k in range(start, min(end, n)):
            if out[k] != "\n":
                out[k] = " "

    while i < n:
        two = sql[i:i + 2]
        if two == "--":
            end = sql.find("\n", i)
            end = n if end < 0 else end
            blank(i, end)
            i = end
        elif two == "/*":
            depth, j = 1, i + 2
            while j < n and depth:
                if sql.startswith("/*", j):
                    depth, j = depth + 1, j + 2
                elif sql.startswith("*/", j):
                    depth, j = depth - 1, j + 2
                else:
                    j += 1
            blank(i, j)
            i = j
        elif sql[i] == "'":
            escapes = i > 0 and sql[i - 1] in "eE" and not (i > 1 and (sql[i - 2].isalnum() or sql[i - 2] == "_"))
            j = i + 1
            while j < n:
                if escapes and sql[j] == "\\":
                    j += 2
                elif sql[j] == "'" and sql[j + 1:j + 2] == "'":
                    j += 2
                elif sql[j] == "'":
                    break
                else:
                    j += 1
            blank(i + 1, j)
            i = j + 1
        elif sql[i] == '"':
            j = sql.find('"', i + 1)
            j = n if j < 0 else j
            for k in range(i + 1, j):
                if out[k] in ";()," or out[k].isspace() and out[k] != "\n":
                    out[k] = "_"
            i = j + 1
        elif sql[i] == "$" and not (i and (sql[i - 1].isalnum() or sql[i - 1] == "_")):
            tag = re.match(r"\$(?:[A-Za-z_]\w*)?\$", sql[i:i + 70])
            if not tag:
                i += 1
                continue
            end = sql.find(tag.group(), i + len(tag.group()))
            end = n if end < 0 else end + len(tag.group())
            blank(i, end)
            i = end
        elif sql[i] == "\\" and sql[sql.rfind("\n", 0, i) + 1:i].strip() == "":
            end = sql.find("\n", i)
            end = n if end < 0 else end
            blank(i, end)
            i = end
        elif sql[i] == ";":
            start = "".join(out[max(0, i - 2000):i]).rsplit(";", 1)[-1]
            i += 1
            if re.match(r"\s*copy\b.*\bfrom\s+stdin\b", start, re.I | re.S):
                stop = re.compile(r"^\\\.[ \t]*$", re.M).search(sql, i)
                end = stop.end() if stop else n
                blank(i, end)
                i = end
        else:
            i += 1
    return "".join(out)


def statements(masked):
    """Yield (offset, text) of each statement."""
    start = 0
    for pos in [m.start() for m in re.finditer(";", masked)] + [len(masked)]:
        text = masked[start:pos]
        lead = len(text) - len(text.lstrip())
        if text.strip():
            yield start + lead, text.strip()
        start = pos + 1


def levels(text):
    """Yield (offset, text) for the statement and each bracketed query in it,
    with deeper brackets blanked, so that clauses are matched at their own level."""
    stack, spans = [], [(0, len(text))]
    for i, char in enumerate(text):
        if char == "(":
            stack.append(i + 1)
        elif char == ")" and stack:
            begin = stack.pop()
            if re.match(r"\s*(select|update|delete|insert|with)\b", text[begin:i], re.I):
                spans.append((begin, i))
    for begin, end in spans:
        depth, chars = 0, []
        for char in text[begin:end]:
            if char == ")":
                depth -= 1
            chars.append(char if depth <= 0 or char == "\n" else " ")
            if char == "(":
                depth += 1
        yield begin, "".join(chars)


def split_actions(text):
    """Split the actions of ALTER TABLE at commas outside brackets; yield (offset, action)."""
    depth = start = 0
    for i, char in enumerate(text + ","):
        depth += (char == "(") - (char == ")")
        if char == "," and depth <= 0:
            part = text[start:i]
            yield start + len(part) - len(part.lstrip()), part.strip()
            start = i + 1


def plain(name):
    """Normalise a table name; an unqualified name is in "public"."""
    parts = [p.strip() for p in re.findall(r'"[^"]+"|[^.\s]+', name)]
    parts = [p[1:-1] if p.startswith('"') else p.lower() for p in parts]
    return ".".join(parts[1:] if len(parts) > 1 and parts[0] == "public" else parts)


def has(pattern, text):
    return re.search(pattern, text, re.I | re.S)


def check_alter(text, new_tables, add):
    head = re.match(r"alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?" + NAME + r"\s*\*?\s+", text, re.I)
    if not head:
        return False
    fresh = plain(head.group(1)) in new_tables
    body = head.end()
    locking = False
    for offset, action in split_actions(text[body:]):
        at = body + offset
        if has(r"^drop\s+(?!constraint\b|default\b|identity\b|expression\b|not\b)", action):
            add("drop-column", at)
        if has(r"^drop\b.*\bcascade\b", action):
            add("drop-cascade", at)
        if has(r"^rename\b", action) and not has(r"^rename\s+constraint\b", action):
            add("rename", at)
        if has(r"^(disable|no\s+force)\s+row\s+level\s+security", action):
            add("row-security-off", at)
        if has(r"\bon\s+delete\s+cascade\b", action):
            add("cascade-delete", at)
        if not has(r"^validate\b", action):
            locking = locking or not fresh
        if fresh:
            continue
        if has(r"^alter\s+(?:column\s+)?" + NAME + r"\s+(?:set\s+data\s+)?type\b", action):
            add("alter-type", at)
        if has(r"^alter\s+(?:column\s+)?" + NAME + r"\s+set\s+not\s+null\b", action):
            add("set-not-null", at)
        table_constraint = has(r"^add\s+(constraint\b|check\b|foreign\s+key\b|unique\b|primary\s+key\b|exclude\b)",
                               action)
        if table_constraint:
            scans = has(r"\b(check\s*\(|foreign\s+key\b)", action)
            if scans and not has(r"\bnot\s+valid\b", action):
                add("constraint-scan", at)
            if has(r"\b(unique|primary\s+key|exclude)\b", action) and not scans \
                    and not has(r"\busing\s+index\b(?!\s+tablespace)", action):
                add("constraint-builds-index", at)
        elif has(r"^add\b", action):
            generated = has(r"\bgenerated\b.*\b(stored|identity)\b", action)
            serial = has(r"\b(big|small)?serial\b", action)
            default = has(r"\bdefault\b(?!\s+as\s+identity)", action)
            if generated or serial or has(r"\bdefault\b.*\b(gen_random_uuid|uuid_generate_v\w+|uuidv[47]|"
                                          r"random|clock_timestamp|timeofday|nextval)\s*\(", action):
                add("rewrite-on-add-column", at)
            elif has(r"\bnot\s+null\b", action) and not default:
                add("add-not-null-column", at)
            if has(r"\b(unique|primary\s+key)\b", action):
                add("constraint-builds-index", at)
            if has(r"\b(references\b|check\s*\()", action) and \
                    (default or has(r"\bcheck\s*\(", action)):
                add("constraint-scan", at)
    return locking


def check_dml(text, raw, add):
    for begin, level in levels(text):
        if has(r"^\s*(explain\b.*?)?\s*(with|update|delete)\b", level):
            hits = list(re.finditer(r"\b(update|delete\s+from)\b", level, re.I))
            for hit in hits:
                before = level[:hit.start()].rstrip().lower()
                if hit.group(1).lower() == "update" and re.search(r"\b(for|key|do|on)$", before):
                    continue
                kind = hit.group(1).split()[0].lower()
                if kind == "update" and not has(r"\bset\b", level[hit.end():]):
                    continue
                where = has(r"\bwhere\b(.*)", level[hit.end():])
                if not where:
                    add(kind + "-without-where", begin + hit.start())
                elif re.match(r"\s*\(?\s*(true|1\s*=\s*1)\s*\)?\s*(returning\b.*)?$", where.group(1), re.I | re.S):
                    add("always-true-where", begin + hit.start())
        for hit in re.finditer(r"\bselect\s+(?:distinct\s+)?(?:\w+\s*\.\s*)?\*(?!\s*\d)", level, re.I):
            if not re.search(r"\bexists\s*\(\s*$", text[:begin + hit.start()], re.I):
                add("select-star", begin + hit.start())
        for hit in re.finditer(r"\boffset\s+(\d{4,})", level, re.I):
            add("large-offset", begin + hit.start())
    for hit in re.finditer(r"\bnot\s+in\s*\(\s*(select|with)\b", text, re.I):
        add("not-in-subquery", hit.start())
    for hit in re.finditer(r"(?:<>|!=)\s*null\b", text, re.I):
        add("null-comparison", hit.start())
    for hit in re.finditer(r"(?<![<>!:=])=\s*null\b", text, re.I):
        before = text[:hit.start()]
        clause = re.findall(r"\b(set|where|on|having|and|or|when|default|values)\b", before, re.I)
        if clause and clause[-1].lower() in ("where", "on", "having", "and", "or", "when"):
            add("null-comparison", hit.start())
    for hit in re.finditer(r"\bi?like\s+'", text, re.I):
        if raw[hit.end():hit.end() + 1] in ("%", "_"):
            add("leading-wildcard", hit.start())


def scan(sql, path):
    masked = mask(sql)
    findings, seen = [], set()
    parsed = list(statements(masked))
    new_tables = {plain(m.group(1)) for _, t in parsed for m in
                  [re.match(r"create\s+(?:(?:global|local)\s+)?(?:temp(?:orary)?\s+|unlogged\s+)?table\s+"
                            r"(?:if\s+not\s+exists\s+)?" + NAME, t, re.I)]
                  if m and not has(r"^create\s.*?table\s+if\s+not\s+exists", t[:m.end()])}
    in_transaction = timeout = False
    first_locking = None

    for offset, text in parsed:
        raw = sql[offset:offset + len(text)]

        def add(rule, at, offset=offset, text=text):
            position = offset + at
            line = masked.count("\n", 0, position) + 1
            if (rule, position) in seen:
                return
            seen.add((rule, position))
            severity, problem, instead = RULES[rule]
            end = min(offset + len(text), position + 160)
            findings.append({"file": path, "line": line, "rule": rule, "severity": severity,
                             "problem": problem, "instead": instead,
                             "statement": " ".join(sql[position:end].split())[:120]})

        if has(r"^(begin(?!\s+atomic)|start\s+transaction)\b", text):
            in_transaction = True
        elif has(r"^(commit|end|rollback(?!\s+to)|abort)\b", text):
            in_transaction = False
        elif has(r"^set\s+(local\s+|session\s+)?lock_timeout\b", text):
            timeout = True
        elif has(r"^select\b.*\bset_config\s*\(", text) and "lock_timeout" in raw.lower():
            timeout = True

        locking = False
        if has(r"^alter\s+table\b", text):
            locking = check_alter(text, new_tables, add)
        elif has(r"^create\s+(unique\s+)?index\b", text):
            target = has(r"\bon\s+(only\s+)?" + NAME, text)
            fresh = target and plain(target.group(2)) in new_tables
            if has(r"^create\s+(unique\s+)?index\s+concurrently\b", text):
                if in_transaction:
                    add("concurrently-in-transaction", 0)
            elif not fresh and not (target and target.group(1)):
                add("index-blocks-writes", 0)
                locking = True
        elif has(r"^drop\s+index\b", text):
            if not has(r"^drop\s+index\s+concurrently\b", text):
                add("drop-index-blocks", 0)
                locking = True
            elif in_transaction:
                add("concurrently-in-transaction", 0)
        elif has(r"^reindex\b", text):
            if not has(r"\bconcurrently\b", text):
                add("exclusive-maintenance", 0)
            elif in_transaction:
                add("concurrently-in-transaction", 0)
        elif has(r"^(cluster\b|vacuum\s+(\([^)]*\bfull\b|full\b))", text):
            add("exclusive-maintenance", 0)
        elif has(r"^truncate\b", text):
            add("truncate", 0)
            locking = True
        elif has(r"^drop\s+(table|schema|database)\b", text):
            add("drop-table", 0)
            locking = True
        elif has(r"^lock\s+(table\b)?", text):
            add("lock-table", 0)
        elif has(r"^refresh\s+materialized\s+view\s+(?!concurrently\b)", text):
            add("refresh-blocks-reads", 0)
        elif has(r"^alter\s+type\b.*\brename\b", text):
            add("rename", 0)
        if has(r"^(truncate|drop)\b.*\bcascade\b", text):
            add("drop-cascade", 0)
        if has(r"^grant\b.*\bto\b.*\bpublic\b", text):
            add("grant-public", 0)
        if has(r"^create\b.*\b(function|procedure)\b.*\bsecurity\s+definer\b", text) \
                and not has(r"\bset\s+search_path\b", text):
            add("security-definer-path", 0)
        if has(r"^create\s+(\w+\s+)?table\b", text):
            for hit in re.finditer(r"\bon\s+delete\s+cascade\b", text, re.I):
                add("cascade-delete", hit.start())
        if has(r"^(create\s+(\w+\s+)?table|alter\s+table)\b", text):
            for hit in re.finditer(r"\btimestamp\b(?!\s*(\(\d\))?\s*with\s+time\s+zone)(?=[\s,()])", text, re.I):
                add("timestamp-without-zone", hit.start())
        if has(r"^(with|select|update|delete|insert|explain|create\s+(or\s+replace\s+)?(materialized\s+)?view)\b", text):
            check_dml(text, raw, add)
        if locking and not timeout and first_locking is None:
            first_locking = (add, 0)
    if first_locking:
        first_locking[0]("no-lock-timeout", first_locking[1])
    return findings


def collect(paths):
    for path in paths:
        if path == "-":
            yield "<stdin>", sys.stdin.buffer.read()
            continue
        if os.path.isdir(path):
            names = sorted(os.path.join(root, f) for root, _, files in os.walk(path)
                           for f in files if f.lower().endswith(".sql"))
            if not names:
                print("find_risky_sql.py: warning: no .sql files in " + path, file=sys.stderr)
        else:
            names = [path]
        for name in names:
            try:
                with open(name, "rb") as handle:
                    yield name, handle.read()
            except OSError as exc:
                die("cannot read %s: %s" % (name, exc.strerror or exc))


def main():
    parser = argparse.ArgumentParser(description="Report risky PostgreSQL statements in SQL files.",
                                     epilog="Exit codes: 0 nothing found, 1 findings, 2 cannot read input.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="file, directory or - for stdin")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--min-severity", choices=LEVELS, default="low")
    parser.add_argument("--list-rules", action="store_true", help="print the rules and exit")
    args = parser.parse_args()
    if args.list_rules:
        for rule, (severity, problem, _) in RULES.items():
            print("%-9s %-28s %s" % (severity, rule, problem))
        return 0
    if not args.paths:
        parser.error("give at least one PATH, or - for stdin")
    findings, count = [], 0
    for name, data in collect(args.paths):
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            print("find_risky_sql.py: warning: %s is not UTF-8; read as latin-1" % name, file=sys.stderr)
            text = data.decode("latin-1")
        count += 1
        findings += scan(text.replace("\r\n", "\n"), name)
    findings = [f for f in findings if LEVELS.index(f["severity"]) >= LEVELS.index(args.min_severity)]
    findings.sort(key=lambda f: (-LEVELS.index(f["severity"]), f["file"], f["line"], f["rule"]))
    try:
        if args.format == "json":
            print(json.dumps({"files": count, "findings": findings}, indent=2), flush=True)
        else:
            for f in findings:
                print("[%s] %s:%d %s\n  %s\n  problem: %s\n  instead: %s"
                      % (f["severity"], f["file"], f["line"], f["rule"], f["statement"],
                         f["problem"], f["instead"]))
            print("%d finding(s) in %d file(s)" % (len(findings), count), flush=True)
    except BrokenPipeError:
        sys.stderr.close()  # the reader stopped early, for example `| head`
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
