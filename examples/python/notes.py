"""Two hosts in one program: one provides notes, the other holds them, over a WebSocket."""

import asyncio

import chordal


class Notes(chordal.Object, version=1):  # the type "notes"
    board: str  # a param: there is one object for each board
    list = chordal.document({"entries": []})

    @chordal.derive("list")
    def count(self):
        return len(self.list["entries"])

    @chordal.method
    def add(self, call, text: str):
        with call.transaction() as t:  # one commit; an exception in it leaves nothing
            note = {"id": call.new_id(), "text": text}
            t.list["entries"].append(note)
        return note["id"]


async def main():
    async with chordal.Host(types=[Notes]) as server, await server.listen("ws://127.0.0.1:0") as listening:
        async with chordal.connect(listening.address) as host:  # links again by itself
            notes = host.get("notes", board="lunch")
            notes.list.watch(lambda frame: print(frame.commit, frame.ops))
            await notes.live()  # the first values are here
            await notes.add("milk")  # comes back when the change is visible in notes.list
            print(notes.list.value["entries"][0]["text"], notes.count.value)


asyncio.run(main())
