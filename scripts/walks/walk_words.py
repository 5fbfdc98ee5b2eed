"""Typed words count: forms of the records, filled by what was typed."""
import datetime
import re

from playwright.sync_api import expect

from cloud import Cloud
from steps import api, ask, question
from walk import quick


def typed(page, w, text):
    ask(page, w, text)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def tomorrow():
    return (datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=1))) + datetime.timedelta(days=1)).strftime("%Y-%m-%d")


@quick
def walk_reminder(w):
    """A slash action forgets what was typed
    /reminder call Anna tomorrow at nine, without a model: Title, Due, Save
    a wrong title, no due"""
    home = w.home(0)
    page = w.open(home)
    dialog = typed(page, w, "/reminder call Anna tomorrow at nine")
    expect(dialog.get_by_label("Title", exact=True)).to_have_value("call Anna")
    expect(dialog.get_by_label("Due", exact=True)).to_have_value(f"{tomorrow()}T09:00")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    page.goto(f"{home.base}/#/stores/reminders")
    expect(page.get_by_text("call Anna").first).to_be_visible()


@quick
def walk_german_command(w):
    """Commands know English alone
    /erinnerung Anna morgen um halb acht anrufen, page in German
    went to the model"""
    home = w.home(0)
    page = w.open(home, language="de")
    w.language = "de"
    dialog = typed(page, w, "/erinnerung morgen um halb acht Anna anrufen")
    expect(dialog.get_by_label(re.compile("Titel"))).to_have_value("Anna anrufen")
    assert f"{tomorrow()}T07:30" in [field.input_value() for field in dialog.locator("input").all()]


def walk_event_note_habit(w):
    """Event, note and habit take nothing from the words
    /event dinner with Ben on Friday from 19 to 21, /note spare key: at Anna's, /habit read every day
    the model guessed"""
    home = w.home(0)
    page = w.open(home)
    dialog = typed(page, w, "/event dinner with Ben tomorrow from 19 to 21")
    expect(dialog.get_by_label("Title", exact=True)).to_have_value("dinner with Ben")
    values = [field.input_value() for field in dialog.locator("input").all()]
    assert f"{tomorrow()}T19:00" in values and f"{tomorrow()}T21:00" in values, values
    page.keyboard.press("Escape")
    dialog = typed(page, w, "/note spare key is at Anna's")
    assert "spare key is at Anna's" in [field.input_value() for field in dialog.locator("input, textarea").all()]
    page.keyboard.press("Escape")
    dialog = typed(page, w, "/habit read every day")
    assert "read" in [field.input_value() for field in dialog.locator("input, textarea").all()]


@quick
def walk_title_stays(w):
    """Words that only look like a time become one
    /reminder read Nineteen Eighty-Four; /reminder order the May issue
    not tried"""
    home = w.home(0)
    page = w.open(home)
    for text in ("read Nineteen Eighty-Four", "order the May issue"):
        dialog = typed(page, w, f"/reminder {text}")
        expect(dialog.get_by_label("Title", exact=True)).to_have_value(text)
        expect(dialog.get_by_label("Due", exact=True)).to_have_value("")
        page.keyboard.press("Escape")


@quick
def walk_contact_in_place(w):
    """/contact goes to the model
    /contact Anna with Anna among the contacts, no model: shown in place
    asked a model"""
    home = w.home(0)
    page = w.open(home)
    page.goto(f"{home.base}/#/stores/contacts")
    page.get_by_role("button", name="New contact").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("Anna Lund")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.goto(f"{home.base}/#/chat")
    ask(page, w, "/contact Anna")
    expect(page.locator("main").get_by_text("Anna Lund")).to_be_visible()


def walk_web_off(w):
    """/web is offered while search is off
    type /web hello with search off: one sentence says how to turn it on; nothing goes to the model
    "`act` must be the tag of an action", a red toast over the input"""
    home = w.home(1)
    page = w.open(home)
    question(page, w).fill("/we")
    offered = page.locator(".commands").get_by_text("/web").count()
    question(page, w).fill("/web hello")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    assert page.locator(".message").count() == 0
    assert "`act`" not in page.locator("body").inner_text()
    expect(page.locator("main")).to_contain_text(re.compile("search", re.I))
    return f"offered in the menu: {offered}"


@quick
def walk_export_new_chat(w):
    """/export in a new chat goes to the model
    /export in a new conversation
    sent as a question"""
    home = w.home(1)
    page = w.open(home)
    ask(page, w, "/export")
    page.wait_for_timeout(700)
    assert page.locator(".message").count() == 0
    assert not re.search("#/chat/.", page.url), page.url


def walk_card_editor(w):
    """The action editor shows the raw schema
    a card of the model: Edit, a wrong time is marked at its field, right it, Approve
    a wrong time closed it and lost the edits; Approve only saved"""
    block = '[REMINDER_ACTION:{"action":"create","title":"Call Anna","due":"2027-05-03T09:00"}]'
    cloud = w.enter(Cloud(f"I will remind you. {block}"))
    home = w.home(0, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    ask(page, w, "Remind me to call Anna on May 3 2027 at nine")
    card = page.locator(".card").first
    expect(card).to_be_visible(timeout=60000)
    card.get_by_role("button", name=re.compile("^Edit")).click()
    dialog = page.get_by_role("dialog")
    title = dialog.get_by_label("Title", exact=True)
    expect(title).to_have_value("Call Anna")
    title.fill("Call Anna Lund")
    dialog.get_by_role("button", name="Approve", exact=True).click()
    expect(card.get_by_text("Done", exact=True)).to_be_visible(timeout=30000)
    kept = api(page, "GET", "/stores/reminders")
    assert "Call Anna Lund" in str(kept), kept
