#!/usr/bin/env python3
"""Check the arithmetic of a JSON invoice and compare it with its purchase order.

Usage:
    check_totals.py INVOICE.json [--po ORDER.json] [--tolerance AMOUNT]
                    [--price-tolerance PERCENT] [--rounding half-up|half-even]
                    [--format text|json]

Use "-" to read the invoice from standard input. The fields are described in
references/fields.md. If --po is not given, the invoice's own "purchase_order"
is used when present. Amounts are decimal throughout; nothing is written.

Exit codes:
    0  everything agrees (within the tolerances)
    1  at least one difference
    2  wrong arguments, unreadable file, invalid JSON, or missing or invalid fields
"""

import argparse
import json
import sys
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation

NO_DECIMALS = {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX",
               "UYI", "VND", "VUV", "XAF", "XOF", "XPF"}
THREE_DECIMALS = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}
ZERO = Decimal(0)
HUNDRED = Decimal(100)


class InputError(Exception):
    pass


def load(path):
    try:
        if path == "-":
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        else:
            with open(path, "rb") as handle:
                text = handle.read().decode("utf-8-sig")
    except OSError as exc:
        raise InputError("cannot read %s: %s" % (path, exc.strerror or exc))
    except UnicodeDecodeError:
        raise InputError("%s is not UTF-8" % path)

    def no_constant(name):
        raise InputError("%s contains %s, which is not a number" % (path, name))

    try:
        data = json.loads(text, parse_float=Decimal, parse_constant=no_constant)
    except json.JSONDecodeError as exc:
        raise InputError("%s is not valid JSON: line %d: %s" % (path, exc.lineno, exc.msg))
    if not isinstance(data, dict):
        raise InputError("%s: expected a JSON object at the top" % path)
    return data


def number(item, field, where, default=None):
    """Read a decimal; a missing field without default is an input error."""
    value = item.get(field)
    if value is None:
        if default is None:
            raise InputError("%s: field '%s' is missing" % (where, field))
        return default
    if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
        raise InputError("%s: field '%s' must be a decimal string or a number" % (where, field))
    try:
        result = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        raise InputError("%s: field '%s' is not a decimal number: %r (use a point, no grouping)"
                         % (where, field, value))
    if not result.is_finite() or abs(result.adjusted()) > 15:
        raise InputError("%s: field '%s' is out of range: %s" % (where, field, value))
    return result


def items(parent, field, where, required=False):
    value = parent.get(field, [])
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise InputError("%s: '%s' must be a list of objects" % (where, field))
    if required and not value:
        raise InputError("%s: '%s' is missing or empty" % (where, field))
    return value


class Checker:
    def __init__(self, invoice, args):
        self.invoice, self.args = invoice, args
        currency = invoice.get("currency")
        if not isinstance(currency, str) or len(currency.strip()) != 3:
            raise InputError("invoice: 'currency' must be a three-letter ISO 4217 code")
        self.currency = currency.strip().upper()
        digits = 0 if self.currency in NO_DECIMALS else 3 if self.currency in THREE_DECIMALS else 2
        self.unit = Decimal(1).scaleb(-digits)
        self.mode = ROUND_HALF_UP if args.rounding == "half-up" else ROUND_HALF_EVEN
        self.method = invoice.get("tax_rounding", "either")
        if self.method not in ("total", "line", "either"):
            raise InputError("invoice: 'tax_rounding' must be total, line or either")
        self.gross_prices = invoice.get("prices_include_tax", False)
        if not isinstance(self.gross_prices, bool):
            raise InputError("invoice: 'prices_include_tax' must be true or false")
        self.credit = invoice.get("document_type", "invoice") == "credit_note"
        self.findings, self.passed, self.notes = [], [], []

    def round(self, value):
        return value.quantize(self.unit, rounding=self.mode)

    def money(self, value):
        return format(self.round(value), "f")

    def compare(self, what, stated, expected, tolerance=None):
        limit = self.args.tolerance if tolerance is None else tolerance
        difference = stated - expected
        if abs(difference) > limit:
            self.findings.append({"check": what, "stated": self.money(stated),
                                  "expected": self.money(expected),
                                  "difference": self.money(difference)})
        else:
            if difference:
                self.notes.append("%s differs by %s, within tolerance" % (what, self.money(difference)))
            self.passed.append(what)

    def line_amount(self, line, where):
        basis = number(line, "price_per", where, Decimal(1))
        if basis <= 0:
            raise InputError("%s: 'price_per' must be above zero" % where)
        amount = number(line, "quantity", where) * number(line, "unit_price", where) / basis
        amount -= amount * number(line, "discount_percent", where, ZERO) / HUNDRED
        return amount - number(line, "discount_amount", where, ZERO)

    def run(self):
        invoice = self.invoice
        entries = []  # (tax rate, amount)
        lines = items(invoice, "lines", "invoice", required=True)
        for position, line in enumerate(lines, 1):
            where = "invoice line %s" % line.get("line", position)
            stated = number(line, "amount", where)
            self.compare(where + " amount", stated, self.round(self.line_amount(line, where)))
            entries.append((number(line, "tax_rate", where), stated))
        for field, sign in (("charges", 1), ("allowances", -1)):
            for position, item in enumerate(items(invoice, field, "invoice"), 1):
                where = "%s %d" % (field[:-1], position)
                entries.append((number(item, "tax_rate", where), sign * number(item, "amount", where)))
        if any(rate < 0 or rate > 100 for rate, _ in entries):
            raise InputError("invoice: tax rates must be between 0 and 100")
        self.check_tax(entries)
        order = self.args.order if self.args.order is not None else invoice.get("purchase_order")
        if order is None:
            self.notes.append("no purchase order given; quantities and prices not compared")
        elif not isinstance(order, dict):
            raise InputError("purchase order: expected an object")
        else:
            self.check_order(order, lines)

    def tax_of(self, rate, amount):
        """Unrounded tax in an amount."""
        return amount * rate / (HUNDRED + rate) if self.gross_prices else amount * rate / HUNDRED

    def check_tax(self, entries):
        invoice = self.invoice
        rates = sorted({rate for rate, _ in entries}, reverse=True)
        total = {r: self.round(self.tax_of(r, sum(a for rate, a in entries if rate == r))) for r in rates}
        line = {r: sum((self.round(self.tax_of(r, a)) for rate, a in entries if rate == r), ZERO)
                for r in rates}
        stated_tax = number(invoice, "tax_total", "invoice")
        table = {}
        for position, row in enumerate(items(invoice, "tax_summary", "invoice"), 1):
            where = "tax summary row %d" % position
            rate = number(row, "rate", where)
            if rate in table:
                raise InputError("%s: rate %s appears twice; add the rows together" % (where, rate))
            table[rate] = (number(row, "base", where), number(row, "tax", where))

        if self.method == "either":
            stated = {r: table[r][1] for r in rates if r in table}
            by_total = sum(abs(stated.get(r, total[r]) - total[r]) for r in rates) + abs(
                stated_tax - sum(total.values()))
            by_line = sum(abs(stated.get(r, line[r]) - line[r]) for r in rates) + abs(
                stated_tax - sum(line.values()))
            chosen, name = (line, "line") if by_line < by_total else (total, "total")
        else:
            chosen, name = (line, "line") if self.method == "line" else (total, "total")
        if total != line:
            self.notes.append("tax is %s rounded on the sum and %s rounded per line; compared with '%s'"
                              % (self.money(sum(total.values())), self.money(sum(line.values())), name))

        for rate in rates:
            if not table:
                break
            if rate not in table:
                self.findings.append({"check": "tax summary", "detail":
                                      "rate %s%% is used but not in the tax summary" % rate})
                continue
            amount = sum(a for r, a in entries if r == rate)
            base = amount - chosen[rate] if self.gross_prices else amount
            self.compare("tax base at %s%%" % rate, table[rate][0], base)
            self.compare("tax at %s%%" % rate, table[rate][1], chosen[rate])
        for rate in table:
            if rate not in rates:
                self.findings.append({"check": "tax summary", "detail":
                                      "rate %s%% is in the tax summary but on no line" % rate})

        tax = sum(chosen.values(), ZERO)
        amount = sum((a for _, a in entries), ZERO)
        net = amount - tax if self.gross_prices else amount
        stated_net = number(invoice, "net_total", "invoice")
        stated_gross = number(invoice, "gross_total", "invoice")
        self.compare("net total", stated_net, net)
        self.compare("tax total", stated_tax, tax)
        self.compare("gross total = stated net + stated tax", stated_gross, stated_net + stated_tax)
        if invoice.get("amount_due") is not None:
            due = stated_gross + number(invoice, "rounding_adjustment", "invoice", ZERO) \
                - number(invoice, "prepaid", "invoice", ZERO)
            self.compare("amount due", number(invoice, "amount_due", "invoice"), due)

    def check_order(self, order, lines):
        if self.credit:
            self.notes.append("credit note: not compared with the purchase order")
            return
        currency = order.get("currency")
        if not currency:
            self.notes.append("purchase order states no currency")
        elif str(currency).strip().upper() != self.currency:
            self.findings.append({"check": "currency", "stated": self.currency, "expected": str(currency)})
            return
        ordered = items(order, "lines", "purchase order", required=True)
        groups = {}
        for position, line in enumerate(lines, 1):
            label = "invoice line %s" % line.get("line", position)
            index = self.match(line, ordered)
            if index is None:
                self.findings.append({"check": label, "detail": "no matching order line",
                                      "net_effect": self.money(number(line, "amount", label))})
            else:
                groups.setdefault(index, []).append((label, line))
        for index, group in sorted(groups.items()):
            self.check_order_line(ordered[index], index, group)
        self.check_charges(order)

    @staticmethod
    def match(line, ordered):
        def text(item, field):
            value = item.get(field)
            return "" if value is None else " ".join(str(value).split()).casefold()

        for mine, theirs in (("po_line", "line"), ("sku", "sku"), ("description", "description")):
            wanted = text(line, mine)
            if wanted:
                hits = [i for i, o in enumerate(ordered) if text(o, theirs) == wanted]
                if len(hits) == 1:
                    return hits[0]
        return None

    def check_order_line(self, order_line, index, group):
        where = "order line %s" % order_line.get("line", index + 1)
        basis = number(order_line, "price_per", where, Decimal(1))
        if basis <= 0:
            raise InputError("%s: 'price_per' must be above zero" % where)
        keep = 1 - number(order_line, "discount_percent", where, ZERO) / HUNDRED
        agreed = number(order_line, "unit_price", where) / basis * keep
        billed = ZERO
        for label, line in group:
            quantity = number(line, "quantity", label)
            billed += quantity
            if not quantity:
                continue
            price = self.line_amount(line, label) / quantity
            limit = abs(agreed) * self.args.price_tolerance / HUNDRED
            if abs(price - agreed) > limit and abs(self.round((price - agreed) * quantity)) > 0:
                self.findings.append({
                    "check": label + " price after discount", "stated": format(price.normalize(), "f"),
                    "expected": format(agreed.normalize(), "f"),
                    "net_effect": self.money((price - agreed) * quantity)})
            else:
                self.passed.append(label + " price")
        quantity = number(order_line, "quantity", where)
        before = number(order_line, "invoiced_before", where, ZERO)
        limits = [("ordered", quantity)]
        if order_line.get("received") is not None:
            limits.append(("received", number(order_line, "received", where)))
        else:
            self.notes.append(where + ": no receipt recorded; compared with the ordered quantity only")
        kind, limit = min(limits, key=lambda pair: pair[1])
        names = ", ".join(label for label, _ in group)
        if before + billed > limit:
            over = min(billed, before + billed - limit)
            self.findings.append({
                "check": names + " quantity", "stated": format(before + billed, "f"),
                "expected": "%s (%s)" % (format(limit, "f"), kind),
                "net_effect": self.money(over * agreed)})
        else:
            self.passed.append(names + " quantity")

    def check_charges(self, order):
        agreed = {}
        for position, item in enumerate(items(order, "charges", "purchase order"), 1):
            name = " ".join(str(item.get("description", "")).split()).casefold()
            agreed[name] = agreed.get(name, ZERO) + number(item, "amount", "order charge %d" % position)
        billed = {}
        for position, item in enumerate(items(self.invoice, "charges", "invoice"), 1):
            name = " ".join(str(item.get("description", "")).split()).casefold()
            billed[name] = billed.get(name, ZERO) + number(item, "amount", "charge %d" % position)
        if self.gross_prices and billed:
            self.notes.append("prices include tax: check that the order's prices do so too")
        for name, amount in billed.items():
            label = "charge '%s'" % (name or "without description")
            if name not in agreed:
                self.findings.append({"check": label, "detail": "not agreed on the order",
                                      "net_effect": self.money(amount)})
            elif amount > agreed[name] + self.args.tolerance:
                self.findings.append({"check": label, "stated": self.money(amount),
                                      "expected": self.money(agreed[name]),
                                      "net_effect": self.money(amount - agreed[name])})
            else:
                self.passed.append(label)


def decimal_argument(text):
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError("not a decimal number: %r" % text)
    if not value.is_finite() or value < 0:
        raise argparse.ArgumentTypeError("must be zero or more")
    return value


def main():
    parser = argparse.ArgumentParser(
        description="Check the arithmetic of a JSON invoice and compare it with its purchase order.",
        epilog="Exit codes: 0 agrees, 1 differences, 2 unusable input.")
    parser.add_argument("invoice", help="JSON file, or - for standard input")
    parser.add_argument("--po", help="JSON file with the purchase order")
    parser.add_argument("--tolerance", type=decimal_argument, default=ZERO, metavar="AMOUNT",
                        help="accepted difference for each amount (default: 0)")
    parser.add_argument("--price-tolerance", type=decimal_argument, default=ZERO, metavar="PERCENT",
                        help="accepted deviation of a unit price from the order (default: 0)")
    parser.add_argument("--rounding", choices=["half-up", "half-even"], default="half-up")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    args = parser.parse_args()
    try:
        invoice = load(args.invoice)
        args.order = load(args.po) if args.po else None
        checker = Checker(invoice, args)
        checker.run()
    except InputError as exc:
        print("check_totals.py: error: %s" % exc, file=sys.stderr)
        return 2
    except InvalidOperation:
        print("check_totals.py: error: a number is too large to calculate with", file=sys.stderr)
        return 2
    try:
        if args.format == "json":
            print(json.dumps({"invoice_number": invoice.get("invoice_number"),
                              "currency": checker.currency, "ok": not checker.findings,
                              "findings": checker.findings, "passed": checker.passed,
                              "notes": checker.notes}, indent=2, default=str), flush=True)
        else:
            print("Invoice %s, %s" % (invoice.get("invoice_number", "(no number)"), checker.currency))
            for f in checker.findings:
                parts = [f["detail"]] if "detail" in f else \
                    ["stated %s, expected %s" % (f["stated"], f["expected"])]
                parts += ["%s %s" % (k.replace("_", " "), f[k]) for k in ("difference", "net_effect") if k in f]
                print("DIFFERENCE  %s: %s" % (f["check"], "; ".join(parts)))
            for note in checker.notes:
                print("NOTE        " + note)
            print("%d difference(s), %d check(s) passed" % (len(checker.findings), len(checker.passed)),
                  flush=True)
    except BrokenPipeError:
        sys.stderr.close()  # the reader stopped early, for example `| head`
    return 1 if checker.findings else 0


if __name__ == "__main__":
    sys.exit(main())
