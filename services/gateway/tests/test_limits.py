"""What a client may send: the head of a request is bounded, and whoever sends too much disturbs nobody."""

from __future__ import annotations

import http.client
import json
import socket
import sys
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tardis_testing import Program, answers, free_port, wait_until


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    port, folder = free_port(), tmp_path_factory.mktemp("limits")
    environment = {"TM_PORT": str(port), "TM_WORKERS": "1", "TM_CACHE_DIR": str(folder / "cache")}
    with Program([sys.executable, "-m", "tardis_gateway"], folder / "gateway.log", environment) as gateway:
        wait_until(lambda: answers(f"http://127.0.0.1:{port}", "/ready"), within=60, what="gateway is ready")
        yield port
        assert gateway.stop() == 0
        assert "ERROR" not in gateway.text


def ask(port: int, path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def answer(client: socket.socket) -> bytes:
    found = b""
    while piece := client.recv(1 << 16):
        found += piece
    return found


def test_a_large_head_is_answered_431(port: int) -> None:
    assert ask(port, "/live", {"X-Large": "x" * (15 << 10)}) == 200
    assert ask(port, "/live", {"X-Large": "x" * (17 << 10)}) == 431
    assert ask(port, "/live", {f"X-{number}": "x" * 100 for number in range(90)}) == 200
    assert ask(port, "/live", {f"X-{number}": "x" * 170 for number in range(99)}) == 431
    options = {"exchange": "x", "from": "2020-02-01", "to": "2020-02-01", "dataTypes": ["trade"], "symbols": ["S" * (17 << 10)]}
    assert ask(port, f"/replay-normalized?options={quote(json.dumps(options))}", {}) == 431


ENDLESS = {
    "header": b"GET /live HTTP/1.1\r\nX: ",
    "url": b"GET /",
    "trailer": b"POST /live HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
}


@pytest.mark.parametrize("begin", ENDLESS.values(), ids=ENDLESS)
def test_an_endless_head_is_cut_while_others_are_served(port: int, begin: bytes) -> None:
    def send_for_ever(client: socket.socket) -> None:
        client.sendall(begin)
        for number in range(1000):
            client.sendall(b"x" * (1 << 16))
            assert number > 5 or answers(f"http://127.0.0.1:{port}", "/live")

    with socket.create_connection(("127.0.0.1", port), timeout=10) as client, pytest.raises(ConnectionError):
        send_for_ever(client)
    assert answers(f"http://127.0.0.1:{port}", "/live")


def test_the_answer_to_an_endless_head_can_be_read(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"GET /live HTTP/1.1\r\nX: ")
        for _ in range(20):
            client.sendall(b"x" * (1 << 15))
        assert answer(client).startswith(b"HTTP/1.1 431 ")


def test_large_bodies_and_many_requests_on_one_connection_are_no_large_head(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        for _ in range(40):
            connection.request("GET", "/live", headers={"X-Large": "x" * 1000})
            response = connection.getresponse()
            assert (response.status, response.read()) == (200, b"ok\n")
        connection.request("POST", "/live", body=b"x" * (1 << 20))
        assert connection.getresponse().status == 404
    finally:
        connection.close()


def test_a_large_head_behind_a_running_response_does_not_speak_into_it(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"GET /live HTTP/1.1\r\n\r\nGET /live HTTP/1.1\r\nX: " + b"x" * (17 << 10) + b"\r\n\r\n")
        try:
            said = answer(client)
        except ConnectionError:
            said = b""
    assert b"431" not in said
