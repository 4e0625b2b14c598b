"""What is contact data or a private host in contributed texts, and what is only code that looks like it."""

import pytest

from benchpipe.contributions.artifacts.codes import CODES
from benchpipe.contributions.artifacts.secrets import in_bytes

SECRETS = {
    "WeChat: " + "ada_wx_1815": "messenger",
    '{"telegram": "' + '@ada_love"}': "messenger",
    "ask wxid_" + "a1b2c3d4": "messenger",
    "call (+49 " + "170 1234567)": "phone",
    "tel. +1 (555) " + "123-4567": "phone",
    "ssh ada@gpu7." + "lan": "local-host",
    "http://models." + "internal/v1": "local-host",
    '{"endpoint": "http:\\/\\/models.' + 'internal\\/v1"}': "local-host",
    "gpu7." + "local:8000": "local-host",
}
CODE = """
@property
@pytest.fixture(scope="session")
phone: str = ""
telegram: Bot = make_bot()
lock = threading.local()
x = self.local.value + torch.internal.y
y = x +1 - 2 - 3 - 45678
+1 234 567 890
Date: Mon Nov 30 11:17:12 2026 +0000
http://host.docker.internal:8000 host.docker.internal:8000 http://127.0.0.1:8000
pip install loop@0.2.0
"""


@pytest.mark.parametrize("text", SECRETS)
def test_contacts_and_private_hosts_are_found_with_their_line(text: str) -> None:
    (finding,) = in_bytes(f"first\n{text}\n".encode(), "notes.txt", CODES["DS-011"], ())
    assert f"notes.txt:2 (rule {SECRETS[text]};" in finding.message
    assert text not in finding.message


def test_code_patches_and_dates_are_neither() -> None:
    assert list(in_bytes(CODE.encode(), "main.py", CODES["DS-011"], ())) == []
