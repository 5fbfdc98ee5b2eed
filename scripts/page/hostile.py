"""Hostile content: nothing of it runs, loads or covers the page."""
from playwright.sync_api import expect

import chats
import hostile_table
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


# Draws a text as a finished answer and again as one that grows, and returns the milliseconds until all its formulas are drawn.
DRAW = """async (text) => {
    const { answerView } = await import("/page/chat/answer.js");
    const host = document.querySelector("main .scroller") ?? document.querySelector("main");
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const view = answerView();
    host.prepend(view.node);
    host.scrollTop = 0;
    await frame();
    const began = performance.now();
    view.show(text, true);
    view.node.getBoundingClientRect();
    const drawn = performance.now() - began;
    await frame();
    await frame();
    const all = performance.now() - began;
    const problems = [];
    for (const node of view.node.querySelectorAll("*")) {
        if (node.closest(".code-head")) continue;
        if (["SCRIPT", "STYLE", "IFRAME", "OBJECT", "EMBED", "FORM", "BASE", "META", "LINK", "VIDEO", "DIALOG", "SVG"].includes(node.tagName.toUpperCase())) problems.push(node.tagName);
        for (const { name, value } of node.attributes) {
            if (/^on|^style$/.test(name) || (["href", "src", "action"].includes(name) && !/^(?:https?:|mailto:|data:image)/.test(value))) problems.push(`${node.tagName} ${name}=${value}`);
        }
        if (getComputedStyle(node).position === "fixed") problems.push(`${node.tagName} covers`);
    }
    if (view.node.querySelector(".katex-error, merror")) problems.push("an error node");
    if (document.documentElement.scrollWidth > innerWidth) problems.push("wider than the page");
    if (view.node.offsetHeight > 400_000) problems.push(`${view.node.offsetHeight} high`);
    view.node.remove();
    const growing = answerView();
    host.prepend(growing.node);
    for (const part of [0.3, 0.7, 1]) {
        growing.show(text.slice(0, Math.floor(text.length * part)), false);
        await frame();
    }
    growing.node.remove();
    return [Math.max(drawn, all), problems];
}"""


def check_table(desk):
    """Each text of the table is inert, and drawn in less than 200 ms; of five tries the fastest counts."""
    ready(desk)
    desk.world.chats.script["warm"] = "$x$ and *y*"
    page = desk.open()
    ask(page, "warm")
    done(page)
    expect(page.locator(".prose math")).to_have_count(1)
    slow, bad, worst = [], [], 0
    rows = hostile_table.rows()
    for kind, text in rows:
        times = []
        for _ in range(5):
            took, problems = page.evaluate(DRAW, text)
            times.append(took)
            if took < 200:
                break
        worst = max(worst, min(times))
        if min(times) >= 200:
            slow.append((kind, text[:60], len(text), [round(took) for took in times]))
        if problems:
            bad.append((kind, text[:60], problems[:3]))
    unhurt(page)
    assert not slow, slow
    assert not bad, bad
    return f"{len(rows)} texts, slowest {worst:.0f} ms"
