"""Many conversations: the list and its groups, pins, the archive, folders, the search, import and export; long threads."""
import datetime
import re

from playwright.sync_api import expect

import chats


def dated(desk, title, days, **facts):
    """A conversation that changed some days ago."""
    chat = desk.world.chats.begin(title)
    moment = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)
    chat.update(changed=moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"), **facts)
    return chat


def filled(desk, count):
    for index in range(count):
        dated(desk, f"Conversation {index:05}", index / 100)


def row(page, title):
    return page.locator(".chat-row", has=page.get_by_text(title, exact=True))


def command(page, title, name):
    page.get_by_role("button", name=f"Manage “{title}”").first.click()
    page.get_by_role("menuitem", name=name, exact=True).click()


def check_groups_and_pages(desk):
    for title, days in (("Now", 0), ("Day before", 1), ("Some days", 4), ("Some weeks", 20), ("Long ago", 400)):
        dated(desk, title, days)
    dated(desk, "Kept on top", 300, pinned=True)
    page = desk.open()
    groups = page.locator(".chat-group")
    expect(groups).to_have_count(6)
    texts = groups.all_inner_texts()
    assert texts[:5] == ["Pinned", "Today", "Yesterday", "Previous 7 days", "Previous 30 days"], texts
    assert re.fullmatch(r"\w+ 20\d\d", texts[5]), texts
    assert page.locator(".chat-row .chat-name").all_inner_texts() == ["Kept on top", "Now", "Day before", "Some days", "Some weeks", "Long ago"]


def check_all_chats_are_reachable(desk):
    filled(desk, 1000)
    page = desk.open()
    expect(page.get_by_text("Conversation 00000")).to_be_visible()
    assert page.locator(".chat-row").count() < 60
    for _ in range(40):
        page.locator(".chat-scroll").evaluate("node => { node.scrollTop = node.scrollHeight; }")
        page.wait_for_timeout(60)
        if page.get_by_text("Conversation 00999").is_visible():
            break
    expect(page.get_by_text("Conversation 00999")).to_be_visible()
    assert page.locator(".chat-row").count() < 80
    # A changed conversation comes to the top, wherever the list is.
    first = next(chat for chat in desk.world.chats.all.values() if chat["title"] == "Conversation 00700")
    first["changed"] = "2100-01-01T00:00:00.000Z"
    desk.world.emit("chat", {"chat": first})
    page.locator(".chat-scroll").evaluate("node => { node.scrollTop = 0; }")
    expect(page.locator(".chat-row .chat-name").first).to_have_text("Conversation 00700")


def check_pin_archive_move_rename_delete(desk):
    for title in ("One", "Two", "Three"):
        dated(desk, title, 1)
    page = desk.open()
    command(page, "Two", "Pin")
    expect(page.locator(".chat-group").first).to_have_text("Pinned")
    expect(page.locator(".chat-row .chat-name").first).to_have_text("Two")
    command(page, "Two", "Unpin")
    expect(page.locator(".chat-group")).to_have_count(1)
    command(page, "One", "Archive")
    expect(row(page, "One")).to_have_count(0)
    filter = page.get_by_label("Which conversations")
    filter.select_option(label="Archived (1)")
    expect(row(page, "One")).to_be_visible()
    expect(row(page, "Two")).to_have_count(0)
    command(page, "One", "Unarchive")
    expect(page.get_by_text("No conversations here")).to_be_visible()
    filter.select_option(label="All conversations")
    command(page, "Three", "Move to folder…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Folder").fill("Work")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    filter.select_option(label="Work (1)")
    expect(row(page, "Three")).to_be_visible()
    expect(page.locator(".chat-row")).to_have_count(1)
    filter.select_option(label="All conversations")
    command(page, "Two", "Rename")
    dialog.get_by_label("Title").fill("Second")
    dialog.get_by_role("button", name="Save").click()
    expect(row(page, "Second")).to_be_visible()
    command(page, "Second", "Delete conversation")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(row(page, "Second")).to_have_count(0)
    expect(page.locator(".chat-row")).to_have_count(2)


def check_archive_can_be_undone(desk):
    dated(desk, "One", 1)
    page = desk.open()
    command(page, "One", "Archive")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(row(page, "One")).to_be_visible()
    # The menu of an open conversation has the same commands.
    row(page, "One").get_by_role("link").click()
    expect(page.get_by_role("heading", name="One", level=1)).to_be_visible()
    page.get_by_role("button", name="Commands of the conversation").click()
    page.get_by_role("menuitem", name="Pin", exact=True).click()
    expect(page.locator(".chat-group").first).to_have_text("Pinned")


def check_list_by_keyboard_and_narrow(desk):
    filled(desk, 200)
    page = desk.open("/#/chats", width=360, height=740)
    expect(page.get_by_role("main").get_by_text("Conversation 00000")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("main").get_by_role("searchbox", name="Search").focus()
    seen = set()
    for _ in range(260):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.closest('.chat-row')?.dataset.key ?? ''"))
    # Link and button of each row are a step; the list goes along.
    assert len(seen) > 110, len(seen)
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Rename").or_(page.get_by_role("textbox", name="Question")).first).to_be_visible()


def check_search_by_conversation(desk):
    for index in range(70):
        chat = dated(desk, f"Trip {index:02}", index)
        desk.world.chats.message(chat["id"], "user", f"Where is Lisbon {index}?", date=chat["changed"])
        desk.world.chats.message(chat["id"], "assistant", "Lisbon is in the south.", date=chat["changed"])
    page = desk.open()
    # The field of the question takes the focus when it is ready.
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    page.get_by_role("searchbox", name="Search").fill("lisbon")
    expect(page.locator(".chat-row").first).to_contain_text("2 messages · Lisbon is in the south.")
    seen = set()
    for _ in range(60):
        seen |= set(page.locator(".chat-row .chat-name").all_inner_texts())
        page.locator(".chat-scroll").evaluate("node => { node.scrollTop += 400; }")
        page.wait_for_timeout(50)
    assert len(seen) == 70, len(seen)
    day = datetime.date.today() - datetime.timedelta(days=10)
    page.get_by_label("From").fill(day.isoformat())
    page.get_by_label("To", exact=True).fill((day + datetime.timedelta(days=2)).isoformat())
    expect(page.locator(".chat-row")).to_have_count(3)
    page.get_by_role("searchbox", name="Search").fill("nowhere")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    page.get_by_role("searchbox", name="Search").fill("")
    expect(page.locator(".chat-group").first).to_be_visible()
    assert page.locator(".chat-row").count() > 10


def check_import_and_export(desk):
    page = desk.open("/#/settings/data")
    button = page.get_by_role("button", name="Import", exact=True)

    def give(name, text):
        with page.expect_file_chooser() as chooser:
            button.click()
        chooser.value.set_files({"name": name, "mimeType": "application/json", "buffer": text.encode()})

    give("conversations.json", '["First", "Second", ""]')
    expect(page.get_by_text("2 new conversations")).to_be_visible()
    expect(page.get_by_text("Number 3: An id, a folder or the title cannot be kept.")).to_be_visible()
    give("conversations.json", '["First", "Second"]')
    expect(page.get_by_text("0 new conversations")).to_be_visible()
    expect(page.get_by_text("2 were here already")).to_be_visible()
    give("<img src=x>.json", '["Fir')
    expect(page.locator(".note.error")).to_contain_text("it is cut off")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export all conversations").click()
    assert "First" in open(download.value.path()).read()


def thread(desk, count):
    chat = desk.world.chats.begin("A long conversation")
    for index in range(count // 2):
        desk.world.chats.message(chat["id"], "user", f"Question {index}: tell me more about it.")
        desk.world.chats.message(chat["id"], "assistant", f"Answer {index}. " + chats.CODE + chats.long_answer(80), facts=chats.Chats.FACTS)
    return chat["id"]


def check_long_thread_draws_what_is_seen(desk):
    id = thread(desk, 500)
    page = desk.open(f"/#/chat/{id}")
    expect(page.locator(".log > li").last).to_be_in_viewport(timeout=15000)
    page.wait_for_timeout(500)
    assert page.locator(".log > li").count() == 500
    assert page.locator(".message-bar").count() < 60, page.locator(".message-bar").count()
    log = page.get_by_role("list", name="Conversation", exact=True)
    assert log.get_by_role("listitem").count() >= 500
    # Upwards, the place stays while messages are drawn.
    scroller = page.locator(".scroller")
    for _ in range(20):
        scroller.evaluate("node => node.scrollBy(0, -700)")
        page.wait_for_timeout(40)
    page.wait_for_timeout(200)
    shown = page.evaluate("""() => [...document.querySelectorAll('.log > li')].filter((node) => {
        const box = node.getBoundingClientRect();
        return box.bottom > 60 && box.top < innerHeight - 200;
    }).every((node) => node.querySelector('.message-bar'))""")
    assert shown
    top = page.evaluate("document.querySelector('.scroller').scrollTop")
    page.wait_for_timeout(500)
    assert page.evaluate("document.querySelector('.scroller').scrollTop") == top
    wanted = desk.world.chats.messages[id][40]["id"]
    page.goto(f"{desk.backend.address}/#/chat/{id}/at/{wanted}")
    expect(page.get_by_text("Question 20:")).to_be_in_viewport(timeout=15000)
    page.wait_for_timeout(400)
    expect(page.get_by_text("Question 20:")).to_be_in_viewport()


def check_private_is_marked(desk):
    chat = desk.world.chats.begin("Secret", is_private=True)
    page = desk.open(f"/#/chat/{chat['id']}")
    expect(page.locator(".chat-head").get_by_text("Private", exact=True)).to_be_visible()
    other = desk.world.chats.begin("Other")
    page.goto(f"{desk.backend.address}/#/chat/{other['id']}")
    expect(page.get_by_role("heading", name="Other")).to_be_visible()
    expect(page.locator(".chat-head").get_by_text("Private", exact=True)).to_be_hidden()
