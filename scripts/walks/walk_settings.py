"""Settings, languages, keys, dialogs, toasts, accessibility."""
import os
import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from look import SCREENS
from steps import api, ask, question
from walk import everywhere, quick


@quick
def walk_choice_reset(w):
    """A choice, once made, cannot be reset
    Settings, Network: choose, then reset
    no way back"""
    home = w.home(0)
    page = w.open(home)
    api(page, "PATCH", "/settings", {"network.metered": "allow"})
    page.goto(f"{home.base}/#/settings/network")
    page.locator("main").get_by_role("button", name=re.compile("^(Reset|Use the default|Default)")).first.click()
    page.wait_for_timeout(600)
    found = next(one for one in api(page, "GET", "/settings")["settings"] if one["key"] == "network.metered")
    assert found.get("value") in (None, found.get("default")), found


def walk_values_checked(w):
    """Wrong origins, models and key files are taken
    origin "hello", default model "nope", key file of nothing: each refused at its control
    taken"""
    home = w.home(1)
    page = w.open(home)
    refused = []
    for key, value in (("trust.NAME", "x"), ("origins", "hello"), ("defaultModel", "nope-nope"), ("cloud.keyFile", "/nowhere/key")):
        status = page.evaluate("""async ([key, value]) => (await fetch("/hearth/v1/settings", { method: "PATCH", headers: {
            "X-Hearth-Page": localStorage.getItem("hearth-page"), "Content-Type": "application/json" }, body: JSON.stringify({ [key]: value }) })).status""", [key, value])
        refused.append((key, status))
    assert all(400 <= status < 500 for _, status in refused), refused
    page.goto(f"{home.base}/#/settings/model")
    expect(page.locator("main")).not_to_contain_text("trust.NAME")
    return str(refused)


def walk_axe(w):
    """Axe found moderate faults
    every screen, light and dark, wide and narrow
    2 moderate"""
    home = w.home(1)
    page = w.open(home)
    problems, count = [], 0
    for scheme in ("light", "dark"):
        for width, height in ((1280, 800), (360, 740)):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            for name, path in {**SCREENS, "devices": "/#/settings/devices", "sign-in": "/hearth/open"}.items():
                page.goto(home.base + path)
                page.wait_for_timeout(350)
                count += 1
                problems += [f"{name} {scheme} {width}: {one['id']} ({one['impact']}) {one['nodes'][0]['html'][:140]}" for one in Axe().run(page).response["violations"]]
                if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    problems.append(f"{name} {width}: wider than the window")
                if folder := os.environ.get("PAGE_IMAGES"):
                    page.screenshot(path=os.path.join(folder, f"walk-{name}-{scheme}-{width}.png"))
    assert not problems, "\n".join(sorted(set(problems)))
    return f"{count} screens, none"


@quick
def walk_shortcuts(w):
    """No shortcuts
    press ?: a sheet lists them; Escape
    none"""
    home = w.home(0)
    page = w.open(home, "#/models")
    page.locator("main").click(position={"x": 5, "y": 5})
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile("shortcut", re.I))
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


@quick
def walk_dialog_closes(w):
    """Dialogs stay across navigation
    New note, then Back: it is closed
    it stayed"""
    home = w.home(0)
    page = w.open(home, "#/stores/reminders")
    page.goto(f"{home.base}/#/stores/notes")
    page.get_by_role("button", name="New note").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("dialog")).to_be_hidden()


@quick
def walk_toasts(w):
    """Toasts cover the input
    a note is saved on a narrow page; the toast and the navigation and input do not overlap
    covered the input"""
    home = w.home(0)
    page = w.open(home, "#/stores/notes", size=(360, 740))
    page.get_by_role("button", name="New note").click()
    page.get_by_role("dialog").get_by_label("Title").fill("Milk")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    toast = page.locator("#toasts > *").first
    expect(toast).to_be_visible()
    page.goto(f"{home.base}/#/chat")
    expect(question(page, w)).to_be_visible()
    if toast.count() and toast.is_visible():
        a, b = toast.bounding_box(), page.locator(".composer").bounding_box()
        assert a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1, (a, b)


ENGLISH = re.compile(r"\b(the|and|with|seconds|messages|Settings|Models|Cancel|Save|Delete|Remove|Today|Yesterday|never|always|Choose)\b")


def walk_german(w):
    """German is mixed with English
    every screen in German: no English word of the page's own
    cards, units, refusals in English"""
    home = w.home(1)
    page = w.open(home, language="de")
    found = {}
    for name, path in {**SCREENS, "devices": "/#/settings/devices"}.items():
        page.goto(home.base + path)
        page.wait_for_timeout(350)
        # Names and descriptions of models come from their publishers.
        text = page.evaluate("""() => [...document.querySelectorAll('body *')].filter((node) => !node.closest('.model, code, pre, [lang=en], .mono, .notes'))
            .flatMap((node) => [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim())).filter(Boolean).join('\\n')""")
        words = sorted({line for line in text.splitlines() if ENGLISH.search(line)})
        if words:
            found[name] = words[:4]
    assert not found, found
