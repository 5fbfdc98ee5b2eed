"""Files with a question: choose, paste, drop; facts, progress, refusals; a server that goes away during an upload."""
from playwright.sync_api import expect

import hostile_table
from flows import ask, done, ready
from hostile import unhurt

PASTE = """([name, type, text]) => {
    const data = new DataTransfer();
    if (name) data.items.add(new File([text], name, { type })); else data.setData("text/plain", text);
    document.querySelector(".composer textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
DROP = """([name, type, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type }));
    document.querySelector("main .scroller").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def attach(page, name, data, kind="text/plain"):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach a file").click()
    chooser.value.set_files({"name": name, "mimeType": kind, "buffer": data})


def chips(page):
    return page.locator(".composer .file-chip")


def check_files_with_a_question(desk):
    ready(desk)
    page = desk.open()
    desk.world.upload_facts = {"pages": 12, "kind": "pdf", "tokens": 3400, "isEstimated": False}
    attach(page, "Report.pdf", b"%PDF-1.4 The key is blue", "application/pdf")
    expect(chips(page)).to_contain_text("Report.pdf")
    expect(chips(page)).to_contain_text("24 B · 12 pages · 3,400 tokens")
    desk.world.upload_facts = {}
    page.evaluate(PASTE, ["notes.md", "text/markdown", "# Notes"])
    page.evaluate(DROP, ["a.csv", "text/csv", "a,b"])
    expect(chips(page)).to_have_count(3)
    expect(chips(page).nth(2)).to_contain_text("about 1 token")
    chips(page).nth(1).get_by_role("button", name="Remove notes.md").click()
    expect(chips(page)).to_have_count(2)
    ask(page, "What is the key?")
    done(page)
    expect(chips(page)).to_have_count(0)
    bubble = page.locator(".message.user .bubble")
    expect(bubble).to_contain_text("What is the key?")
    expect(bubble.get_by_role("button")).to_have_count(2)
    bubble.get_by_role("button", name="Report.pdf").click()
    expect(page.get_by_role("dialog")).to_contain_text("%PDF-1.4 The key is blue")
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".message.user").get_by_role("button", name="a.csv")).to_be_visible()


def check_only_a_file(desk):
    ready(desk)
    page = desk.open()
    attach(page, "a.txt", b"words")
    page.get_by_role("button", name="Send").click()
    done(page)
    expect(page.locator(".message.user .file-chip")).to_contain_text("a.txt")


def check_a_question_waits_for_its_file(desk):
    """Enter beside a file that is still being read sends the question with it; a file that is taken away sends nothing."""
    ready(desk)
    page = desk.open()
    held = []
    page.route("**/hearth/v1/documents?**", lambda route: held.append(route))

    def ask_early(name, text):
        attach(page, name, b"words")
        expect(chips(page)).to_contain_text(name)
        page.get_by_role("textbox", name="Question").fill(text)
        page.keyboard.press("Enter")
        for _ in range(100):
            if held:
                return held.pop()
            page.wait_for_timeout(20)
        raise AssertionError("the file was not sent")

    ask_early("a.txt", "What is in it?").continue_()
    done(page)
    bubble = page.locator(".message.user .bubble")
    expect(bubble).to_contain_text("What is in it?")
    expect(bubble.get_by_role("button", name="a.txt")).to_be_visible()
    ask_early("b.txt", "And in this?")
    chips(page).get_by_role("button", name="Remove b.txt").click()
    expect(page.get_by_role("button", name="Send")).to_be_enabled()
    expect(page.get_by_role("textbox", name="Question")).to_have_value("And in this?")
    expect(bubble).to_have_count(1)


def check_upload_that_breaks(desk):
    ready(desk)
    page = desk.open()
    desk.world.cuts_uploads = True
    attach(page, "a.txt", b"x" * 2_000_000)
    expect(chips(page).get_by_role("alert")).to_contain_text("Hearth does not answer")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    desk.world.cuts_uploads = False
    chips(page).get_by_role("button", name="Retry").click()
    expect(chips(page)).to_contain_text("2.0 MB")
    expect(page.get_by_role("button", name="Send")).to_be_enabled()


def check_refusals(desk):
    ready(desk)
    page = desk.open()
    desk.world.upload_refusal = (422, "encrypted-document", "the document needs a password", "Save it without one.")
    attach(page, "a.pdf", b"%PDF-")
    expect(chips(page).get_by_role("alert")).to_have_text("the document needs a password. Save it without one.")
    expect(chips(page).get_by_role("button", name="Retry")).to_have_count(0)
    chips(page).get_by_role("button", name="Remove").click()
    desk.world.upload_refusal = None
    before = len(desk.backend.server.requests)
    page.evaluate("""() => {
        const data = new DataTransfer();
        const file = new File(["x"], "huge.bin");
        Object.defineProperty(file, "size", { value: 200 * 1024 * 1024 });
        data.items.add(file);
        const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
        Object.defineProperty(event, "clipboardData", { value: { files: [file], getData: () => "" } });
        document.querySelector(".composer textarea").dispatchEvent(event);
    }""")
    expect(chips(page).get_by_role("alert")).to_contain_text("The file has 209.7 MB, and at most 52.4 MB are read.")
    assert not any("/documents" in path for path in desk.backend.server.requests[before:])
    for index in range(11):
        page.evaluate(PASTE, [f"{index}.txt", "text/plain", "x"])
    expect(chips(page).get_by_role("alert").last).to_contain_text("At most 10 files go with a question.")


def check_pages_and_room(desk):
    ready(desk)
    page = desk.open()
    desk.world.upload_facts = {"kind": "pdf", "pages": 1500, "isCut": True, "tokens": 9000}
    ask(page, "hello")
    done(page)
    attach(page, "long.pdf", b"%PDF-")
    expect(chips(page)).to_contain_text("200 of 1,500 pages")
    expect(chips(page)).to_contain_text("only the beginning fits this model")
    chips(page).get_by_role("button", name="Read all 1,500 pages").click()
    expect(chips(page)).to_contain_text("5 B · 1,500 pages")
    desk.world.upload_facts = {"kind": "pdf", "pages": 9, "isScanned": True, "pictures": 4, "characters": 0, "tokens": 0}
    attach(page, "scan.pdf", b"%PDF-")
    expect(chips(page).last).to_contain_text("scanned")
    page.evaluate(PASTE, ["", "", "long " * 2000])
    expect(chips(page).last).to_contain_text("Pasted text.txt")


def check_it_leaves_the_device(desk):
    ready(desk)
    desk.world.has_cloud = True
    page = desk.open()
    attach(page, "a.txt", b"words")
    expect(page.locator(".files-note")).to_have_text("These files leave this device: they go to gemini-2.5-flash with the question.")
    chips(page).get_by_role("button", name="Remove").click()
    expect(page.locator(".files-note")).to_be_hidden()


def check_hostile_names(desk):
    """Names of files are text: in chips, in the conversation and in the dialog."""
    ready(desk)
    page = desk.open(width=360, height=740)
    expect(page.get_by_role("textbox", name="Question")).to_be_visible()
    names = hostile_table.names()
    for start in range(0, len(names), 10):
        part = names[start:start + 10]
        began = page.evaluate("performance.now()")
        for name in part:
            page.evaluate(PASTE, [name or "x", "text/plain", "x"])
        expect(chips(page)).to_have_count(len(part))
        assert page.evaluate("performance.now()") - began < 200 * len(part) + 2000
        unhurt(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert "\u202e" not in page.inner_text("body")
        page.get_by_role("button", name="Send").click()
        done(page)
        unhurt(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert "\u202e" not in page.inner_text("body")
        page.locator(".message.user .file-chip").first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        page.goto(desk.backend.address + "/#/chat")
        expect(chips(page)).to_have_count(0)


def check_looks(desk):
    """Chips in each state, files in a conversation, their text, and formulas: axe, both colours, wide and narrow."""
    import formulas
    from look import inspect
    ready(desk)
    desk.world.chats.rate = 2000
    desk.world.chats.script["the formula"] = formulas.ANSWER
    for scheme, width, height in (("light", 1280, 800), ("dark", 360, 740)):
        page = desk.open(width=width, height=height, scheme=scheme)
        expect(page.get_by_role("textbox", name="Question")).to_be_visible()
        page.evaluate(PASTE, ["a.txt", "text/plain", "some words"])
        expect(chips(page)).to_contain_text("tokens")
        ask(page, "the formula")
        done(page)
        expect(page.locator(".prose math").first).to_be_visible()
        desk.world.upload_facts = {"kind": "pdf", "pages": 1500, "isCut": True, "tokens": 9000}
        page.evaluate(PASTE, ["long name " * 20 + ".pdf", "application/pdf", "%PDF-"])
        expect(chips(page)).to_contain_text("1,500")
        desk.world.upload_facts = {}
        desk.world.cuts_uploads = True
        page.evaluate(PASTE, ["broken.txt", "text/plain", "x"])
        expect(chips(page).last.get_by_role("alert")).to_be_visible()
        desk.world.cuts_uploads = False
        inspect(page, f"files-{scheme}")
        page.locator(".message.user .file-chip").click()
        inspect(page, f"files-text-{scheme}")
