"""Conversations: nothing falls silent, and each has its own settings."""
import re
import signal
import time

from playwright.sync_api import expect

from cloud import Cloud
from steps import answered, api, ask, chat_id, question, settings_of_chat
from walk import everywhere, quick


@everywhere
def walk_main(w):
    """The main job
    sign in by the printed address, ask, read the answer, reload, open Models, Records and Settings
    worked, in Chromium and English alone"""
    home = w.home()
    page = w.open(home)
    ask(page, w, "Say hello in one short sentence.")
    answered(page, w)
    words = page.locator(".prose").first.inner_text()
    assert words.strip()
    page.reload()
    expect(page.locator(".prose").first).to_have_text(words)
    for name in ("models", "stores", "settings"):
        page.goto(f"{home.base}/#/{name}")
        expect(page.locator("main h1").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"


def walk_second_model(w):
    """A second model silences the chat
    two models, none chosen: ask; choose in place
    the question vanished without a word"""
    home = w.home(2)
    page = w.open(home)
    ask(page, w, "Say hello in one short sentence.")
    choices = page.get_by_role("button", name=re.compile("second", re.I))
    expect(choices.first).to_be_visible(timeout=30000)
    expect(page.get_by_text("Say hello in one short sentence.").first).to_be_visible()
    choices.first.click()
    answered(page, w)
    assert page.locator(".message.user").count() == 1
    expect(page.locator(".facts-line")).to_contain_text(re.compile("second", re.I))


def walk_failed_answer_stays(w):
    """An answer that fails leaves nothing behind
    a cloud that refuses, forced: the reason stays after a reload, with one button; press it
    the message was removed, the reason gone with a reload"""
    cloud = w.enter(Cloud())
    cloud.fails = 99
    home = w.home(0, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    ask(page, w, "Hello there")
    failure = page.locator(".failure")
    expect(failure).to_be_visible(timeout=60000)
    words = failure.inner_text()
    page.reload()
    expect(page.locator(".failure")).to_contain_text(words.splitlines()[0])
    assert page.locator(".failure").get_by_role("button").or_(page.locator(".failure").get_by_role("link")).count() == 1
    cloud.fails = 0
    page.locator(".failure").get_by_role("button").click()
    expect(page.locator(".prose").first).to_contain_text("cloud speaking", timeout=60000)
    expect(page.locator(".failure")).to_be_hidden()


def walk_cloud_only(w):
    """People with a cloud alone cannot talk
    no model, a cloud is set up: ask
    blocked until a download"""
    cloud = w.enter(Cloud())
    home = w.home(0, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    ask(page, w, "Hello there")
    expect(page.locator(".prose").first).to_contain_text("cloud speaking", timeout=60000)
    expect(page.locator(".facts-line")).to_contain_text("walk-cloud")
    # What the window of a cloud allows is the cloud's own affair.
    limits = [body.get("max_tokens") or body.get("max_completion_tokens") for body in cloud.bodies]
    assert 768 not in limits, limits
    return f"answered; limits sent: {limits}"


def walk_truthful_footer(w):
    """The footer names another model
    the cloud fails, the device answers: the footer says the device's model under its own name
    said the cloud, and "llama 256M Q4_1" """
    cloud = w.enter(Cloud())
    cloud.fails = 9
    home = w.home(1, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    ask(page, w, "Hello there")
    answered(page, w)
    line = page.locator(".facts-line").first
    expect(line).to_contain_text(re.compile("smollm2", re.I))
    expect(line).not_to_contain_text("llama 256M")
    expect(line.locator(".route")).to_have_class(re.compile("local"))
    return line.inner_text().replace("\n", " ")


def walk_own_settings(w):
    """A conversation has no settings of its own
    set Model, Instructions, Temperature, Longest answer in its panel; look at another chat and at the settings
    the choice of a model changed everything"""
    home = w.home(2)
    page = w.open(home)
    ask(page, w, "Say hello in one short sentence.")
    page.get_by_role("button", name=re.compile("smollm2", re.I)).first.click()
    answered(page, w)
    before = {one["key"]: one.get("value") for one in api(page, "GET", "/settings")["settings"]}
    panel = settings_of_chat(page, w)
    select = panel.get_by_label("Model", exact=True)
    option = select.locator("option", has_text=re.compile("second", re.I))
    expect(option).to_have_count(1)
    select.select_option(option.get_attribute("value"))
    panel.get_by_label("Instructions", exact=True).fill("Answer with the word Zebra only.")
    panel.get_by_label("Temperature", exact=True).fill("0")
    panel.get_by_label("Longest answer", exact=True).fill("12")
    panel.get_by_role("button", name="Save").click()
    expect(panel).to_be_hidden()
    ask(page, w, "What is the animal?")
    answered(page, w, 2)
    facts = page.locator(".facts-line").nth(1)
    expect(facts).to_contain_text(re.compile("second", re.I))
    id = chat_id(page)
    message = api(page, "GET", f"/chats/{id}")["messages"][-1]
    assert message["facts"]["usage"]["generatedTokens"] <= 12, message["facts"]
    page.reload()
    panel = settings_of_chat(page, w)
    expect(panel.get_by_label("Instructions", exact=True)).to_have_value("Answer with the word Zebra only.")
    expect(panel.get_by_label("Longest answer", exact=True)).to_have_value("12")
    page.keyboard.press("Escape")
    after = {one["key"]: one.get("value") for one in api(page, "GET", "/settings")["settings"]}
    assert before == after, {key: (before[key], after[key]) for key in before if before[key] != after[key]}
    page.goto(f"{home.base}/#/chat")
    panel = settings_of_chat(page, w)
    expect(panel.get_by_label("Instructions", exact=True)).to_have_value("")


def walk_continue(w):
    """An answer ends at 768 tokens
    Longest answer 16, ask, Continue: the same answer grows
    no Continue, also where the cloud answered"""
    home = w.home(1)
    page = w.open(home)
    panel = settings_of_chat(page, w)
    panel.get_by_label("Longest answer", exact=True).fill("16")
    panel.get_by_role("button", name="Save").click()
    ask(page, w, "Tell a long story about a lighthouse and its keeper.")
    answered(page, w)
    first = page.locator(".prose").first.inner_text()
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_function("(before) => document.querySelector('.prose').innerText.length > before + 10", arg=len(first), timeout=60000)
    answered(page, w)
    after = page.locator(".prose").first.inner_text()
    assert after.startswith(first.rstrip("…. \n")[:40]), (first, after)
    assert page.locator(".message.assistant").count() == 1
    return f"{len(first)} to {len(after)} characters"


def walk_edit_first_question(w):
    """Editing the first question leaves the old pair above
    two questions, edit the first, back by the arrow
    old question and answer stayed above"""
    home = w.home(1)
    page = w.open(home)
    ask(page, w, "Name one colour.")
    answered(page, w)
    ask(page, w, "Name one animal.")
    answered(page, w, 2)
    title = api(page, "GET", f"/chats/{chat_id(page)}")["chat"]["title"]
    page.get_by_role("button", name="Edit question").first.click()
    area = page.get_by_role("textbox", name="Edit question")
    area.fill("Name one river.")
    area.press("Enter")
    expect(page.locator(".message.user")).to_have_count(1)
    expect(page.locator(".message.user")).to_contain_text("Name one river.")
    answered(page, w)
    page.get_by_role("button", name="Previous alternative").first.click()
    expect(page.locator(".message.user")).to_have_count(2)
    expect(page.locator(".message.user").first).to_contain_text("Name one colour.")
    id = chat_id(page)
    assert api(page, "GET", f"/chats/{id}")["chat"]["title"] == title
    listed = next(chat for chat in api(page, "GET", "/chats")["chats"] if chat["id"] == id)
    assert listed["title"] == title, listed
    expect(page.locator("#rail .chat-list")).to_contain_text(title)


def walk_restart_in_an_answer(w):
    """A server that goes away in mid-answer
    kill -9 while it writes, start again: the text is there with its reason and one button
    held already, without a reason after a reload"""
    home = w.home(1)
    page = w.open(home)
    ask(page, w, "Tell a long story about a lighthouse and its keeper.")
    prose = page.locator(".prose").first
    expect(prose).to_contain_text(re.compile(r"\w+ \w+ \w+ \w+ \w+"), timeout=60000)
    page.wait_for_timeout(1500)
    home.kill()
    home.start()
    page.reload()
    expect(prose).to_contain_text(re.compile(r"\w+ \w+ \w+"), timeout=30000)
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_visible(timeout=30000)
    page.get_by_role("button", name="Continue", exact=True).click()
    answered(page, w)
    assert page.locator(".message.user").count() == 1


def walk_waiting_question(w):
    """The waiting question lies under the input
    no model, 1280 x 800: ask; the question and its note are seen above the input
    under the input"""
    home = w.home(0)
    page = w.open(home)
    ask(page, w, "What is the capital of France?")
    expect(page.locator(".waiting-question")).to_be_visible()
    # The welcome above it may grow while the models are read.
    page.wait_for_function("""() => document.querySelector(".waiting-question").getBoundingClientRect().bottom
        <= document.querySelector(".composer").getBoundingClientRect().top + 1""", timeout=3000)


@quick
def walk_private_mark(w):
    """A private conversation looks like any other
    /private, ask: its header says so
    only the list said it"""
    home = w.home(1)
    page = w.open(home)
    question(page, w).fill("/private")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("#/chat/."))
    expect(page.locator("main header").first).to_contain_text("Private")


def walk_blind_model(w):
    """A picture for a blind model, Think for a model that does not think
    a text model alone: neither Think nor pictures are offered
    offered, and then left out"""
    home = w.home(1)
    page = w.open(home)
    ask(page, w, "Say hello in one short sentence.")
    answered(page, w)
    expect(page.get_by_role("button", name="Think", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name=re.compile("Add a picture|Attach a picture"))).to_be_hidden()


def walk_two_tabs(w):
    """Two tabs do the same thing at once
    both edit the same question; one removes the chat while the other asks
    not tried"""
    home = w.home(1)
    page = w.open(home)
    ask(page, w, "Name one colour.")
    answered(page, w)
    other = page.context.new_page()
    w.watch(other, home)
    other.goto(page.url)
    expect(other.locator(".message.user")).to_have_count(1)
    for one, text in ((page, "Name one river."), (other, "Name one town.")):
        one.get_by_role("button", name="Edit question").first.click()
        one.get_by_role("textbox", name="Edit question").fill(text)
    page.get_by_role("textbox", name="Edit question").press("Enter")
    expect(other.locator(".message.user")).to_contain_text("Name one river.")
    # The other page shows the new branch; the words that it was changing are in its input.
    expect(question(other, w)).to_have_value("Name one town.")
    answered(page, w)
    question(other, w).press("Enter")
    answered(page, w, 2)
    expect(page.locator(".message.user").last).to_contain_text("Name one town.")
    page.goto(f"{home.base}/#/chat")
    api(page, "DELETE", f"/chats/{other.url.split('#/chat/')[1]}")
    ask(other, w, "Name one lake.")
    expect(other.locator("#toasts, .empty").filter(has_text=re.compile("removed|no longer|gone|no conversation|deleted", re.I)).first).to_be_visible()
    expect(question(other, w)).to_have_value("Name one lake.")
