"""Hosts linked by memory, pipes and WebSockets."""

import asyncio
import contextlib
import os
import uuid

import chordal
import pytest
from chordal import ChordalError
from conftest import Notes, turns, until

KINDS = ["memory", "ipc", "ws", "ws-text"]


class Linked:
    """A provider and a holder over one kind of link."""

    def __init__(self, kind, path, **limits):
        self.kind = kind
        self.path = path
        self.limits = limits

    async def __aenter__(self):
        self.provider = chordal.Host(types=[Notes], **self.limits)
        self.holder = chordal.Host(**self.limits)
        if self.kind == "memory":
            self.link = chordal.pair(self.holder, self.provider)
        else:
            await self.listen()
            codec = "text" if self.kind == "ws-text" else "binary"
            self.link = self.holder.connect(self.server.address, codec=codec)
        return self

    async def listen(self, address=None):
        url = f"ipc:{self.path / 'socket'}" if self.kind == "ipc" else "ws://127.0.0.1:0"
        self.server = await self.provider.listen(address or url)

    async def __aexit__(self, *_):
        await self.holder.close()
        await self.provider.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_hold_call_and_follow(kind, tmp_path):
    async with Linked(kind, tmp_path) as linked:
        notes = linked.holder.get("notes", board="é")
        frames = []
        notes.list.watch(frames.append)
        first = notes.add("before it is live")
        await linked.link.up()
        assert linked.link.peer == linked.provider.run
        assert await first == 1
        for n in range(20):
            assert await notes.add(f"{n} \ud83d") == n + 2
            assert len(notes.list.value["entries"]) == n + 2
        await asyncio.gather(*(notes.say(token) for token in ["a", "\ud83d", "\ude00", "b"] * 25))
        assert notes.title.value == "a😀b" * 25 == linked.provider.object(Notes, board="é").title
        assert notes.loud.value == "A😀B" * 25 + ": 21!"
        assert frames[-1].value is notes.list.value and frames[-1].ops[0][0] in "ps"
        assert linked.holder.digest(notes.list.value) == linked.provider.digest(
            linked.provider.object(Notes, board="é").list
        )
        value = {"k": [1, 2**64 - 1, -(2**63), 1.5, 1e300, None, True, "x" * 70000, {"__proto__": "\0"}]}
        assert await notes.echo(value) == value
        for data in (b"", b"\0\xff" * 100_000):
            assert await notes.echo(data) == data
        with pytest.raises(chordal.MethodError) as caught:
            await notes.refuse("full", "no room")
        assert (caught.value.name, caught.value.detail) == ("full", "no room")
        with pytest.raises(chordal.MethodError) as caught:
            await notes.crash()
        assert caught.value.name == "internal" and "secret" not in caught.value.detail
        with pytest.raises(chordal.DeadlineError):
            await notes.never(timeout=0.05)
        with pytest.raises(ChordalError) as caught:
            await linked.holder.get("nothing").live()
        assert caught.value.name == "no_type"
        with pytest.raises(ChordalError) as caught:
            await linked.holder.get("notes", borad="a").live()
        assert caught.value.name == "params"


@pytest.mark.parametrize("kind", KINDS)
async def test_closing_either_side(kind, tmp_path):
    async with Linked(kind, tmp_path) as linked:
        notes = await linked.holder.get("notes", board="a").live()
        task = asyncio.ensure_future(notes.forever())
        waiting = asyncio.create_task(anext(aiter(notes.title.frames().__aiter__())))
        await waiting
        await turns()
        await linked.provider.close()
        with pytest.raises(ChordalError):
            await task
        await until(lambda: notes.state != "live")
        assert notes.title.value == ""
        parked = notes.add("never")
        await turns()
        assert not parked.done()
        await linked.holder.close()
        with pytest.raises(ChordalError) as caught:
            await parked
        assert caught.value.name == "closed"
        assert linked.link.state == "closed"


@pytest.mark.parametrize("kind", ["ipc", "ws"])
async def test_a_lost_link_comes_back(kind, tmp_path):
    async with Linked(kind, tmp_path, backoff_first=20) as linked:
        notes = await linked.holder.get("notes", board="a").live()
        await notes.add("milk")
        keep = linked.provider.object(Notes, board="a")
        address = linked.server.address
        running = asyncio.ensure_future(notes.forever())
        await turns(20)
        linked.server.close()
        await until(lambda: notes.state == "down")
        with pytest.raises(chordal.OutcomeUnknown):
            await running
        assert notes.list.value["entries"][0]["text"] == "milk"
        parked = [notes.add("honey"), notes.add("bread")]
        with keep.transaction() as t:
            t.title = "changed while away"
        await asyncio.sleep(0.05)
        await linked.listen(address)
        assert [await call for call in parked] == [2, 3]
        await notes.live()
        assert notes.title.value == "changed while away"
        assert [entry["text"] for entry in notes.list.value["entries"]] == ["milk", "honey", "bread"]


async def test_connect_before_there_is_a_server(tmp_path):
    url = f"ipc:{tmp_path / 'socket'}"
    async with chordal.connect(url, backoff_first=20) as holder, chordal.Host(types=[Notes]) as provider:
        notes = holder.get("notes", board="a")
        call = notes.add("milk")
        await asyncio.sleep(0.05)
        async with await provider.listen(url):
            assert await call == 1
    assert not os.path.exists(tmp_path / "socket")


async def test_many_holders_share_one_encoding(tmp_path):
    provider = chordal.Host(types=[Notes])
    holders = [chordal.Host() for _ in range(10)]
    for holder in holders:
        chordal.pair(holder, provider)
    held = [await holder.get("notes", board="a").live() for holder in holders]
    await held[0].add("first")
    before = provider.counters["changes_encoded"]
    for n in range(5):
        await held[n].add("more")
    await until(lambda: all(len(notes.list.value["entries"]) == 6 for notes in held))
    assert provider.counters["changes_encoded"] - before == 5
    for host in [provider, *holders]:
        await host.close()


async def test_the_two_codecs_encode_once_each_at_the_edge(tmp_path):
    async with chordal.Host(types=[Notes]) as provider, await provider.listen("ws://127.0.0.1:0") as server:
        holders = [chordal.connect(server.address, codec=codec) for codec in ["binary", "text"] * 4]
        held = [await holder.get("notes", board="a").live() for holder in holders]
        before = provider.counters["changes_encoded"]
        await held[0].add("milk")
        await until(lambda: all(notes.list.value["entries"] for notes in held))
        assert provider.counters["changes_encoded"] - before == 2
        for holder in holders:
            await holder.close()


async def test_a_slow_reader_gets_folded_changes(tmp_path):
    async with Linked("memory", tmp_path, window_messages=4) as linked:
        notes = linked.holder.get("notes", board="a", manual=True)
        frames = notes.title.frames()
        assert (await anext(frames)).value == ""
        writer = linked.provider.object(Notes, board="a")
        for n in range(200):
            with writer.transaction() as t:
                t.title += f"{n},"
            await asyncio.sleep(0)
        assert linked.provider.counters["changes_encoded"] < 50
        whole = "".join(f"{n}," for n in range(200))
        seen = 0
        async for frame in frames:
            seen += 1
            if frame.value == whole:
                break
        assert seen < 50


async def test_objects_offered_through_a_server(tmp_path):
    relay = chordal.Host()
    server = await relay.listen("ws://127.0.0.1:0", route_offers=True)
    provider = chordal.connect(server.address, types=[Notes], offer=True)
    async with chordal.connect(server.address) as holder:
        await until(lambda: provider.counters["messages_in"] > 0)
        notes = holder.get("notes", board="a")
        assert await notes.add("milk") == 1
        assert notes.loud.value == ": 1!"
        assert relay.counters["parts_parsed"] <= 3
        assert relay.counters["parts_forwarded"] > 0
    await provider.close()
    await relay.close()


async def test_pages_of_others_may_not_connect():
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    async def attempt(server, origin, protocol="chordal.1.bin"):
        async with connect(server.address, origin=origin, subprotocols=[protocol] if protocol else None) as socket:
            return socket.subprotocol

    async with chordal.Host(types=[Notes]) as host:
        async with await host.listen("ws://127.0.0.1:0", origins=["http://friend.example"]) as server:
            own = server.address.replace("ws://", "http://")
            for origin in (None, own, "http://friend.example"):
                assert await attempt(server, origin) == "chordal.1.bin"
            for origin in ("http://127.0.0.1:1", "http://other.example", "null", "https://friend.example"):
                with pytest.raises(InvalidStatus) as caught:
                    await attempt(server, origin)
                assert caught.value.response.status_code == 403
            assert await attempt(server, own, "chordal.1.json") == "chordal.1.json"
            for protocol in (None, "chat"):
                with pytest.raises(InvalidStatus):
                    await attempt(server, own, protocol)
        async with await host.listen("ws://127.0.0.1:0", origins="*") as server:
            assert await attempt(server, "http://other.example") == "chordal.1.bin"


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, b"\x01", "[]", "not json", '["hello"]'])
async def test_nonsense_from_a_peer_ends_its_link_only(data):
    from websockets.asyncio.client import connect

    protocol = "chordal.1.json" if isinstance(data, str) else "chordal.1.bin"
    async with chordal.Host(types=[Notes]) as host, await host.listen("ws://127.0.0.1:0") as server:
        async with chordal.connect(server.address) as holder:
            notes = await holder.get("notes", board="a").live()
            async with connect(server.address, subprotocols=[protocol]) as socket:
                await socket.send(data)
                received = [frame async for frame in socket]
            assert received, "a bye with the reason"
            assert await notes.add("still here") == 1
            await until(lambda: len(host._links) == 1)


async def test_nonsense_on_a_pipe(tmp_path):
    path = str(tmp_path / "socket")
    async with chordal.Host(types=[Notes]) as host, await host.listen(f"ipc:{path}"):
        for data in (b"\xff\xff\xff\xff", b"\x03\0\0\0abc", b"\x10\0\0\0abc", b"\0\0\0\0", b"\x01"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(data)
            writer.write_eof()
            await asyncio.wait_for(reader.read(), 5)
            writer.close()
            await writer.wait_closed()
        await until(lambda: not host._links)
        async with chordal.connect(f"ipc:{path}") as holder:
            assert await holder.get("notes", board="a").add("x") == 1


HELLO = b"\x01\x01\x01" + bytes(range(32)) + b"\x80\x80\x40\x00"
UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chordal.1.bin\r\n\r\n"
)


@pytest.mark.parametrize("kind", ["ipc", "ws"])
async def test_a_frame_that_comes_slowly_keeps_its_link_up(kind, tmp_path):
    """As long as it comes: its peer asks, and is told, several times that it is there."""
    if kind == "ipc":
        url, ping = f"ipc:{tmp_path / 'socket'}", b"\x02\0\0\0\x16\0"
        begin = len(HELLO).to_bytes(4, "little") + HELLO + (1 << 24).to_bytes(4, "little")
    else:
        url, ping = "ws://127.0.0.1:0", b"\x82\x02\x16\0"
        masked = bytes([0x82, 0x80 + len(HELLO), 0, 0, 0, 0]) + HELLO
        begin = UPGRADE + masked + b"\x82\xff" + (1 << 24).to_bytes(8, "big") + bytes(4)
    async with chordal.Host(ping_interval=200, ping_timeout=200) as host, await host.listen(url) as server:
        if kind == "ipc":
            reader, writer = await asyncio.open_unix_connection(url[4:])
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(server.address.rsplit(":", 1)[1]))
        writer.write(begin)
        got = b""

        async def hear():
            nonlocal got
            while piece := await reader.read(1 << 16):
                got += piece

        listening = asyncio.ensure_future(hear())
        while got.count(ping) < 4 and not listening.done():
            writer.write(bytes(100))
            await asyncio.sleep(0.01)
        assert not listening.done()
        await until(lambda: b"timeout" in got)
        writer.close()
        await listening


async def test_bad_addresses():
    async with chordal.Host() as host:
        for url in ("http://x", "ipc:", "", "tcp:1", "ws://", "ws://127.0.0.1:99999"):
            with pytest.raises(ChordalError):
                host.connect(url)
            with pytest.raises(ChordalError):
                await host.listen(url)
        with pytest.raises(ChordalError):
            host.connect("ipc:/x", codec="text")
        with pytest.raises(ChordalError):
            host.connect("ws://127.0.0.1:1", codec="nothing")
        with pytest.raises(ChordalError):
            await host.listen("wss://127.0.0.1:0")  # no certificate
        assert not host._links
        async with await host.listen("ws://127.0.0.1:0") as server:
            with pytest.raises(OSError):
                await host.listen(server.address)


@pytest.mark.parametrize("url", ["ws://127.0.0.1:0", "ipc:{}/socket"])
async def test_options_that_nobody_takes(tmp_path, url):
    url = url.format(tmp_path)
    async with chordal.Host(types=[Notes]) as host:
        for name in ("credential", "origin_", "subprotocols", "protocol_factory"):
            with pytest.raises(TypeError, match=f"^{name} is no option of a link"):
                host.connect(url, **{name: 1})
            with pytest.raises(TypeError, match=f"^{name} is no option of a link"):
                await host.listen(url, **{name: 1})
        assert not host._links and not host._servers and not list(tmp_path.iterdir())
        async with await host.listen(url, backlog=5) as server:
            near = {"open_timeout": 5, "proxy": None, "family": 0} if url.startswith("ws") else {"limit": 1 << 17}
            await host.connect(server.address, ssl=None, **near).up()


class Slow:
    """A transport of a test: what is sent is kept, and closing takes its time."""

    def __init__(self):
        self.sent = []
        self.frames = asyncio.Queue()
        self.closing = False
        self.may_close = asyncio.Event()

    async def receive(self):
        return await self.frames.get()

    async def send(self, frame):
        self.sent.append(frame)

    async def close(self):
        self.closing = True
        await self.may_close.wait()
        self.frames.put_nowait(None)

    def abort(self):
        self.closing = True


async def test_a_transport_that_is_slow_to_close_disturbs_no_later_one(tmp_path):
    transports = []

    async def dial():
        transports.append(Slow())
        return transports[-1], 1

    async with chordal.Host(backoff_first=10, handshake_timeout=50) as host:
        link = host.connect("ipc:/nowhere")
        link._dial = dial
        await until(lambda: len(transports) == 2 and transports[1].sent)
        first, second = transports[:2]
        assert first.closing and len(first.sent) <= 2
        sent = len(first.sent)
        first.frames.put_nowait(b"late nonsense")
        first.may_close.set()
        await turns(10)
        assert link.state == "opening" and len(first.sent) == sent
        for transport in transports:
            transport.may_close.set()


async def test_closing_while_dialling():
    entered = asyncio.Event()
    transport = Slow()
    transport.may_close.set()

    async def dial():
        entered.set()
        with contextlib.suppress(asyncio.CancelledError):  # the transport came at the same time
            await asyncio.Event().wait()
        return transport, 1

    async with chordal.Host() as host:
        link = host.connect("ipc:/nowhere")
        link._dial = dial
        await entered.wait()
        link.close()
        await turns()
        assert link.state == "closed"
        await until(lambda: transport.closing and not host._links)
        assert transport.sent == []


@pytest.mark.parametrize("kind", ["ipc", "ws"])
async def test_who_closes_says_bye(kind, tmp_path):
    async with Linked(kind, tmp_path) as linked:
        await linked.link.up()
        linked.server.close()
        await until(lambda: linked.link.state == "wait")
        assert linked.link.error.name == "bye"


@pytest.mark.parametrize("kind", ["ipc", "ws"])
async def test_retry_dials_at_once(kind, tmp_path):
    async with Linked(kind, tmp_path, backoff_first=3_600_000, backoff_limit=3_600_000) as linked:
        await linked.link.up()
        address = linked.server.address
        linked.server.close()
        await until(lambda: linked.link.state == "wait")
        await linked.listen(address)
        linked.link.retry()
        await linked.link.up()
        assert linked.holder.counters["reconnects"] == 1


async def test_a_dial_without_an_answer_is_given_up():
    seen = []

    async def never(reader, writer):
        seen.append(1)
        await reader.read()  # until it is given up
        seen.append(-1)
        writer.close()

    deaf = await asyncio.start_server(never, "127.0.0.1", 0)
    port = deaf.sockets[0].getsockname()[1]
    async with chordal.Host(dial_timeout=50, backoff_first=20, backoff_limit=50) as holder:
        link = holder.connect(f"ws://127.0.0.1:{port}")
        await until(lambda: seen.count(1) >= 3 and seen.count(-1) >= 2)
        await until(lambda: link.state == "wait")
        assert link.error.name == "timeout"
        assert seen.count(1) - seen.count(-1) <= 1
        deaf.close()
        async with chordal.Host(types=[Notes]) as provider, await provider.listen(f"ws://127.0.0.1:{port}"):
            assert await holder.get("notes", board="a").add("x") == 1


async def test_credentials_that_never_come():
    asked = []

    async def show():
        asked.append(1)
        try:
            await asyncio.Event().wait() if len(asked) < 3 else None
        except asyncio.CancelledError:
            asked.append("gone")
            raise
        return "here"

    async with chordal.Host(types=[Notes]) as provider, await provider.listen("ws://127.0.0.1:0") as server:
        async with chordal.Host(dial_timeout=50, backoff_first=20, backoff_limit=50) as holder:
            await holder.connect(server.address, credentials=show).up()
            assert asked == [1, "gone", 1]


@pytest.mark.parametrize("kind", ["ws", "credentials"])
async def test_a_link_that_is_closed_while_it_dials(kind):
    deaf = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    address = f"ws://127.0.0.1:{deaf.sockets[0].getsockname()[1]}"
    never = asyncio.Event()
    async with chordal.Host() as holder:
        link = holder.connect(address, credentials=never.wait if kind == "credentials" else None)
        await until(lambda: link.state == "dial")
        link.close()
        await link.closed()
        await until(lambda: holder.counters["live_ids"] == 0)
    deaf.close()


async def test_a_lasting_name(tmp_path):
    name = uuid.uuid4()
    for given in (name, str(name), name.bytes):
        async with chordal.Host(name=given) as host, await host.listen(f"ipc:{tmp_path}/socket") as server:
            async with chordal.Host(name=uuid.uuid4().hex) as other:
                link = await other.connect(server.address).up()
                assert link.peer == name.hex
    for given in ("", "home", b"15 bytes are no", bytes(16), "0" * 32, 5):
        with pytest.raises(ChordalError) as caught:
            chordal.Host(name=given)
        assert caught.value.name == "invalid"
