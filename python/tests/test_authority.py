"""Who is let in, what those may hold and call, and how it is taken back."""

import asyncio
import logging

import chordal
import pytest
from conftest import turns, until


class Board(chordal.Object):
    name: str
    text = chordal.document("")
    asked = []
    verdicts = {}

    @classmethod
    async def guard(cls, ask):
        cls.asked.append(ask)
        await asyncio.sleep(0)
        verdict = cls.verdicts.get(ask.method or ask.params["name"], False)
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    @chordal.method
    def who(self, call):
        return call.authority

    @chordal.method
    async def forever(self, call):
        await call.cancelled.wait()


class Plain(chordal.Object):
    text = chordal.document("")

    @chordal.method
    def who(self, call):
        return [call.authority, call.origin != 0]


@pytest.fixture(autouse=True)
def fresh():
    Board.asked, Board.verdicts = [], {}


async def let_in(credentials):
    return {"user": credentials}


def join(server, credentials="ann", **options):
    host = chordal.Host()
    link = chordal.pair(host, server, credentials=credentials, authenticate=let_in, **options)
    return host, link


async def refused(call):
    with pytest.raises(chordal.ChordalError) as caught:
        await call
    return caught.value.name, caught.value.detail


async def test_the_authority_of_a_call():
    async with chordal.Host(types=[Plain]) as server:
        host, link = join(server)
        async with host:
            plain = await host.get("plain").live()
            assert await plain.who() == [{"user": "ann"}, True]
            own = await server.get("plain").live()
            assert await own.who() == [None, False]
            assert link.state == "up"


@pytest.mark.parametrize("codec", ["binary", "text"])
async def test_over_a_websocket(codec):
    seen = []

    async def authenticate(credentials):
        seen.append(credentials)
        await asyncio.sleep(0.01)
        if credentials == {"token": "old"}:
            raise chordal.ChordalError("refused", "the token is too old")
        return "ann"

    async with chordal.Host(types=[Plain]) as server:
        async with await server.listen("ws://127.0.0.1:0", authenticate=authenticate) as listening:
            async with chordal.connect(listening.address, codec=codec, credentials={"token": "new"}) as host:
                plain = await host.get("plain").live()
                assert await plain.who() == ["ann", True]
            async with chordal.Host() as host:
                link = host.connect(listening.address, codec=codec, credentials={"token": "old"})
                plain = host.get("plain")
                assert await refused(link.up()) == ("refused", "the token is too old")
                assert link.state == "closed"
                assert await refused(plain.live()) == ("refused", "the link is closed")
    assert seen == [{"token": "new"}, {"token": "old"}]  # it does not come back


async def test_credentials_are_asked_for_at_each_dial(tmp_path):
    shown, seen, address = iter(range(10)), [], f"ipc:{tmp_path}/socket"

    async def credentials():
        return next(shown)

    def authenticate(given):
        seen.append(given)
        return None

    async with chordal.Host(backoff_first=1) as host, chordal.Host(types=[Plain]) as server:
        listening = await server.listen(address, authenticate=authenticate)
        link = host.connect(address, credentials=credentials)
        await link.up()
        listening.close()
        await until(lambda: link.state == "wait")
        async with await server.listen(address, authenticate=authenticate):
            link.retry()
            await link.up()
    assert seen[0] == 0 and len(seen) == 2 and seen[1] > 0


async def test_credentials_that_cannot_be_had(caplog):
    tries = []

    def credentials():
        tries.append(1)
        raise RuntimeError("no vault")

    async with chordal.Host(backoff_first=1) as host, chordal.Host() as server:
        async with await server.listen("ws://127.0.0.1:0") as listening:
            link = host.connect(listening.address, credentials=credentials)
            await until(lambda: len(tries) >= 2)
            assert link.state != "up"


async def test_renewed_credentials():
    seen = []
    async with chordal.Host() as server, chordal.Host() as host:
        link = chordal.pair(host, server, credentials="first", authenticate=lambda given: seen.append(given))
        await link.up()
        link.renew("second")
        await turns()
        assert seen == ["first"]
        with pytest.raises(chordal.ChordalError, match="size"):
            link.renew("x" * 70000)
        with pytest.raises(chordal.ChordalError, match="state"):
            next(iter(server._links.values())).renew("third")


@pytest.mark.parametrize("fault", [ZeroDivisionError("secret words"), chordal.MethodError("own", "words"), KeyError()])
async def test_what_fails_lets_nobody_in(fault, caplog):
    def authenticate(credentials):
        raise fault

    async with chordal.Host(types=[Plain]) as server, chordal.Host() as host:
        link = chordal.pair(host, server, authenticate=authenticate)
        plain = host.get("plain")
        name, detail = await refused(link.up())
        assert name == "refused" and "words" not in detail
        assert plain.state == "failed"
        assert server.counters["live_objects"] == 0


async def test_an_authority_that_is_no_value(caplog):
    async with chordal.Host(types=[Plain]) as server, chordal.Host() as host:
        link = chordal.pair(host, server, authenticate=lambda credentials: object())
        assert await refused(link.up()) == ("refused", "")


async def test_one_that_never_answers():
    async with chordal.Host(types=[Plain], handshake_timeout=20) as server, chordal.Host(backoff_first=10000) as host:
        link = chordal.pair(host, server, authenticate=lambda credentials: asyncio.Event().wait())
        await until(lambda: link.state == "wait")
        assert link.error.name == "timeout"


async def test_no_secret_is_told_or_logged(caplog):
    caplog.set_level(logging.DEBUG)
    secret = "a-very-secret-token"

    def authenticate(credentials):
        raise PermissionError("not this one")

    async with chordal.Host() as server, chordal.Host() as host:
        async with await server.listen("ws://127.0.0.1:0", authenticate=authenticate) as listening:
            link = host.connect(listening.address, credentials=secret)
            await refused(link.up())
            assert secret not in repr(link) + str(link.error) + repr(link.error) + link.url
    assert secret not in "".join(record.getMessage() for record in caplog.records if record.name == "chordal")


# ---- guards ----


async def test_a_guard_is_asked():
    Board.verdicts = {"lunch": True, "who": True}
    async with chordal.Host(types=[Board]) as server:
        host, _ = join(server)
        async with host:
            board = await host.get("board", name="lunch").live()
            assert await board.who() == {"user": "ann"}
            assert [(ask.authority, ask.params, ask.method) for ask in Board.asked] == [
                ({"user": "ann"}, {"name": "lunch"}, None),
                ({"user": "ann"}, {"name": "lunch"}, "who"),
            ]
            assert Board.asked[0].origin == Board.asked[1].origin != 0
            assert await refused(board.forever()) == ("denied", "")


async def test_all_calls_of_a_hold():
    Board.verdicts = {"lunch": "all"}
    async with chordal.Host(types=[Board]) as server:
        host, _ = join(server)
        async with host:
            board = await host.get("board", name="lunch").live()
            assert await board.who() == {"user": "ann"}
            assert len(Board.asked) == 1


@pytest.mark.parametrize("verdict", [False, None, "yes", 1, ZeroDivisionError("secret"), chordal.MethodError("a", "b")])
@pytest.mark.parametrize("exists", [False, True])
async def test_what_is_not_allowed_is_denied(verdict, exists, caplog):
    Board.verdicts = {"lunch": verdict}
    async with chordal.Host(types=[Board]) as server:
        if exists:
            server.object("board", name="lunch")
        host, _ = join(server)
        async with host:
            assert await refused(host.get("board", name="lunch").live()) == ("denied", "")
            assert server.counters["live_objects"] == exists


async def test_own_references_are_not_asked_about():
    async with chordal.Host(types=[Board]) as server:
        board = await server.get("board", name="lunch").live()
        assert await board.who() is None
        assert Board.asked == []


async def test_a_guard_without_an_answer():
    class Slow(chordal.Object):
        @classmethod
        async def guard(cls, ask):
            await asyncio.Event().wait()

    async with chordal.Host(types=[Slow], guard_timeout=20) as server:
        host, _ = join(server)
        async with host:
            assert await refused(host.get("slow").live()) == ("denied", "")


async def test_a_failed_start_of_a_guarded_type(caplog):
    class Cellar(chordal.Object):
        allowed = True

        @classmethod
        def guard(cls, ask):
            return cls.allowed

        def start(self):
            raise ZeroDivisionError("secret words")

    async with chordal.Host(types=[Cellar]) as server:
        host, _ = join(server)
        async with host:
            assert await refused(host.get("cellar").live()) == ("method", "the provider failed")
            Cellar.allowed = False
            again = host.get("cellar")
            again.retry()
            assert await refused(again.live()) == ("denied", "")


# ---- revocation ----


async def test_revoked():
    async with chordal.Host(types=[Plain, Board]) as server:
        Board.verdicts = {"lunch": "all"}
        (ann, link), (bob, _) = join(server, "ann"), join(server, "bob")
        async with ann, bob:
            board = await ann.get("board", name="lunch").live()
            plain = await ann.get("plain").live()
            other = await bob.get("plain").live()
            running = asyncio.ensure_future(board.forever())
            frames = []
            plain.text.watch(lambda frame: frames.append(frame.value))
            await turns(20)
            server.revoke({"user": "ann"}, "ann has left")
            with pytest.raises(chordal.OutcomeUnknown, match="ann has left"):
                await running
            await until(lambda: plain.state == "revoked")
            assert plain.error.name == "revoked" and plain.error.detail == "ann has left"
            with pytest.raises(chordal.ChordalError, match="revoked: ann has left"):
                await board.who()
            assert link.state == "up"
            assert other.state == "live"
            own = server.object("plain")
            with own.transaction() as t:
                t.text = "later"
            await until(lambda: other.text.value == "later")
            assert frames == [""]
            again = ann.get("plain")
            assert again is not plain
            assert await refused(again.live()) == ("revoked", "ann has left")


async def test_one_object_revoked():
    Board.verdicts = {"lunch": "all", "tea": "all"}
    async with chordal.Host(types=[Board]) as server:
        host, _ = join(server)
        async with host:
            lunch, tea = host.get("board", name="lunch"), host.get("board", name="tea")
            await lunch.live()
            await tea.live()
            own = server.object("board", name="lunch")
            own.revoke({"user": "ann"}, "a secret board")
            await until(lambda: lunch.state == "revoked")
            assert lunch.error.detail == "a secret board"
            assert tea.state == "live"
            Board.verdicts = {}
            assert await refused(host.get("board", name="lunch").live()) == ("denied", "")
            with pytest.raises(chordal.ChordalError, match="size"):
                own.revoke({"user": "ann"}, "x" * 5000)


async def test_through_a_host_in_the_middle():
    """A tab, a server that lets it in, and a worker that believes the server."""
    Board.verdicts = {"lunch": True, "who": True, "forever": True}
    async with chordal.Host() as middle, chordal.Host(types=[Board]) as worker:
        chordal.pair(middle, worker, route_offers=True, trusted=True)
        await until(lambda: middle.counters["messages_in"] > 1)
        host, _ = join(middle)
        async with host:
            board = await host.get("board", name="lunch").live()
            assert await board.who() == {"user": "ann"}
            assert [ask.authority for ask in Board.asked] == [{"user": "ann"}] * 2
            running = asyncio.ensure_future(board.forever())
            await turns(20)
            middle.revoke({"user": "ann"}, "ann has left")
            with pytest.raises(chordal.OutcomeUnknown, match="ann has left"):
                await running
            assert board.state == "revoked"
            await until(lambda: worker.counters["live_objects"] == 0)
