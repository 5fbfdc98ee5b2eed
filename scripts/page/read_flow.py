"""Reading a scan: boxes, corrections, files, the keyboard alone, and files that are no scans."""
import json
import os
import re
import tempfile
import xml.etree.ElementTree as ElementTree

from playwright.sync_api import expect

import models
from hostile import SCRIPTED, unhurt
from look import inspect
from scan import TEXT, scan

SPACE = "{http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15}"


def ready(desk, *names):
    """Puts a text model and classifiers into the world, and a scan that it reads; returns the scan."""
    desk.world.models.rows = models.many_states() + [
        models.row(name, name, "Tells 972 characters apart.", 1_017_135, 60_000_000, role="classifier", format="onnx", state="downloaded", variant=None)
        for name in names or ("hearth-hanzi",)]
    picture, desk.world.reading = scan()
    return picture


def give(page, content, name="page.png", kind="image/png"):
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": kind, "buffer": content})


def lines(columns=10, length=20):
    text = "".join(TEXT[number % len(TEXT)] for number in range(columns * length))
    return [text[begin:begin + length] for begin in range(0, len(text), length)]


def saved(page, button):
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    with open(download.value.path(), encoding="utf-8") as file:
        return download.value.suggested_filename, file.read()


def check_without_a_classifier(desk):
    desk.world.models.rows = models.many_states()
    page = desk.open("/#/read")
    expect(page.get_by_text("No classifier is on this device yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Choose a picture")).to_be_hidden()
    inspect(page, "read-none")
    row = models.row("hearth-hanzi", "hearth-hanzi", "", 1, 1, role="classifier", format="onnx", state="downloaded")
    desk.world.models.rows.append(row)
    desk.world.models.changed(row)
    expect(page.get_by_role("button", name="Choose a picture")).to_be_visible()
    expect(page.get_by_text("No classifier is on this device yet.")).to_be_hidden()
    expect(page.get_by_label("Classifier")).to_be_hidden()


def check_the_card_leads_to_the_screen(desk):
    ready(desk)
    page = desk.open("/#/models")
    page.get_by_role("button", name="Read pictures with hearth-hanzi").click()
    expect(page.get_by_role("heading", name="Read a page of characters")).to_be_visible()
    page.get_by_role("link", name="Models").first.click()
    page.get_by_role("button", name="Manage hearth-hanzi").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Use for text")).to_be_hidden()
    dialog.get_by_role("link", name="Read pictures").click()
    expect(page.get_by_role("button", name="Choose a picture")).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()


def check_decode_all_asks_after_its_offer(desk):
    picture = ready(desk)
    desk.world.offer = {"characters": 20, "requests": 18, "cloud": "claude", "credits": {"left": 40, "of": 100}}
    page = desk.open("/#/read")
    give(page, picture)
    expect(page.get_by_text("This device is not sure of 20 characters. Decode All sends their pictures to claude: 18 requests.")).to_be_visible()
    expect(page.get_by_text("40 of 100 credits are left this month")).to_be_visible()
    assert desk.world.asked["cloud"] == "0"
    page.locator(".read-cell.accepted").first.click()
    page.get_by_label("Other character").fill("囍")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Decode All").click()
    expect(page.locator(".read-cell.verified")).to_have_count(20)
    expect(page.locator(".read-cell.unverified")).to_have_count(0)
    expect(page.get_by_role("button", name="Decode All")).to_have_count(0)
    assert desk.world.asked["cloud"] == "18"
    assert page.locator(".read-text").inner_text().startswith("囍"), "a correction stays"
    inspect(page, "read-decoded")


def check_read_correct_and_save(desk):
    picture = ready(desk)
    page = desk.open("/#/read")
    give(page, picture)
    expect(page.locator(".read-status").get_by_text("200 characters, read by hearth-hanzi@1.0.0")).to_be_visible()
    boxes = page.locator(".read-cell")
    expect(boxes).to_have_count(200)
    for verdict, count in (("accepted", 160), ("uncertain", 20), ("unverified", 20)):
        expect(page.locator(f".read-cell.{verdict}")).to_have_count(count)
    assert page.locator(".read-text").inner_text().split("\n") == lines()
    expect(boxes.nth(7)).to_have_attribute("aria-label", f"Character 8: {TEXT[7]}, unverified, 34 %")
    # The second column of the text lies left of the first.
    assert boxes.nth(20).bounding_box()["x"] < boxes.nth(0).bounding_box()["x"]
    boxes.nth(7).click()
    panel = page.get_by_role("region", name="Chosen character")
    expect(panel.get_by_role("img", name="The character on the scan")).to_be_visible()
    expect(panel.locator(".read-candidates li")).to_have_count(5)
    panel.get_by_role("button", name=re.compile("^入")).click()
    expect(panel).to_be_hidden()
    expect(boxes.nth(7)).to_be_focused()
    expect(boxes.nth(7)).to_have_class("read-cell corrected")
    right = lines()
    right[0] = right[0][:7] + "入" + right[0][8:]
    assert page.locator(".read-text").inner_text().split("\n") == right
    name, text = saved(page, "Text file")
    assert (name, text) == ("page.txt", "\n".join(right) + "\n")
    name, text = saved(page, "JSON")
    reading = json.loads(text)
    assert name == "page.json" and reading["characters"][7]["corrected"] == "入" and reading["characters"][7]["text"] == TEXT[7]
    name, text = saved(page, "PAGE XML")
    tree = ElementTree.fromstring(text)
    assert name == "page.xml" and tree.find(f"{SPACE}Page").get("imageFilename") == "page.png"
    assert ["".join(word.find(f".//{SPACE}Unicode").text for word in line.iter(f"{SPACE}Word")) for line in tree.iter(f"{SPACE}TextLine")] == right
    page.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == "\n".join(right)
    # The first answer again is no correction.
    boxes.nth(7).click()
    panel.get_by_role("button", name=re.compile("^" + TEXT[7])).click()
    expect(boxes.nth(7)).to_have_class("read-cell unverified")


def check_several_classifiers(desk):
    picture = ready(desk, "hearth-hanzi", "nom")
    page = desk.open("/#/read")
    page.get_by_label("Classifier").select_option("nom")
    page.get_by_label("Reading direction").select_option("rows")
    give(page, picture)
    expect(page.locator(".read-cell")).to_have_count(200)
    assert desk.world.asked == {"decode": "true", "direction": "rows", "model": "nom", "cloud": "0"}, desk.world.asked


def check_keyboard_alone(desk):
    picture = ready(desk)
    page = desk.open("/#/read")
    give(page, picture)
    boxes = page.locator(".read-cell")
    expect(boxes).to_have_count(200)
    page.get_by_role("button", name="Choose a picture").focus()
    page.keyboard.press("Tab")
    expect(boxes.nth(0)).to_be_focused()
    for key, place in (("ArrowDown", 1), ("ArrowLeft", 21), ("ArrowRight", 1), ("End", 199), ("ArrowUp", 198), ("Home", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        expect(boxes.nth(place)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".read-candidates button").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(boxes.nth(0)).to_be_focused()
    expect(page.locator(".read-panel")).to_be_hidden()
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Other character").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("國")
    page.keyboard.press("Enter")
    expect(boxes.nth(0)).to_be_focused()
    expect(boxes.nth(0)).to_have_attribute("aria-label", "Character 1: 國, corrected by you, 99 %")
    assert page.locator(".read-text").inner_text().startswith("國")
    # One stop for all boxes: the next is behind the page.
    page.keyboard.press("Tab")
    expect(page.locator(".read-text")).to_be_focused()


def check_stop_and_leave(desk):
    picture = ready(desk)
    desk.world.is_reading_slow = True
    page = desk.open("/#/read")
    give(page, picture)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".read-status").get_by_text("Reading page.png")).to_be_hidden()
    give(page, picture, "second.png")
    expect(page.locator(".read-status").get_by_text("Reading second.png")).to_be_visible()
    page.goto(desk.backend.address + "/#/models")
    expect(page.get_by_role("heading", name="AI Model")).to_be_visible()
    desk.world.is_reading_slow = False
    page.wait_for_timeout(400)
    expect(page.locator(".read-cell")).to_have_count(0)
    page.goto(desk.backend.address + "/#/read")
    give(page, picture)
    expect(page.locator(".read-cell")).to_have_count(200)


def check_hostile_files(desk):
    picture = ready(desk)
    reading = desk.world.reading
    page = desk.open("/#/read")
    broken = picture[:len(picture) // 2]
    for name, kind, content, words in (
            ("broken.png", "image/png", broken, "cannot be read"), (SCRIPTED + ".png", "image/png", b"no picture", "cannot be read"),
            ("empty.png", "image/png", b"", "cannot be read"), (SCRIPTED + ".gif", "image/gif", b"GIF89a", "is no picture of the format JPEG"),
            ("x.svg", "image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.hurt=1'/>", "is no picture of the format JPEG"),
            ("a" * 240 + ".png", "image/png", b"\x89PNG", "cannot be read")):
        give(page, content, name, kind)
        expect(page.locator(".read-result").get_by_role("alert")).to_contain_text(words)
        unhurt(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert "\u202e" not in page.inner_text("body"), name
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "large.bmp"), "wb") as file:
            file.truncate((32 << 20) + 1)
        page.locator("input[type=file]").set_input_files(file.name)
        expect(page.locator(".read-result").get_by_role("alert")).to_contain_text("large.bmp is larger than 32 MiB")
    # Labels of a hostile list of classes, and a name with characters that no file may have.
    reading["model"] = SCRIPTED
    for place, label in enumerate((SCRIPTED, "W" * 400, "\u202egnp", "", "\x01\ud800")):
        reading["characters"][place].update(text=label, candidates=[{"label": label, "confidence": None}], confidence=None)
    give(page, picture, "\x01..\\<b>\u202e&'\".png")
    expect(page.locator(".read-cell")).to_have_count(200)
    page.locator(".read-cell").nth(0).click()
    unhurt(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "\u202e" not in page.inner_text("body")
    name, text = saved(page, "PAGE XML")
    assert not set(name) & set("/\\\x01"), name
    ElementTree.fromstring(text)
    give(page, picture, "page.tiff", "image/tiff")
    expect(page.locator(".read-cell").nth(9)).to_have_text(TEXT[9])
    assert page.locator(".read-page img").count() == 0
    assert "\u202e" not in page.inner_text("body")
    unhurt(page)


def look(desk, scheme, width, height, suffix):
    picture = ready(desk)
    page = desk.open("/#/read", width, height, scheme)
    expect(page.get_by_role("button", name="Choose a picture")).to_be_visible()
    inspect(page, f"read-empty-{suffix}")
    give(page, picture)
    expect(page.locator(".read-cell")).to_have_count(200)
    page.locator(".read-cell").nth(7).click()
    page.locator(".read-candidates button").nth(1).click()
    page.locator(".read-cell").nth(17).click()
    inspect(page, f"read-{suffix}")
    sizes = page.eval_on_selector_all(".read-cell", "all => all.map((box) => box.getBoundingClientRect().width)")
    assert min(sizes) >= 23, min(sizes)
    page.locator("main").evaluate("node => { node.scrollTop = node.scrollHeight; }")
    inspect(page, f"read-end-{suffix}")
    give(page, picture[:99])
    expect(page.locator(".read-result").get_by_role("alert")).to_be_visible()
    inspect(page, f"read-broken-{suffix}")


def check_light(desk):
    look(desk, "light", 1280, 800, "light")


def check_dark(desk):
    look(desk, "dark", 1280, 800, "dark")


def check_narrow(desk):
    look(desk, "light", 360, 740, "narrow")


def check_narrow_dark(desk):
    look(desk, "dark", 360, 740, "narrow-dark")
