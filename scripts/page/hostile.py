"""Hostile content: nothing of it runs, loads or covers the page."""
from playwright.sync_api import expect

import chats
from flows import ask, done, ready

SCRIPTED = "<script>window.hurt=1</script><img src=x onerror=window.hurt=1>\u202egnp"


def unhurt(page):
    assert page.evaluate("window.hurt === undefined")
    assert page.evaluate("document.querySelectorAll('iframe, form[action], main script, main style, [onclick], [onerror], [style*=fixed]').length") == 0
    # What lies in the middle of the page belongs to the page.
    assert page.evaluate("getComputedStyle(document.elementFromPoint(innerWidth / 2, innerHeight / 2)).position") != "fixed"


def check_answer(desk):
    ready(desk)
    desk.world.chats.rate = 2000
    page = desk.open()
    ask(page, "hostile")
    done(page)
    unhurt(page)
    prose = page.locator(".prose").first
    expect(prose).to_contain_text("<script>window.hurt=1</script>")
    expect(prose).to_contain_text("⟦U+202E⟧gnp.exe")
    addresses = page.eval_on_selector_all(".prose a", "all => all.map((a) => [a.protocol, a.origin === location.origin, a.rel])")
    assert addresses and all(kind in ("https:", "mailto:") and not own and "noopener" in rel for kind, own, rel in addresses), addresses
    expect(prose).to_contain_text("(xn--bnk-0ra.example/login)")
    expect(prose).to_contain_text("(evil.example)")
    for words in ("https:///good.example (evil.example/good.example)", "/good.example (evil.example/good.example)", "good.example (evil.example)", "(help@good.example?bcc=me@evil.example)"):
        expect(prose).to_contain_text(words)
    assert page.eval_on_selector_all(".prose img", "all => all.filter((img) => !img.src.startsWith('data:')).length") == 0
    page.reload()
    done(page)
    unhurt(page)


def check_line_of_a_megabyte(desk):
    ready(desk)
    desk.world.chats.rate = 2000
    page = desk.open()
    ask(page, "megabyte")
    done(page)
    assert page.evaluate("document.querySelector('.prose').textContent.length") == 1_000_000
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("textbox", name="Question").fill("still here")


def check_names_and_records(desk):
    ready(desk)
    for row in desk.world.models.rows[:3]:
        row.update(name=SCRIPTED + row["id"], summary=SCRIPTED * 20)
    desk.world.records.notes[0].update(title=SCRIPTED, body="z" + "\u0301" * 3000 + SCRIPTED)
    desk.world.records.events[0]["event"].update(title=SCRIPTED, location="W" * 4000)
    desk.world.records.contacts[0].update(name=SCRIPTED, note=SCRIPTED * 50)
    desk.world.records.reminders[0]["title"] = SCRIPTED
    desk.world.chats.begin(SCRIPTED)
    page = desk.open("/#/models")
    for address in ("#/models", "#/stores/calendar", "#/stores/notes", "#/stores/contacts", "#/stores/reminders", "#/chats", "#/settings/model"):
        page.goto(f"{desk.backend.address}/{address}")
        expect(page.locator("main h1").first).to_be_visible()
        page.wait_for_timeout(250)
        unhurt(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert "\u202e" not in page.inner_text("body"), address


def check_picture_that_is_no_picture(desk):
    ready(desk)
    page = desk.open()
    page.locator("input[type=file]").set_input_files({"name": "x.svg", "mimeType": "image/svg+xml", "buffer": b"<svg xmlns='http://www.w3.org/2000/svg' onload='window.hurt=1'><script>window.hurt=1</script></svg>"})
    page.wait_for_timeout(300)
    unhurt(page)
    assert len(chats.PIXEL) > 60
