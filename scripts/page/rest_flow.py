"""Rings, reading aloud, shortcuts, news, dialogs and files of records."""
import re

from playwright.sync_api import expect

from flows import ask, done, ready
from records import at

# A desktop with one voice of the device and one of a service: the page uses the first only.
VOICES = """
    window.said = [];
    window.cancelled = 0;
    const voice = (name, lang, localService) => ({ name, lang, localService, default: false, voiceURI: name });
    const voices = [voice("Far", "en-US", false), voice("Near", "en-GB", true), voice("Nah", "de-DE", true)];
    window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
    Object.defineProperty(window, "speechSynthesis", { value: {
        getVoices: () => voices, addEventListener() {},
        speak(words) { said.push([words.voice.name, words.text]); window.present = words; },
        cancel() { cancelled += 1; },
    } });
"""


def check_reading_aloud(desk):
    ready(desk)
    desk.world.chats.rate = 3000
    page = desk.open("/#/chat")
    ask(page, "Show code")
    done(page)
    expect(page.get_by_role("button", name="Read aloud")).to_have_count(0)
    page.add_init_script(VOICES)
    page.reload()
    done(page)
    page.get_by_role("button", name="Read aloud").last.click()
    expect(page.get_by_role("button", name="Stop reading")).to_be_visible()
    for _ in range(20):
        page.evaluate("present.onend()")
    expect(page.get_by_role("button", name="Read aloud").last).to_be_visible()
    said = page.evaluate("said")
    assert said and all(name == "Near" for name, _ in said), said
    text = " ".join(words for _, words in said)
    assert "`" not in text and "func " not in text and "def " not in text, text
    page.get_by_role("button", name="Read aloud").last.click()
    page.evaluate("location.hash = '#/models'")
    page.wait_for_function("cancelled > 0")


def check_spoken_words(desk):
    page = desk.open("/#/chat")
    cases = [
        ("# Title\n\nSome *text* and `code`.", "Title\nSome text and code."),
        ("Before\n```js\nlet a = 1;\n```\nAfter", "Before\nAfter"),
        ("Before\n~~~\nno end", "Before"),
        ("Sum $x_1 + y$ and $$a^2$$ end", "Sum and end"),
        ("It costs $5 or $6.", "It costs $5 or $6."),
        ("A [link](https://example.org/a) and https://example.org/b here", "A link and here"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ", a , b ,\n, 1 , 2 ,"),
        ("- one\n- two", "one\ntwo"),
        ("<b>bold</b> text", "bold text"),
    ]
    for source, words in cases:
        found = page.evaluate("async (text) => (await import('/page/chat/speech.js')).spoken(text)", source)
        assert found == words, (source, found)
    tags = [("Das ist ein Satz und der ist nicht lang.", "de"), ("This is a sentence and it is not long.", "en"), ("Это предложение.", "ru"), ("これは文です。", "ja"), ("12 34", "en")]
    for source, tag in tags:
        found = page.evaluate("async (text) => (await import('/page/chat/speech.js')).languageOf(text)", source)
        assert found == tag, (source, found)


def check_a_ring_in_two_pages(desk):
    ready(desk)
    first, second = desk.open("/#/chat"), desk.open("/#/models")
    expect(first.get_by_role("textbox", name="Question")).to_be_visible()
    expect(second.get_by_role("heading", name="AI Model")).to_be_visible()
    # Both have read the rings: what begins from now on is an event.
    for _ in range(100):
        if sum(request.endswith("/rings") for request in desk.backend.server.requests) >= 2:
            break
        first.wait_for_timeout(50)
    desk.world.rings.begin("1", "Call Anna", at(0, 9))
    for page in (first, second):
        expect(page.get_by_role("group", name="Call Anna")).to_be_visible()
    covered = first.evaluate("""() => {
        const field = document.querySelector('.composer textarea').getBoundingClientRect();
        return document.elementFromPoint(field.x + 10, field.y + 10).closest('#news') !== null;
    }""")
    assert not covered
    first.get_by_role("button", name="Snooze").click()
    first.get_by_role("menuitem", name="1 hour").click()
    for page in (first, second):
        expect(page.get_by_role("group", name="Call Anna")).to_have_count(0)
    assert desk.world.rings.answers == [("1", {"answer": "snooze", "snooze": "1-hour"})]
    assert sorted(desk.world.rings.played) == ["1", "1"], "both ask, and one plays"
    desk.world.rings.begin("2", "Pay <b>rent</b>", at(-1, 9), isLate=True)
    expect(second.get_by_text("late")).to_be_visible()
    desk.world.rings.open.clear()
    second.get_by_role("group", name="Pay <b>rent</b>").get_by_role("button", name="Done").click()
    expect(second.get_by_role("group", name="Pay <b>rent</b>")).to_have_count(0)
    first.reload()
    desk.world.rings.miss(7)
    expect(first.get_by_text("7 more fell due.")).to_be_visible()
    first.locator("#rings").get_by_role("button", name="Close").click()
    expect(first.get_by_text("7 more fell due.")).to_have_count(0)


def check_shortcuts(desk):
    ready(desk)
    page = desk.open("/#/models")
    expect(page.get_by_role("heading", name="AI Model")).to_be_visible()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_text("Write a question")).to_be_visible()
    page.keyboard.press("s")
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    page.keyboard.type("s?n")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("s?n")
    page.keyboard.press("Tab")
    page.keyboard.press("l")
    expect(page.locator(".chat-list-box")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search").first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    page.get_by_role("switch", name="Use shortcuts of one key").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_timeout(100)
    assert "settings" not in page.url


def check_news_and_dialogs(desk):
    ready(desk)
    page = desk.open("/#/chat")
    expect(page.get_by_role("textbox", name="Question")).to_be_visible()
    for path in ("/page/kit/toast.js",):
        page.evaluate("async (path) => (await import(path)).toast('News for the page')", path)
    expect(page.locator(".toast")).to_be_visible()
    covers = page.evaluate("""() => {
        const box = document.querySelector('.toast').getBoundingClientRect();
        return [...document.querySelectorAll('main, #rail, .composer')].some((part) => {
            const other = part.getBoundingClientRect();
            return box.left < other.right && other.left < box.right && box.top < other.bottom - 1 && other.top < box.bottom - 1;
        });
    }""")
    assert not covers
    page.goto(desk.backend.address + "/#/models")
    page.get_by_role("button", name="Add model").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.evaluate("async () => (await import('/page/kit/toast.js')).toast('News for the dialog')")
    expect(page.get_by_role("dialog").get_by_text("News for the dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#news").get_by_text("News for the dialog")).to_be_visible()


def check_files_of_records(desk):
    page = desk.open("/#/stores/calendar")
    expect(page.get_by_role("button", name="Lunch with Anna")).to_be_visible()
    text = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Fair\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    for sentence in ("Calendar: 1 new, 0 changed, 0 known already.", "Calendar: 0 new, 0 changed, 1 known already."):
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Import").click()
        chooser.value.set_files({"name": "fair.ics", "mimeType": "text/calendar", "buffer": text.encode()})
        expect(page.locator(".toast", has_text=sentence)).to_be_visible()
    expect(page.get_by_role("button", name="Fair")).to_be_visible()
    page.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_role("button", name="Fair")).to_have_count(0)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import").click()
    chooser.value.set_files({"name": "picture.png", "mimeType": "image/png", "buffer": b"\x89PNG"})
    expect(page.locator(".toast.error")).to_have_text(re.compile("neither iCalendar nor vCard"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export").click()
    assert saved.value.path().read_bytes().startswith(b"BEGIN:VCALENDAR")


def check_all_records(desk):
    page = desk.open("/#/stores/all")
    expect(page.get_by_role("link", name="Lunch with Anna")).to_be_visible()
    expect(page.get_by_role("link", name="Book list")).to_be_visible()
    page.get_by_role("button", name="Notes", exact=True).click()
    expect(page.get_by_role("link", name="Book list")).to_have_count(0)
    page.locator("main").get_by_role("searchbox", name="Search").fill("bank")
    expect(page.get_by_role("link", name="Lunch with Anna")).to_have_count(0)
    page.get_by_role("link", name="Call the bank").click()
    expect(page.get_by_role("checkbox", name="Complete Call the bank")).to_be_visible()
    expect(page.get_by_role("checkbox")).to_have_count(1)


def check_filters_of_records(desk):
    page = desk.open("/#/stores/reminders")
    expect(page.get_by_role("heading", name="Late")).to_be_visible()
    page.get_by_role("button", name="Overdue").click()
    expect(page.get_by_role("checkbox")).to_have_count(1)
    page.get_by_role("button", name="Today").click()
    expect(page.get_by_role("checkbox", name="Complete Call the bank")).to_be_visible()
    page.goto(desk.backend.address + "/#/stores/calendar")
    page.locator("main").get_by_role("searchbox", name="Search").fill("dentist")
    expect(page.get_by_role("button", name="Dentist")).to_be_visible()
    expect(page.get_by_role("button", name="Lunch with Anna")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 740})
    page.goto(desk.backend.address + "/#/stores/habits")
    box = page.locator(".habit .name").bounding_box()
    assert box["height"] < 40, "the name stands in one line"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
