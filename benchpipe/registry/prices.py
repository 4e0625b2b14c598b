"""`data/prices.yml` → `Price` (runs-system 3.2, C3): flat rates, tiers above an input size, bands of earlier rates."""

import itertools
from datetime import UTC, date, datetime, time
from decimal import Decimal

import msgspec

from benchpipe.registry.agents import ID_FIELD
from benchpipe.registry.fields import Fields
from benchpipe.registry.quoting import short
from benchpipe.registry.records import Band, Price, Rates, Tier
from benchpipe.registry.source import Source

NUMBERS = "price-numbers"
CACHED = "price-cached-input"
CHANGES = "price-bands-and-tiers"
RATES = {"input": NUMBERS, "output": NUMBERS, "cached_input": CACHED, "cache_write": CACHED}
"""Rate → the rule that a wrong value breaks."""
MAX_USD = 1_000_000


def load_prices(source: Source) -> tuple[dict[str, Price], dict[str, str | None]]:
    """Entries by key, and key → `id` of entries without usable numbers. A value that is no mapping is ignored."""
    prices: dict[str, Price] = {}
    unpriced: dict[str, str | None] = {}
    top = source.optional(source.lab.prices_file, "price")
    owners: dict[str, str] = {}
    for key, value in top.data.items():
        if not isinstance(value, dict):
            continue
        fields = top.inner(key, value)
        model = _model_id(fields, key, owners)
        price = _price(key, model, fields)
        if price:
            prices[key] = price
        else:
            unpriced[key] = model
    return prices, unpriced


def _model_id(fields: Fields, key: str, owners: dict[str, str]) -> str | None:
    """The entry's `id`. `owners` remembers which entry had each id first."""
    model = fields.text("id")
    if model and not ID_FIELD.fullmatch(model):
        fields.problem("id", f"'{short(model)}' can't be a field of a run id: use a-z, 0-9 and _", "price-id-form")
    if model and owners.setdefault(model, key) != key:
        fields.problem(
            "id", f"{short(model)} is the id of {short(owners[model])} already: give each model its own", "price-id-unique"
        )
    return model


def _price(key: str, model: str | None, fields: Fields) -> Price | None:
    rates = _rates(fields, None)
    if rates is None:
        return None
    return Price(
        key=key,
        place=fields.place(),
        rates=rates,
        tiers=_tiers(fields, rates),
        bands=_bands(fields, rates),
        id=model,
        as_of=fields.day("as_of"),
        source=fields.text("source"),
    )


def _rates(fields: Fields, around: Rates | None) -> Rates | None:
    """The rates of one level; missing ones are those of the level around it, which an entry itself doesn't have."""
    found = {name: _usd(fields, name, rule) for name, rule in RATES.items()}
    if around:
        return msgspec.structs.replace(around, **{name: value for name, value in found.items() if value is not None})
    for name in ("input", "output"):
        if name not in fields:
            fields.problem(None, f"has no `{name}`: give it in USD per 1,000,000 tokens", NUMBERS)
    if found["input"] is None or found["output"] is None:
        return None
    return Rates(input=found["input"], output=found["output"], cached_input=found["cached_input"], cache_write=found["cache_write"])


def _usd(fields: Fields, name: str, rule: str) -> Decimal | None:
    value = fields.number(name, rule)
    if value is not None and not 0 <= value <= MAX_USD:
        fields.problem(name, f"`{name}` is {short(value)}, but has to be USD per 1,000,000 tokens, from 0 to {MAX_USD:,}", rule)
        return None
    return value


def _tiers(fields: Fields, around: Rates) -> tuple[Tier, ...]:
    """Rates of `above: {<tokens>: {…}}`, smallest limit first."""
    tiers = []
    above = fields.mapping("above", CHANGES)
    for limit, level in above.entries(CHANGES) if above else ():
        tokens = limit.replace("_", "")
        rates = _rates(level, around)
        if not (tokens.isascii() and tokens.isdigit() and len(tokens) < 13):
            fields.problem(f"above.{limit}", f"'{short(limit)}' is no number of tokens: write a whole number", CHANGES)
        elif rates:
            tiers.append(Tier(above=int(tokens), rates=rates))
    return tuple(sorted(tiers, key=lambda tier: tier.above))


def _bands(fields: Fields, around: Rates) -> tuple[Band, ...]:
    """Earlier rates, oldest first."""
    bands = []
    for entry in fields.records("bands", CHANGES):
        until = _moment(entry)
        rates = _rates(entry, around)
        if until and rates:
            bands.append(
                Band(
                    until=until,
                    rates=rates,
                    tiers=_tiers(entry, rates),
                    source=entry.text("source"),
                    as_of=entry.day("as_of"),
                )
            )
    bands.sort(key=lambda band: band.until)
    for one, other in itertools.pairwise(bands):
        if one.until == other.until:
            fields.problem("bands", f"two bands end at {one.until}: keep one", CHANGES)
    return tuple(bands)


def _moment(entry: Fields) -> str | None:
    """`until` as ISO in UTC; a day means its first moment, a time without zone is UTC."""
    value = entry.get("until")
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        elif isinstance(value, date) and not isinstance(value, datetime):
            value = datetime.combine(value, time())
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        pass
    entry.problem("until", "a band needs `until`, a time such as 2026-10-01 or 2026-10-01T12:00:00Z", CHANGES)
    return None
