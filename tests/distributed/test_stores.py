"""Stores: what one process or thread puts in, another finds; waiting ends in time."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta

import pytest

from clarion import distributed as dist

SOON = timedelta(milliseconds=30)


@pytest.fixture(params=["hash", "file", "tcp", "prefix", "prefix of tcp"])
def store(request, tmp_path):
    if request.param == "file":
        return dist.FileStore(str(tmp_path / "store"), 1)
    if request.param == "tcp":
        return dist.TCPStore("127.0.0.1", 0, 1, True)
    if request.param == "prefix of tcp":
        return dist.PrefixStore("outer", dist.PrefixStore("inner", dist.TCPStore("127.0.0.1", 0, 1, True)))
    return dist.HashStore() if request.param == "hash" else dist.PrefixStore("p", dist.HashStore())


def test_values(store):
    store.set("a", "1")
    store.set("b", b"\x00\xff")
    assert (store.get("a"), store.get("b")) == (b"1", b"\x00\xff")
    assert (store.add("n", 5), store.add("n", -2), store.get("n")) == (5, 3, b"3")
    assert store.check(["a", "n"])
    assert not store.check(["a", "nowhere"])
    store.append("b", "z")
    store.multi_set(["x", "y"], ["1", "2"])
    assert store.multi_get(["b", "x", "y"]) == [b"\x00\xffz", b"1", b"2"]
    before = store.num_keys()
    assert store.delete_key("a")
    assert not store.check(["a"])
    assert store.num_keys() == before - 1
    assert {"b", "n", "x", "y"} <= set(store.list_keys())


def test_compare_set(store):
    assert store.compare_set("c", "x", "new") == b"x"
    assert store.compare_set("c", "", "first") == b"first"
    assert store.compare_set("c", "first", "second") == b"second"
    assert store.compare_set("c", "wrong", "third") == store.get("c") == b"second"


def test_waiting_ends(store):
    store.set_timeout(SOON)
    assert store.timeout == SOON
    for ask in (lambda: store.get("zz"), lambda: store.wait(["zz"]), lambda: store.wait(["zz"], SOON)):
        with pytest.raises(RuntimeError, match=r"(?i)timeout"):
            ask()
    with pytest.raises((TypeError, ValueError)):
        store.add("zz", "1")
    with pytest.raises(TypeError, match="incompatible function arguments"):
        store.set("zz", 1)
    store.set("word", "hello")
    with pytest.raises(ValueError, match="stoll"):
        store.add("word", 1)
    assert store.get("word") == b"hello"


def test_those_who_wait_are_woken(store):
    found = []
    waiting = threading.Thread(target=lambda: found.append(store.clone().get("late")))
    waiting.start()
    store.set("late", "there")
    waiting.join(10)
    assert found == [b"there"]


def test_queues(store, request):
    if isinstance(store, dist.FileStore):
        with pytest.raises(NotImplementedError, match="queue support"):
            store.queue_push("q", "1")
        return
    store.queue_push("q", "1")
    store.queue_push("q", b"2")
    assert (store.queue_len("q"), store.queue_pop("q"), store.queue_pop("q", False)) == (2, b"1", b"2")
    with pytest.raises(dist.QueueEmptyError, match="queue is empty"):
        store.queue_pop("q", block=False)


def test_many_threads_add(store):
    threads = [threading.Thread(target=lambda: [store.add("n", 1) for _ in range(20)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert store.get("n") == b"80"


@pytest.mark.parametrize("kind", ["file", "tcp"])
def test_processes_share_a_store(kind, tmp_path):
    path = str(tmp_path / "store")
    master = (
        dist.FileStore(path, 2) if kind == "file" else dist.TCPStore("127.0.0.1", 0, 2, True, wait_for_workers=False)
    )
    made = f"FileStore({path!r}, 2)" if kind == "file" else f"TCPStore('127.0.0.1', {getattr(master, 'port', 0)}, 2)"
    code = f"from clarion import distributed as d; s = d.{made}; s.set('from', 'child'); print(s.get('to').decode(), s.add('n', 2))"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert master.get("from") == b"child"
    master.add("n", 1)
    master.set("to", "answer")
    assert child.communicate(timeout=60)[0].split() == ["answer", "3"]


def test_the_last_worker_takes_the_file_away(tmp_path):
    path = tmp_path / "store"
    first, second = dist.FileStore(str(path), 2), dist.FileStore(str(path), 2)
    first.set("a", "b")
    del first
    assert path.exists()
    assert second.get("a") == b"b"
    del second
    assert not path.exists()


def test_a_group_keeps_its_store(tmp_path):
    path = tmp_path / "store"
    dist.init_process_group("gloo", store=dist.FileStore(str(path), 1), rank=0, world_size=1)
    try:
        assert path.exists()
    finally:
        dist.destroy_process_group()
    assert not path.exists()


def test_connections_that_fail():
    with pytest.raises(dist.DistNetworkError, match="timed out"):
        dist.TCPStore("127.0.0.1", 1, 1, False, timeout=SOON)
    master = dist.TCPStore("127.0.0.1", 0, 1, True)
    with pytest.raises(dist.DistNetworkError, match="failed to listen"):
        dist.TCPStore("127.0.0.1", master.port, 1, True)


def test_a_store_of_ones_own():
    class Own(dist.Store):
        def __init__(self):
            super().__init__()
            self.held = {}

        def set(self, key, value):
            self.held[key] = value

    own = Own()
    dist.PrefixStore("p", own).set("a", "b")
    assert own.held == {"p/a": "b"}
    with pytest.raises(NotImplementedError):
        own.get("a")


def test_a_group_from_a_store():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        assert dist.get_world_size() == 1
    finally:
        dist.destroy_process_group()


def test_the_port_of_a_store_that_is_gone_is_free():
    port = dist.TCPStore("127.0.0.1", 0, 1, True).port
    for _ in range(2):
        store = dist.TCPStore("127.0.0.1", port, 1, True)
        store.set("key", "value")
        assert store.get("key") == b"value"
        del store
