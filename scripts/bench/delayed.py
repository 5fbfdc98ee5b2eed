"""Serves the files of a folder over HTTP/1.1, each answer after a delay: delayed.py PORT FOLDER MILLISECONDS

nginx delays no answer. Connections stay open, as those of any server; queries and ranges are ignored.
"""

import asyncio
import os
import signal
import sys
import urllib.parse

TYPES = {".json": "application/json"}


async def answer(writer, root, method, target):
    """Sends the file that the target names, or 404."""
    path = os.path.join(root, urllib.parse.unquote(target.split("?")[0]).lstrip("/"))
    if os.path.isdir(path):
        path = os.path.join(path, "index.json")
    if not os.path.isfile(path):
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        return await writer.drain()
    kind = TYPES.get(os.path.splitext(path)[1], "application/octet-stream")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n\r\n".encode())
        await writer.drain()
        if method == "GET" and size > 0:
            await asyncio.get_running_loop().sendfile(writer.transport, file)


async def main(port, root, delay):
    async def serve(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
                await asyncio.sleep(delay)
                await answer(writer, root, method, target)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has closed the connection
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=128)
    async with server:
        await server.serve_forever()


signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) / 1000))
