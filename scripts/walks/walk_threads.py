"""All conversations are reachable, can leave and come back."""
import json
import os
import re
import zipfile

from playwright.sync_api import expect

from steps import answered, api, ask, chat_id
from walk import quick


def made(page, count, text=lambda index: f"Question number {index} about lighthouses"):
    """Brings so many conversations in, as Open WebUI writes them."""
    chats = []
    for index in range(count):
        id = f"00000000-0000-4000-8000-{index:012}"
        question, answer = f"q{index}", f"a{index}"
        time = 1_700_000_000 + index * 3600
        chats.append({"id": id, "title": f"Talk {index}", "created_at": time, "updated_at": time, "chat": {"title": f"Talk {index}", "history": {
            "currentId": answer, "messages": {
                question: {"id": question, "parentId": None, "childrenIds": [answer], "role": "user", "content": text(index), "timestamp": time},
                answer: {"id": answer, "parentId": question, "childrenIds": [], "role": "assistant", "content": f"Answer {index}", "timestamp": time + 1, "model": "other"},
            }}}})
    return json.dumps(chats).encode()


# Scrolls whatever can be scrolled to its end.
DOWN = """node => { for (const one of [node, ...node.querySelectorAll('*')]) if (one.scrollHeight > one.clientHeight + 40) one.scrollTop = one.scrollHeight; }"""


def bring_in(page, home, name, data):
    page.goto(f"{home.base}/#/settings/data")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import", exact=True).click()
    chooser.value.set_files({"name": name, "mimeType": "application/zip" if name.endswith(".zip") else "application/json", "buffer": data})
    expect(page.get_by_text(f"Import of {name}")).to_be_visible(timeout=180000)


def walk_all_chats(w):
    """Only the newest 200 chats are listed, search stops at 20
    450 conversations: scroll to the oldest; search a word that all have, to the last hit
    250 could not be reached"""
    home = w.home(0)
    page = w.open(home)
    bring_in(page, home, "chats.json", made(page, 450))
    expect(page.get_by_text(re.compile("450"))).to_be_visible(timeout=60000)
    page.goto(f"{home.base}/#/chats")
    main = page.locator("main")
    expect(main.get_by_text("Talk 449", exact=True)).to_be_visible()
    last = main.get_by_text("Talk 0", exact=True)
    for _ in range(200):
        if last.count():
            break
        main.evaluate(DOWN)
        page.wait_for_timeout(60)
    expect(last).to_be_visible()
    main.get_by_role("searchbox").fill("lighthouses")
    expect(main.get_by_text("Question number").first).to_be_visible()
    main.evaluate(DOWN.replace("one.scrollHeight; }", "0; }"))
    expect(main.get_by_text("Talk 449", exact=True)).to_be_visible()
    for _ in range(200):
        if last.count():
            break
        main.evaluate(DOWN)
        page.wait_for_timeout(60)
    expect(last).to_be_visible()


@quick
def walk_pin_folder_archive(w):
    """No pin, folders, archive or dates
    pin one, put one into a folder, archive one; find each again
    none of them"""
    home = w.home(0)
    page = w.open(home)
    bring_in(page, home, "chats.json", made(page, 5))
    page.goto(f"{home.base}/#/chats")
    main = page.locator("main")
    chats = {chat["title"]: chat["id"] for chat in api(page, "GET", "/chats")["chats"]}
    row = main.locator("li", has_text="Talk 0").last
    row.hover()
    row.get_by_role("button", name=re.compile("Talk 0")).click()
    page.get_by_role("menuitem", name="Pin", exact=True).click()
    expect(main.get_by_text("Pinned", exact=True)).to_be_visible()
    api(page, "PATCH", f"/chats/{chats['Talk 1']}", {"archived": True})
    api(page, "PATCH", f"/chats/{chats['Talk 2']}", {"folder": "Travel"})
    expect(main.get_by_text("Talk 1", exact=True)).to_be_hidden()
    expect(main.get_by_text("Talk 3", exact=True)).to_be_visible()


@quick
def walk_chatgpt_import(w):
    """Conversations of ChatGPT cannot come in
    Settings, Data folder, Import: a ZIP with a branch; again
    no import"""
    nodes = {
        "root": {"id": "root", "parent": None, "children": ["system"], "message": None},
        "system": {"id": "system", "parent": "root", "children": ["u1"], "message": {"id": "system", "author": {"role": "system"}, "create_time": None,
            "content": {"content_type": "text", "parts": [""]}, "metadata": {"is_visually_hidden_from_conversation": True}}},
        "u1": {"id": "u1", "parent": "system", "children": ["a1", "a2"], "message": {"id": "u1", "author": {"role": "user"}, "create_time": 1700000000.5,
            "content": {"content_type": "text", "parts": ["How high is the lighthouse?"]}}},
        "a1": {"id": "a1", "parent": "u1", "children": [], "message": {"id": "a1", "author": {"role": "assistant"}, "create_time": 1700000001.5,
            "content": {"content_type": "text", "parts": ["Forty metres."]}}},
        "a2": {"id": "a2", "parent": "u1", "children": [], "message": {"id": "a2", "author": {"role": "assistant"}, "create_time": 1700000002.5,
            "content": {"content_type": "text", "parts": ["Forty-one metres."]}}},
    }
    import io
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"id": "c1", "conversation_id": "c1", "title": "A lighthouse", "create_time": 1700000000.0,
            "update_time": 1700000002.5, "mapping": nodes, "current_node": "a2"}]))
        archive.writestr("user.json", "{}")
    home = w.home(0)
    page = w.open(home)
    for _ in range(2):
        bring_in(page, home, "export.zip", data.getvalue())
        page.wait_for_timeout(800)
        chats = api(page, "GET", "/chats")["chats"]
        assert [chat["title"] for chat in chats] == ["A lighthouse"], chats
    page.goto(f"{home.base}/#/chat/{chats[0]['id']}")
    expect(page.locator(".prose").first).to_have_text("Forty-one metres.")
    page.get_by_role("button", name="Previous alternative").click()
    expect(page.locator(".prose").first).to_have_text("Forty metres.")
    assert page.locator(".message").count() == 2


def walk_long_thread(w):
    """A thread of 500 messages opens slowly
    open it, scroll up to its first message
    0.45 to 0.78 s"""
    home = w.home(0)
    page = w.open(home)
    messages, before = {}, None
    for index in range(500):
        id = f"m{index}"
        messages[id] = {"id": id, "parentId": before, "childrenIds": [], "role": "user" if index % 2 == 0 else "assistant", "timestamp": 1_700_000_000 + index,
                        "content": f"Message {index}: " + ("why is it so?" if index % 2 == 0 else "**Because** of the `light`.\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")}
        if before:
            messages[before]["childrenIds"].append(id)
        before = id
    data = json.dumps([{"id": "long", "title": "Long", "created_at": 1_700_000_000, "updated_at": 1_700_000_500,
                        "chat": {"title": "Long", "history": {"currentId": before, "messages": messages}}}]).encode()
    bring_in(page, home, "long.json", data)
    page.wait_for_timeout(1500)
    id = api(page, "GET", "/chats")["chats"][0]["id"]
    times = []
    for _ in range(5):
        page.goto(f"{home.base}/#/models")
        page.wait_for_timeout(300)
        times.append(page.evaluate("""async (id) => {
            const begin = performance.now();
            location.hash = `#/chat/${id}`;
            while (!document.querySelector('.log')?.innerText.includes('Message 498')) await new Promise((resolve) => requestAnimationFrame(resolve));
            await new Promise((resolve) => requestAnimationFrame(resolve));
            return performance.now() - begin;
        }""", id))
    times.sort()
    page.locator(".scroller").evaluate("""async (node) => { for (let index = 0; index < 200 && !node.innerText.includes('Message 0:'); index++) {
        node.scrollTop = 0; await new Promise((resolve) => setTimeout(resolve, 50)); } }""")
    expect(page.get_by_text("Message 0:")).to_be_visible()
    assert times[2] <= 300, times
    return f"median {times[2]:.0f} ms, slowest {times[-1]:.0f} ms"


def walk_round_trip(w):
    """Conversations cannot be moved to another machine
    export all, import into a fresh home: equal
    no import"""
    home = w.home(1)
    page = w.open(home)
    ask(page, w, "Name one colour.")
    answered(page, w)
    page.get_by_role("button", name="Answer again").first.click()
    answered(page, w)
    first = api(page, "GET", f"/chats/{chat_id(page)}")
    page.goto(f"{home.base}/#/settings/data")
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^Export")).first.click()
    path = os.path.join(home.folder, download.value.suggested_filename)
    download.value.save_as(path)
    other = w.home(0)
    second = w.open(other)
    with open(path, "rb") as file:
        bring_in(second, other, os.path.basename(path), file.read())
    second.wait_for_timeout(1500)
    chats = api(second, "GET", "/chats")["chats"]
    assert len(chats) == 1, chats
    there = api(second, "GET", f"/chats/{chats[0]['id']}")
    same = lambda thread: [(one["role"], one["content"], one["date"], one["branch"]["ids"].__len__()) for one in thread["messages"]]
    assert same(first) == same(there), (same(first), same(there))
    assert first["chat"]["title"] == there["chat"]["title"]
