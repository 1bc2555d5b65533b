"""Prices of the shop, in cents."""

PRICES = {
    "apple": 40,
    "bread": 320,
    "cheese": 590,
    "tea": 410,
}

TAX = 0.19


def gross(item: str, count: int) -> int:
    """Price with tax, rounded to the cent."""
    return round(PRICES[item] * count * (1 + TAX))
