"""Typed words: commands that open filled forms, searches in place, repetitions, and the editor of actions."""
import re

from playwright.sync_api import expect

from flows import done, ready

DUE = {"kind": "reminder", "title": "call Anna", "due": "2026-12-01T08:00:00Z", "timeZone": "Europe/Berlin"}


def question(page):
    return page.get_by_role("textbox", name=re.compile("^(Question|Frage)$"))


def command(page, text):
    question(page).fill(text)
    page.keyboard.press("Enter")


def check_reminder_from_words(desk):
    """No model is needed: the form is filled, saved and undone."""
    words = "call Anna tomorrow at nine"
    desk.world.drafts[words] = {**DUE, "recurrence": "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU"}
    page = desk.open("/#/chat", timezone_id="Europe/Berlin")
    command(page, f"/reminder {words}")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Title")).to_have_value("call Anna")
    expect(dialog.get_by_label("Due")).to_have_value("2026-12-01T09:00")
    expect(dialog.get_by_label("Repeats")).to_have_value("WEEKLY")
    expect(dialog.get_by_label("Every")).to_have_value("2")
    expect(dialog.get_by_role("checkbox", name="Tuesday")).to_be_checked()
    assert desk.world.records.asked["zone"] == "Europe/Berlin" and desk.world.records.asked["language"] == "en", desk.world.records.asked
    # Cancelled words come back.
    dialog.get_by_role("button", name="Cancel").click()
    expect(question(page)).to_have_value(f"/reminder {words}")
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    saved = desk.world.records.reminders[-1]
    assert saved["title"] == "call Anna" and saved["due"] == "2026-12-01T08:00:00.000Z", saved
    assert saved["recurrence"] == "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU", saved
    expect(question(page)).to_have_value("")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#toasts").get_by_text("Undone")).to_be_visible()
    assert len(desk.world.records.reminders) == 3
    assert not desk.world.chats.all, "a command went to the model"


def check_other_records_and_names(desk):
    page = desk.open("/#/chat", locale="de-DE", timezone_id="Europe/Berlin")
    dialog = page.get_by_role("dialog")
    desk.world.drafts["Yoga"] = {"kind": "event", "title": "Yoga", "start": "2026-12-01", "end": "2026-12-03", "location": "Köln", "recurrence": "FREQ=MONTHLY;BYDAY=1TU"}
    command(page, "/termin Yoga")
    expect(dialog.get_by_label("Titel")).to_have_value("Yoga")
    expect(dialog.get_by_label("Beginn")).to_have_value("2026-12-01")
    expect(dialog.get_by_label("Ende")).to_have_value("2026-12-02")
    expect(dialog.get_by_label("Ganztägig")).to_be_checked()
    expect(dialog.get_by_label("Ort")).to_have_value("Köln")
    expect(dialog.get_by_label("Wiederholung")).to_have_value("KEEP")
    expect(dialog.get_by_label("Wiederholung")).to_contain_text("Am ersten Dienstag jedes Monats")
    dialog.get_by_label("Ganztägig").uncheck()
    expect(dialog.get_by_label("Beginn")).to_have_value("2026-12-01T09:00")
    page.keyboard.press("Escape")
    # An event without a time leaves it to the person.
    command(page, "/event Irgendwann")
    expect(dialog.get_by_label("Beginn")).to_have_value("")
    dialog.get_by_role("button", name="Sichern").click()
    expect(dialog.get_by_text("Das wird gebraucht.")).to_be_visible()
    assert dialog.get_by_label("Beginn").get_attribute("aria-invalid") == "true"
    page.keyboard.press("Escape")
    command(page, "/notiz")
    expect(dialog.get_by_label("Titel")).to_have_value("")
    page.keyboard.press("Escape")
    command(page, "jeden Tag laufen /gewohnheit")
    expect(dialog.get_by_label("Name")).to_have_value("jeden Tag laufen")
    assert desk.world.records.asked["language"] == "de"
    page.keyboard.press("Escape")
    question(page).fill("/erin")
    expect(page.get_by_role("option", name="/erinnerung")).to_be_visible()
    assert not desk.world.chats.all


def check_searches(desk):
    ready(desk)
    page = desk.open("/#/chat")
    command(page, "/contact anna")
    found = page.get_by_role("region", name="Search contacts")
    found.get_by_role("button", name="Anna Berg").click()
    expect(page.get_by_role("dialog").get_by_label("Name", exact=True)).to_have_value("Anna Berg")
    page.keyboard.press("Escape")
    # Without a search, the command is not in the list, and says in one sentence how to get one.
    question(page).fill("/")
    expect(page.get_by_role("option", name="/contact")).to_be_visible()
    expect(page.get_by_role("option", name="/web")).to_have_count(0)
    command(page, "/web swifts")
    found = page.get_by_role("region", name="Search the web")
    expect(found.get_by_text("Web search is off")).to_be_visible()
    expect(found.get_by_role("link", name="Set up web search")).to_have_attribute("href", "#/settings/tools")
    desk.world.search = {"provider": "search.example.org", "isRemote": True}
    command(page, "/suche swifts")
    expect(found.get_by_role("link", name="About swifts")).to_have_attribute("href", "https://example.org/a")
    expect(found.get_by_text("The first <b>result</b>.")).to_be_visible()
    expect(found.get_by_role("link", name="javascript")).to_have_count(0)
    assert not desk.world.chats.all


def check_commands_that_cannot_be(desk):
    ready(desk)
    page = desk.open("/#/chat")
    command(page, "/export")
    expect(page.locator("#toasts").get_by_text("/export needs a conversation")).to_be_visible()
    expect(question(page)).to_have_value("/export")
    command(page, "/frobnicate the list")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("/frobnicate is not a command")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(question(page)).to_have_value("/frobnicate the list")
    assert not desk.world.chats.all
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Send as text").click()
    done(page)
    assert any(message["content"] == "/frobnicate the list" for messages in desk.world.chats.messages.values() for message in messages)


def check_repetitions_in_forms(desk):
    """A rule that the form cannot express stays as it is; the others are written."""
    event = desk.world.records.events[2]["event"]
    event["recurrence"] = "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"
    page = desk.open("/#/stores/calendar", timezone_id="Europe/Berlin")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Choir").click()
    expect(dialog.get_by_label("Repeats")).to_have_value("KEEP")
    dialog.get_by_label("Title").fill("Choir again")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Choir again")).to_be_visible()
    assert event["recurrence"] == "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"
    page.get_by_role("button", name="Choir again").click()
    dialog.get_by_label("Repeats").select_option("WEEKLY")
    dialog.get_by_label("Every").fill("0")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("At least 1.")).to_be_visible()
    dialog.get_by_label("Every").fill("3")
    dialog.get_by_role("checkbox", name="Friday").check()
    dialog.get_by_label("Last day").fill("2027-06-30")
    dialog.get_by_label("Number of times").fill("5")
    expect(dialog.get_by_label("Last day")).to_have_value("")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    assert event["recurrence"] == "FREQ=WEEKLY;INTERVAL=3;BYDAY=FR;COUNT=5", event
    # A refusal stands at its field, and nothing that was written is lost.
    page.get_by_role("button", name="Choir again").click()
    dialog.get_by_label("Title").fill("refused")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Ends")).to_have_attribute("aria-invalid", "true")
    expect(dialog.locator(".field", has=page.get_by_label("Ends")).get_by_text("The end lies before the start.")).to_be_visible()
    expect(dialog.get_by_label("Title")).to_have_value("refused")


def card_of(**payload):
    import json
    return {
        "tag": "REMINDER_ACTION", "title": "New reminder", "code": "new-reminder", "payload": json.dumps({"action": "create", **payload}),
        "fields": [{"name": "title", "label": "Title", "value": payload["title"]}, {"name": "due", "label": "Due", "value": "Tue, 1 Dec 2026 at 9:00 AM", "raw": "2026-12-01T08:00:00Z"}],
        "editable": ["action", "id", "title", "due", "alarmMinutes", "priority"],
    }


def check_action_editor(desk):
    ready(desk)
    desk.world.chats.proposal = card_of(title="Call Anna", due="2026-12-01T09:00")
    page = desk.open("/#/chat", locale="de-DE", timezone_id="Europe/Berlin")
    command(page, "Save a note")
    card = page.locator(".card")
    expect(card.get_by_role("heading", name="Neue Erinnerung")).to_be_visible()
    expect(card.get_by_text("Di., 1. Dez. 2026, 9:00")).to_be_visible()
    card.get_by_role("button", name="Ändern").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Fällig")).to_have_value("2026-12-01T09:00")
    dialog.get_by_label("Titel").fill("refused")
    dialog.get_by_label("Fällig").fill("2026-12-02T10:30")
    dialog.get_by_role("button", name="Zustimmen").click()
    expect(dialog.get_by_label("Fällig")).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("Titel")).to_have_value("refused")
    dialog.get_by_label("Titel").fill("Anna anrufen")
    dialog.get_by_role("button", name="Zustimmen").click()
    expect(dialog).to_be_hidden()
    expect(card.get_by_text("Erledigt")).to_be_visible()
    assert desk.world.chats.edited == {"action": "create", "title": "Anna anrufen", "due": "2026-12-02T09:30:00Z"}, desk.world.chats.edited
