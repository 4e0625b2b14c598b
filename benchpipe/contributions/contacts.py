"""Keeping contact data out of everything that is written or printed (contributions 16.2).

Standard library only: this module is a part of `contrib/validate.py`. It decides what is contact data and takes it out of
texts; who may be contacted is none of its business.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from benchpipe.contributions.strict_json import escape

MARK = "[contact removed]"
_MESSENGERS = "wechat|weixin|微信|whatsapp|telegram|viber|skype|discord|qq|kakao(?:talk)?|tel|phone|mobile"
_HOST = re.compile(
    r"\s?(?:@|＠|\(at\)|\[at\])\s?(?=[\w-]*[A-Za-z])[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}", re.IGNORECASE
)
_NAME = re.compile(r"(?:mailto:)?[\w.+%-]{1,64}\Z", re.IGNORECASE)
_LONGEST_NAME = 71
_OTHER = re.compile(
    rf"(?<![\w])(?:{_MESSENGERS})(?:[ _-]?(?:id|number|no\.?))?\s*[:=：]\s*[^\s,;)\]\"]+"
    r"|(?<![\w])wxid_\w+"
    r"|(?<![\w@/.])@[A-Za-z]\w{3,31}(?![\w/.])"
    r"|(?<![\w+.])\+\d[\d ()-]{7,18}\d",
    re.IGNORECASE,
)
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
MAX_TOLD = 600
"""Characters of one message."""
MIN_VALUE = 4
"""A contact value shorter than this is not looked for elsewhere: it would hit ordinary words."""
MAX_CONTACTS = 20
"""Contact values of one file that are looked for in what is said about it; a file with more is not looked into at all."""


def contacts_of(value: Any) -> set[str]:
    """Every text or number under a key that is named like a contact, at any depth."""
    return {text for _, text in contact_places(value) if len(text) >= MIN_VALUE}


def contact_places(value: Any) -> Iterator[tuple[str, str]]:
    """(JSON pointer, text) of every filled-in text or number under a key that is named like a contact."""
    yield from _under_contact(value, "", inside=False)


def _under_contact(value: Any, pointer: str, *, inside: bool) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _under_contact(item, f"{pointer}/{escape(key)}", inside=inside or "contact" in key.lower())
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _under_contact(item, f"{pointer}/{n}", inside=inside)
    elif inside and value is not None and not isinstance(value, bool) and (text := str(value).strip()):
        yield pointer, text


def without_contacts(text: str, contacts: Iterable[str] = ()) -> str:
    """`text` with the given contact values and everything shaped like an address or messenger id replaced by MARK."""
    for contact in sorted(contacts, key=len, reverse=True):
        text = re.sub(re.escape(contact), MARK, text, flags=re.IGNORECASE)
    return _OTHER.sub(MARK, _without_mail(text))


def _without_mail(text: str) -> str:
    """Addresses are looked for from the @ backwards: from the front a long word would cost its length squared."""
    kept, end = [], 0
    for host in _HOST.finditer(text):
        window = max(end, host.start() - _LONGEST_NAME)
        if name := _NAME.search(text[window : host.start()]):
            kept += [text[end : window + name.start()], MARK]
            end = host.end()
    return "".join([*kept, text[end:]])


def told(text: str, contacts: Iterable[str], limit: int = MAX_TOLD) -> str:
    """A message as it is told: without contact data, and only then cut, since a cut-off address would not be recognised.

    Line ends, terminal codes and characters that turn or hide text are written out, so that no file can word its own verdict.
    """
    text = _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", without_contacts(text, contacts))
    return text if len(text) <= limit else f"{text[:limit]}…"
