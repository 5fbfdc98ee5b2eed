"""A day of a person in one walk."""
import datetime
import json
import os
import re

from playwright.sync_api import expect

from cloud import Cloud
from steps import answered, api, ask, chat_id, chosen, question, settings_of_chat
from walk_files import attach, chips, pdf
from walk_phone import printed
from walk_threads import bring_in


def scanned(page):
    """The address in the QR code on the screen, read from its picture; None without a reader."""
    try:
        import cv2
        import numpy
    except ImportError:
        return None
    picture = numpy.frombuffer(page.screenshot(), dtype=numpy.uint8)
    text, *_ = cv2.QRCodeDetector().detectAndDecode(cv2.imdecode(picture, cv2.IMREAD_COLOR))
    return text or None


def threads(page):
    """Everything of all conversations that a person can see."""
    result = []
    for chat in sorted(api(page, "GET", "/chats?limit=500")["chats"], key=lambda chat: chat["created"]):
        thread = api(page, "GET", f"/chats/{chat['id']}")
        result.append({**{key: chat.get(key) for key in ("title", "pinned", "archived", "folder")},
                       "messages": [(one["role"], one["content"], one["date"], len(one["branch"]["ids"]), one["branch"]["index"], one.get("notices")) for one in thread["messages"]]})
    return result


def walk_day(w):
    """A day
    phone by QR, second model, three chats with settings, PDF, reminder and its ring, edit, restart in mid-answer, export, import
    not possible"""
    cloud = w.enter(Cloud())
    home = w.home(2, arguments=["--lan"], settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)

    # The phone signs in by the code that the desktop shows.
    page.goto(f"{home.base}/#/settings/devices")
    page.get_by_role("button", name="Add a phone", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("http://")
    words = dialog.inner_text()
    address = scanned(page) or f"{re.search(r'http://[^ /]+', words)[0]}/hearth/open?code={re.search('[0-9A-Z]{4}-[0-9A-Z]{4}', words)[0]}"
    page.keyboard.press("Escape")
    context = w.browser.new_context(viewport={"width": 360, "height": 740}, locale="en-US", timezone_id="Europe/Berlin")
    w.contexts.append(context)
    phone = context.new_page()
    phone.goto(address)
    expect(phone.locator("#rail a.tab").first).to_be_visible(timeout=20000)

    # Three conversations with settings of their own.
    for text, model, length in (("Say hello in one short sentence.", "smollm2", "24"), ("Name one colour.", "second", "12"), ("Name one river.", None, "")):
        page.goto(f"{home.base}/#/chat")
        page.reload()
        panel = settings_of_chat(page, w)
        if model:
            select = panel.get_by_label("Model", exact=True)
            expect(select).to_be_visible()
            names = [one.inner_text().lower() for one in select.locator("option").all()]
            assert any(model in name for name in names), names
            option = next(one for one in select.locator("option").all() if model in one.inner_text().lower())
            select.select_option(option.get_attribute("value"))
        panel.get_by_label("Longest answer", exact=True).fill(length)
        panel.get_by_role("button", name="Save", exact=True).click()
        ask(page, w, text)
        if not model:
            chosen(page, w)
        answered(page, w)
        if model and not cloud.bodies:
            expect(page.locator(".facts-line").first).to_contain_text(re.compile(model, re.I))

    # A question about a document.
    page.goto(f"{home.base}/#/chat")
    page.reload()
    before = len(cloud.bodies)
    attach(page, "lighthouse.pdf", pdf("The lighthouse is forty one metres high."), "application/pdf")
    expect(chips(page)).to_contain_text("lighthouse.pdf")
    ask(page, w, "How high is the lighthouse?")
    chosen(page, w)
    answered(page, w)
    document = chat_id(page)
    if len(cloud.bodies) > before:
        assert "forty one metres" in json.dumps(cloud.bodies[before:])

    # A reminder by typed words, and its ring on both pages.
    page.goto(f"{home.base}/#/chat")
    ask(page, w, "/reminder turn off the oven tomorrow at nine")
    form = page.get_by_role("dialog")
    expect(form.get_by_label("Title", exact=True)).to_have_value("turn off the oven")
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=61)
    local = soon + datetime.timedelta(hours=1)
    form.get_by_label("Due", exact=True).fill(local.strftime("%Y-%m-%dT%H:%M"))
    form.get_by_role("button", name="Save", exact=True).click()
    expect(phone.get_by_text("turn off the oven").first).to_be_visible(timeout=150000)
    page.get_by_role("button", name="Done", exact=True).first.click()
    expect(phone.get_by_text("turn off the oven")).to_be_hidden(timeout=10000)

    # Edit and branch, from the phone.
    phone.goto(f"{home.base.replace('127.0.0.1', re.search(r'http://([^:/]+)', address)[1])}/#/chat/{document}")
    phone.get_by_role("button", name="Edit question").first.click()
    area = phone.get_by_role("textbox", name="Edit question")
    area.fill("When was it built?")
    area.press("Enter")
    answered(phone, w)
    phone.get_by_role("button", name="Previous alternative").first.click()
    expect(phone.locator(".message.user")).to_contain_text("How high is the lighthouse?")

    # The server goes away in mid-answer.
    cloud.text = "word " * 400
    page.goto(f"{home.base}/#/chat/{document}")
    ask(page, w, "Tell a long story.")
    expect(page.locator(".prose").last).to_contain_text("word word word", timeout=60000)
    page.wait_for_timeout(1500)
    home.kill()
    home.start()
    page.reload()
    expect(page.locator(".prose").last).to_contain_text("word word")
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_visible(timeout=30000)

    # Everything moves to a fresh home.
    mine = threads(page)
    page.goto(f"{home.base}/#/settings/data")
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^Export")).first.click()
    path = os.path.join(home.folder, download.value.suggested_filename)
    download.value.save_as(path)
    fresh = w.home(0)
    other = w.open(fresh)
    with open(path, "rb") as file:
        bring_in(other, fresh, os.path.basename(path), file.read())
    other.wait_for_timeout(2000)
    there = threads(other)
    assert mine == there, json.dumps([mine, there], indent=1)[:3000]
    return f"{len(mine)} conversations, equal after the import"
