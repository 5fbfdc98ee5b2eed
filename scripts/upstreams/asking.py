"""Clients that load a server and check each reply. Only the standard library."""
import asyncio, json, time


class Reply:
    """One reply: its status, the times of its first and last token, its tokens, and whether it has an end or a code."""

    def __init__(self):
        self.status, self.first, self.seconds, self.tokens = 0, None, 0, 0
        self.headers, self.code, self.isWhole, self.text = {}, None, False, b""

    @property
    def ended(self):
        """A reply that is complete, or says with a code why it failed."""
        return self.isWhole or self.code is not None


async def ask(port, model, more=None, key=None, limit=60):
    """Streams one answer of Chat Completions. A reply that does not come in time has neither an end nor a code."""
    reply, begin = Reply(), time.perf_counter()
    body = json.dumps({"model": model, "stream": True, "max_tokens": 64, "temperature": 0,
                       "messages": [{"role": "user", "content": "Tell me about rivers."}], **(more or {})}).encode()
    try:
        await asyncio.wait_for(_read(port, body, key, reply, begin), limit)
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        pass
    reply.seconds = time.perf_counter() - begin
    return reply


async def _read(port, body, key, reply, begin):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        field = f"Authorization: Bearer {key}\r\n" if key else ""
        writer.write((f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{field}"
                      f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        reply.status = int(head[0].split()[1])
        reply.headers = {line.split(":", 1)[0].lower(): line.split(":", 1)[1].strip() for line in head[1:] if ":" in line}
        rest = b""
        while piece := await reader.read(65536):
            reply.text += piece
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                _take(line.strip(), reply, begin)
        _take(rest.strip(), reply, begin)
    finally:
        writer.close()


def _take(line, reply, begin):
    if line == b"data: [DONE]":
        reply.isWhole = True
    start = line.find(b"{")
    if start < 0:
        return
    try:
        body = json.loads(line[start:])
    except ValueError:
        return
    if error := body.get("error"):
        reply.code = error.get("code") or error.get("type")
    for choice in body.get("choices") or []:
        if choice.get("delta", {}).get("content") or choice.get("delta", {}).get("reasoning_content"):
            reply.first = reply.first or time.perf_counter() - begin
            reply.tokens += 1


async def load(clients, port, model, seconds=None, each=None, key=None, limit=60):
    """So many clients, each of which sends its next question when it has a reply: for a time, or so many questions each."""
    replies, end = [], time.perf_counter() + (seconds or 1e9)

    async def client():
        count = 0
        while time.perf_counter() < end and count < (each or 1e9):
            count += 1
            reply = await ask(port, model, key=key, limit=limit)
            replies.append(reply)
            # A refusal at once must not become a loop.
            if reply.status != 200:
                await asyncio.sleep(0.1)

    await asyncio.gather(*(client() for _ in range(clients)))
    return replies
