"""10,000 conversations and a thread of 500 messages with the built program: lists, searches, the first paint, scrolling.

    scripts/page/run.sh many            the figures against their bounds
    MANY_CHATS=500 scripts/page/run.sh many
"""
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

from playwright.sync_api import expect, sync_playwright

from live import Program
from speed import FRAMES

COUNT = int(os.environ.get("MANY_CHATS", "10000"))
THREAD = 500
# Milliseconds; a debug build only shows figures.
BOUNDS = {"list": 100, "list, last page": 100, "search": 100, "first rows": 100, "search on the page": 100, "thread": 300, "scroll, list": 34, "scroll, thread": 34}
WORDS = [f"word{number}" for number in range(4000)]
CODE = "\n\n```python\ndef greet(name):\n    return f'Hello, {name}!'\n```\n\n- one *thing*\n- another `thing`\n\n"


def document(id, title, second, texts):
    def moment(number):
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(number))
    messages = [{"id": f"m{index}", "role": "assistant" if index % 2 else "user", "content": text, "isThinking": False, "thinkingContent": "", "images": [], "cards": [],
                 "notices": [], "date": moment(second + index), **({"parent": f"m{index - 1}"} if index else {})} for index, text in enumerate(texts)]
    return {"version": 1, "conversation": {"id": id, "title": title, "created": moment(second), "changed": moment(second + len(texts)), "leaf": messages[-1]["id"]}, "messages": messages}


def export(file):
    """Writes an export with conversations of four messages, and one long thread."""
    chance = random.Random(45)
    now = int(time.time())

    def text(length):
        return " ".join("the" if chance.random() < 0.06 else chance.choice(WORDS) for _ in range(length))

    with open(file, "w") as out:
        out.write('{"format": "hearth-conversations", "version": 1, "conversations": [')
        for number in range(COUNT):
            texts = [f"Question {number} about {text(12)}", text(60), text(10), text(60)]
            out.write(json.dumps(document(f"many-{number}", f"Conversation {number}", now - (COUNT - number) * 3000, texts)) + ",")
        long = [f"Question {index} {text(15)}" if index % 2 == 0 else f"Answer {index} {text(90)}{CODE}{text(60)}" for index in range(THREAD)]
        out.write(json.dumps(document("thread", "A long thread", now - 60, long)) + "]}")


class Desk:
    """Calls with a key of the program, and a page that is signed in."""

    def __init__(self, program, page):
        self.program, self.page = program, page
        self.figures = {}

    def call(self, method, path, body=None, type="application/json"):
        """Calls as the page does, and returns the reply with the milliseconds until it had arrived."""
        return self.page.evaluate("""async ([method, path, type]) => {
            const began = performance.now();
            const headers = { "X-Hearth-Page": localStorage.getItem("hearth-page"), "Content-Type": type };
            const response = await fetch("/hearth/v1" + path, { method, headers });
            const text = await response.text();
            return [JSON.parse(text), performance.now() - began];
        }""", [method, path, type])

    def measure(self, name, body, runs=7):
        times = [body() for _ in range(runs)]
        self.figures[name] = statistics.median(times)

    def get(self, path, check):
        def once():
            reply, took = self.call("GET", path)
            assert check(reply), (path, str(reply)[:300])
            return took
        return once


def import_all(desk, file):
    began = time.monotonic()
    desk.page.goto(f"http://127.0.0.1:{desk.program.port}/#/settings/data")
    with desk.page.expect_file_chooser() as chooser:
        desk.page.get_by_role("button", name="Import", exact=True).click()
    chooser.value.set_files(file)
    expect(desk.page.get_by_text(f"{COUNT + 1:,} new conversations")).to_be_visible(timeout=600_000)
    desk.figures["import, s"] = time.monotonic() - began


def calls(desk):
    first, took = desk.call("GET", "/chats/search?q=word17")
    desk.figures["first search after the start"] = took
    assert first["hits"]
    desk.measure("list", desk.get("/chats?limit=60", lambda reply: len(reply["chats"]) == min(60, COUNT) and reply["chats"][0]["id"] == "thread"))
    last, pages = None, 0
    reply, _ = desk.call("GET", "/chats?limit=500")
    seen = len(reply["chats"])
    while reply.get("next"):
        last, pages = reply["next"], pages + 1
        reply, _ = desk.call("GET", f"/chats?limit=500&before={last}")
        seen += len(reply["chats"])
    assert seen == COUNT + 1, seen
    if last:
        desk.measure("list, last page", desk.get(f"/chats?limit=60&before={last}", lambda reply: reply["chats"]))
    for words in ("word17", "the", "word1", "word12 the", "question", "nowhere-to-be-found"):
        desk.measure(f"search {words}", desk.get(f"/chats/search?q={words.replace(' ', '%20')}&limit=30", lambda reply: "hits" in reply))
    desk.figures["search"] = max(took for name, took in desk.figures.items() if name.startswith("search "))
    desk.measure("thread, reply", desk.get("/chats/thread", lambda reply: len(reply["messages"]) == THREAD))


def screens(desk):
    page, address = desk.page, f"http://127.0.0.1:{desk.program.port}"

    def first_rows():
        page.goto("about:blank")
        page.goto(address + "/#/chat")
        page.locator(".chat-row").first.wait_for()
        # From the reading of the list to its rows on the screen.
        return page.evaluate("""async () => {
            const rows = document.querySelector(".chat-list");
            const { readChats } = await import("/page/data/chats.js");
            rows.replaceChildren();
            rows.views.clear();
            const began = performance.now();
            await readChats();
            while (!document.querySelector(".chat-row")) await new Promise(requestAnimationFrame);
            return performance.now() - began;
        }""")

    desk.measure("first rows", first_rows, 5)
    gap = min(page.evaluate(FRAMES.replace("WORK", "document.querySelector('#rail .chat-scroll').scrollBy(0, 60);"), 3) for _ in range(3))
    desk.figures["scroll, list"] = gap
    assert page.evaluate("document.querySelector('#rail .chat-scroll').scrollTop") > min(5000, COUNT * 20)

    def search():
        page.get_by_role("searchbox", name="Search").first.fill("")
        page.locator(".chat-row:not([data-key^='hit '])").first.wait_for()
        return page.evaluate("""async () => {
            const words = document.querySelector("#rail input[type=search]");
            words.value = "word17";
            const began = performance.now();
            words.dispatchEvent(new Event("input"));
            while (!document.querySelector("[data-key^='hit ']")) await new Promise(requestAnimationFrame);
            return performance.now() - began;
        }""")

    desk.measure("search on the page", search, 5)
    page.get_by_role("searchbox", name="Search").first.fill("")

    def thread():
        page.goto(address + "/#/chat")
        page.get_by_role("textbox", name="Question").wait_for()
        page.wait_for_timeout(300)
        return page.evaluate("""async () => {
            const began = performance.now();
            location.hash = "#/chat/thread";
            while (!document.querySelector(".log > li:last-child .message-bar")) await new Promise(requestAnimationFrame);
            await new Promise(requestAnimationFrame);
            return performance.now() - began;
        }""")

    desk.measure("thread", thread)
    page.wait_for_timeout(1000)
    gap = min(page.evaluate(FRAMES.replace("WORK", "document.querySelector('.scroller').scrollBy(0, -60);"), 3) for _ in range(3))
    desk.figures["scroll, thread"] = gap


def main():
    folder = tempfile.mkdtemp(prefix="hearth-many-")
    program = Program(folder)
    failed = []
    try:
        file = os.path.join(folder, "export.json")
        export(file)
        address = program.start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US").new_page()
            page.set_default_timeout(60_000)
            page.goto(address)
            page.get_by_role("textbox", name="Question").wait_for()
            desk = Desk(program, page)
            import_all(desk, file)
            program.process.terminate()
            program.process.wait(timeout=60)
            page.goto(program.start())
            page.get_by_role("textbox", name="Question").wait_for()
            calls(desk)
            screens(desk)
            browser.close()
        for name, took in desk.figures.items():
            bound = BOUNDS.get(name)
            print(f"{name}: {took:.1f}{f' of {bound}' if bound else ''}")
            if bound and took > bound:
                failed.append(name)
    finally:
        program.end()
        shutil.rmtree(folder, ignore_errors=True)
    if failed:
        sys.exit(f"too slow: {', '.join(failed)}")


if __name__ == "__main__":
    main()
