"""An SSH server that lets anybody in and then never answers one kind of request: `python hanging_server.py exec|subsystem`."""

import socket
import sys
import threading

import paramiko

NEVER = threading.Event()


class Hanging(paramiko.ServerInterface):
    """Grants what comes before the request that it never answers."""

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        return self._unless("auth", paramiko.AUTH_SUCCESSFUL)

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return self._unless("channel", paramiko.OPEN_SUCCEEDED)

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        return bool(self._unless("exec", True))

    def check_channel_subsystem_request(self, channel: paramiko.Channel, name: str) -> bool:
        return bool(self._unless("subsystem", True))

    def _unless(self, phase: str, answer: int) -> int:
        if sys.argv[1] == phase:
            NEVER.wait()
        return answer


def main() -> None:
    """Print port and host key, then serve until killed."""
    key = paramiko.ECDSAKey.generate()
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], key.get_name(), key.get_base64(), flush=True)
        while True:
            transport = paramiko.Transport(server.accept()[0])
            transport.add_server_key(key)
            transport.start_server(server=Hanging(), event=threading.Event())


if __name__ == "__main__":
    main()
