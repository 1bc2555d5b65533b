"""Prints what each customer owes."""

import csv
import sys

from prices import PRICES


def totals(path: str) -> dict[str, int]:
    owed: dict[str, int] = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            if row["item"] not in PRICES:
                continue
            cents = round(PRICES[row["item"]] * int(row["count"]) * 1.19)
            owed[row["customer"]] = owed.get(row["customer"], 0) + cents
    return owed


if __name__ == "__main__":
    for customer, cents in sorted(totals(sys.argv[1]).items()):
        print(f"{customer:10} {cents / 100:8.2f}")
