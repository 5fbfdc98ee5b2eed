"""Steps that several walks share."""
import json
import re
import urllib.request

from playwright.sync_api import expect

ANSWER = 120000


def question(page, w):
    return page.get_by_role("textbox", name=w.t("composer.label"), exact=True)


def ask(page, w, text):
    question(page, w).fill(text)
    page.keyboard.press("Enter")


def chosen(page, w):
    """Chooses the model if the page asks for one, instead of answering."""
    choice = page.get_by_role("button", name=re.compile("smollm2", re.I)).first
    expect(choice.or_(page.locator(".message.assistant").first).first).to_be_visible(timeout=ANSWER)
    if choice.is_visible():
        choice.click()


def answered(page, w, count=1):
    """Waits until so many answers are on the screen and none is being written."""
    expect(page.locator(".message.assistant")).to_have_count(count, timeout=ANSWER)
    expect(page.get_by_role("button", name=w.t("composer.stop"), exact=True)).to_be_hidden(timeout=ANSWER)
    expect(page.get_by_role("button", name=w.t("chat.regenerate"), exact=True).last).to_be_attached(timeout=ANSWER)


def api(page, method, path, body=None):
    """A call of the page's own API, as the signed-in page makes it."""
    reply = page.evaluate("""async ([method, path, body]) => {
        const reply = await fetch("/hearth/v1" + path, { method, headers: { "X-Hearth-Page": localStorage.getItem("hearth-page"),
            ...(body && { "Content-Type": "application/json" }) }, body: body ? JSON.stringify(body) : undefined });
        const text = await reply.text();
        return [reply.status, text];
    }""", [method, path, body])
    status, text = reply
    value = json.loads(text) if text.startswith(("{", "[")) else text
    assert status < 400, f"{method} {path}: {status} {text[:500]}"
    return value


def chat_id(page):
    page.wait_for_url(re.compile(r"#/chat/."), timeout=30000)
    return re.search(r"#/chat/([^/]+)", page.url)[1]


def settings_of_chat(page, w):
    """Opens the panel of the conversation's own settings."""
    page.get_by_role("button", name=w.t("chat.settings"), exact=True).click()
    return page.get_by_role("dialog")
