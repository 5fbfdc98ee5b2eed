#!/usr/bin/env python3
"""A server of OpenAI's Chat Completions that answers from a script, for the scripts that load an upstream.

    scripts/upstreams/scripted.py PORT [--tokens 64] [--rate 50] [--status 200] [--wait 0]

Each answer has so many tokens at so many a second. Another status than 200 refuses every question; with 429 it asks for a
pause of one second. Prints its port. Only the standard library.
"""
import argparse, asyncio, json

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("--tokens", type=int, default=64)
parser.add_argument("--rate", type=float, default=50)
parser.add_argument("--status", type=int, default=200)
parser.add_argument("--wait", type=float, default=0, help="the seconds before the first token")
options = parser.parse_args()

LIST = json.dumps({"object": "list", "data": [{"id": "big", "object": "model", "created": 1, "max_model_len": 8192}]}).encode()


def event(body):
    return b"data: " + (body if isinstance(body, bytes) else json.dumps(body).encode()) + b"\n\n"


def chunk(delta, reason=None):
    return event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "big",
                  "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def whole(status, body, more=b""):
    return (b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n" % (status, len(body), more)) + body


async def answer(writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")

    async def send(data):
        writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()

    loop = asyncio.get_running_loop()
    await asyncio.sleep(options.wait)
    begin = loop.time()
    for number in range(options.tokens):
        due = begin + number / options.rate
        if due > loop.time():
            await asyncio.sleep(due - loop.time())
        await send(chunk({"content": f" w{number}"}))
    await send(chunk({}, "length"))
    await send(event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": options.tokens, "total_tokens": 9 + options.tokens}}))
    await send(event(b"[DONE]"))
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
            await reader.readexactly(length)
            if head.startswith(b"GET"):
                writer.write(whole(200, LIST))
            elif options.status != 200:
                pause = b"Retry-After: 1\r\n" if options.status == 429 else b""
                writer.write(whole(options.status, b'{"error": {"message": "not now"}}', pause))
            else:
                await answer(writer)
            await writer.drain()
            if b"connection: close" in head.lower():
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", options.port, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
