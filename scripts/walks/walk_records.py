"""Records: rings, files of other programs, filters."""
import datetime
import re

from playwright.sync_api import expect

from steps import api, ask
from walk import quick

ICS = """BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//walk//EN\r\nBEGIN:VEVENT\r\nUID:walk-1@example.org\r\nDTSTAMP:20261101T090000Z\r\nDTSTART:20261215T090000Z\r\nDTEND:20261215T100000Z\r\nSUMMARY:Lighthouse visit\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"""
VCF = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:walk-2\r\nFN:Anna Lund\r\nN:Lund;Anna;;;\r\nEMAIL:anna@example.org\r\nEND:VCARD\r\n"


def bring_in(page, home, store, name, text):
    page.goto(f"{home.base}/#/stores/{store}")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import", exact=True).click()
    chooser.value.set_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})


@quick
def walk_import_records(w):
    """No .ics and .vcf import
    import both twice, export: one of each
    none"""
    home = w.home(0)
    page = w.open(home)
    for _ in range(2):
        bring_in(page, home, "contacts", "people.vcf", VCF)
        expect(page.get_by_text("Anna Lund").first).to_be_visible()
        page.wait_for_timeout(500)
        bring_in(page, home, "calendar", "visit.ics", ICS)
        page.wait_for_timeout(800)
    contacts = api(page, "GET", "/stores/contacts")
    assert str(contacts).count("Anna Lund") >= 1
    page.goto(f"{home.base}/#/stores/contacts")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export", exact=True).click()
    path = home.folder + "/out.vcf"
    download.value.save_as(path)
    with open(path) as file:
        text = file.read()
    assert text.count("BEGIN:VCARD") == 1 and "FN:Anna Lund" in text, text


def walk_ring(w):
    """Reminders never ring
    a reminder due in the past while nothing ran: rings once at the start, late; Snooze, Done
    silent"""
    home = w.home(0)
    page = w.open(home)
    due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=4)
    api(page, "POST", "/stores/reminders", {"title": "Turn off the oven", "due": due.strftime("%Y-%m-%dT%H:%M:%SZ")})
    other = page.context.new_page()
    w.watch(other, home)
    other.goto(f"{home.base}/#/models")
    expect(page.get_by_text("Turn off the oven").first).to_be_visible(timeout=90000)
    expect(other.get_by_text("Turn off the oven").first).to_be_visible(timeout=5000)
    page.get_by_role("button", name="Done", exact=True).first.click()
    expect(other.get_by_text("Turn off the oven")).to_be_hidden(timeout=10000)


@quick
def walk_repeat_in_form(w):
    """Forms have no repetition
    New reminder: Title, Due, repeats weekly, Save
    none"""
    home = w.home(0)
    page = w.open(home, "#/stores/reminders")
    page.get_by_role("button", name="New reminder").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title", exact=True).fill("Water the plants")
    dialog.get_by_label("Due", exact=True).fill("2027-05-03T09:00")
    dialog.get_by_label(re.compile("^Repeat")).first.select_option(label="Weekly") if dialog.get_by_label(re.compile("^Repeat")).count() else None
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Water the plants").first).to_be_visible()
    kept = str(api(page, "GET", "/stores/reminders"))
    assert "WEEKLY" in kept.upper(), kept


@quick
def walk_habits_narrow(w):
    """Habits do not fit 390 px
    a habit at 390 px
    overflowed"""
    home = w.home(0)
    page = w.open(home, "#/stores/habits", size=(390, 740))
    page.get_by_role("button", name="New habit").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("Read a chapter of a book that is very long")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
