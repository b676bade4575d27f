"""The Python provider of the interop square (README.md): provide.py ADDRESS"""

import asyncio
import sys

import chordal


class Square(chordal.Object, version=1):
    name: str
    log = chordal.document({"entries": [], "text": ""})

    @chordal.derive("log")
    def count(self):
        return len(self.log["entries"])

    @chordal.method
    def add(self, call, text):
        with call.transaction() as t:
            number = len(t.log["entries"]) + 1
            t.log["entries"].append({"id": number, "text": text})
        return number

    @chordal.method
    def say(self, call, token):
        with call.transaction() as t:
            t.log["text"] += token

    @chordal.method
    def fail(self, call, name, message):
        raise chordal.MethodError(name, message)

    @chordal.method
    def digest(self, call):
        return self.host.digest(self.log)


async def main(address):
    async with chordal.Host(types=[Square]) as host:
        await host.connect(address, offer=True).up()
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
