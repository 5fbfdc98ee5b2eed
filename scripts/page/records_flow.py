"""Records and settings: look at them, change them, undo."""
from playwright.sync_api import expect

from flows import ready


def check_notes(desk):
    page = desk.open("/#/stores/notes")
    page.get_by_role("button", name="New note").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("Milk")
    dialog.get_by_label("Text").fill("Two bottles")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".note-card", has_text="Milk")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".note-card", has_text="Milk")).to_be_hidden()
    page.get_by_role("searchbox", name="Search").last.fill("garden")
    expect(page.locator(".note-card")).to_have_count(1)


def check_events_reminders_habits_contacts(desk):
    page = desk.open("/#/stores/calendar")
    page.get_by_role("button", name="Lunch with Anna").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("Lunch with Ben")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Lunch with Ben")).to_be_visible()
    page.goto(desk.backend.address + "/#/stores/reminders")
    page.get_by_role("checkbox", name="Complete Call the bank").check()
    expect(page.get_by_role("checkbox", name="Complete Call the bank")).to_have_count(0)
    page.goto(desk.backend.address + "/#/stores/habits")
    page.locator(".habit-day").last.click()
    expect(page.locator(".habit-day").last).to_have_attribute("aria-pressed", "true")
    page.goto(desk.backend.address + "/#/stores/contacts")
    expect(page.get_by_text("1 file cannot be read")).to_be_visible()
    page.get_by_role("button", name="Show", exact=True).click()
    expect(dialog.get_by_text("It has no name, number or mail address.")).to_be_visible()
    expect(dialog.get_by_text("contacts/.unreadable/1f0c.vcf")).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Anna Berg").click()
    dialog.get_by_label("Organization").fill("Choir")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Choir · +49 30 1234")).to_be_visible()
    assert desk.world.records.contacts[0]["numbers"] == [{"label": "home", "value": "+49 30 1234"}]


def check_settings(desk):
    ready(desk)
    # The event of a change makes the page read the settings before the change has its reply: the mark stays all the same.
    desk.world.reply_delay = 0.4
    page = desk.open("/#/settings/network")
    page.get_by_label("Downloads on metered networks").select_option("allow")
    page.wait_for_function("() => [...document.querySelectorAll('.saved')].some((mark) => mark.textContent === '✓')")
    assert desk.world.settings["network.metered"]["value"] == "allow"
    # The first choice is the default: it removes the value.
    page.get_by_label("Downloads on metered networks").select_option(index=0)
    page.wait_for_timeout(600)
    assert desk.world.settings["network.metered"]["value"] is None
    page.get_by_label("Downloads on metered networks").select_option("deny")
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Reset").first.click()
    page.wait_for_timeout(600)
    assert desk.world.settings["network.metered"]["value"] is None
    expect(page.get_by_label("Downloads on metered networks")).to_have_value("")
    page.goto(desk.backend.address + "/#/settings/memory")
    page.get_by_label("Context window").fill("4096")
    page.keyboard.press("Tab")
    page.wait_for_function("() => [...document.querySelectorAll('.saved')].some((mark) => mark.textContent === '✓')")
    assert desk.world.settings["contextLength"]["value"] == "4096"
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_label("Context window")).to_have_value("")
    assert desk.world.settings["contextLength"]["value"] is None
    desk.world.reply_delay = 0
    page.goto(desk.backend.address + "/#/settings/keys")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("laptop")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_text("hearth-")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("laptop")).to_be_visible()
    page.goto(desk.backend.address + "/#/settings/look")
    page.get_by_label("Language").select_option("de")
    expect(page.get_by_role("heading", name="Einstellungen")).to_be_visible()
    page.get_by_label("Farben").select_option("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 19, 24)"
