"""Models: found, fetched, paused, gone on with, changed."""
import os
import re
import shutil

from playwright.sync_api import expect

import home as homes
import origin
from walk import quick


class Slow:
    """An origin on this machine that sends slowly, with one model."""

    def __init__(self, w, home, rate=6_000_000):
        self.public = os.path.join(home.folder, "public")
        os.makedirs(self.public)
        file = os.path.join(home.folder, "walk-model-v1.0.0-q4_1.gguf")
        shutil.copy(homes.MODEL, file)
        homes.run(home.home, "publish", file, "--to", self.public, "--name", "walk-model")
        os.remove(file)
        self.server = origin.start(self.public, rate)
        home.more["HEARTH_ORIGIN"] = f"http://127.0.0.1:{self.server.server_address[1]}/models.json"

    def end(self):
        self.server.shutdown()


def walk_pause_resume(w):
    """A paused download cannot be resumed
    Pause, reload, restart of the server: Resume goes on where it was
    no Resume"""
    home = w.home(0)
    slow = w.enter(Slow(w, home))
    page = w.open(home, "#/models")
    page.get_by_role("button", name=re.compile("^Download walk-model")).click()
    expect(page.get_by_text(re.compile(r"\b[1-9]\d%")).first).to_be_visible(timeout=60000)
    page.get_by_role("button", name="Pause", exact=True).first.click()
    expect(page.get_by_role("button", name="Resume", exact=True).first).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Resume", exact=True).first).to_be_visible()
    home.kill(15)
    page.goto(home.start())
    page.locator("#rail a.tab").first.wait_for()
    page.goto(f"{home.base}/#/models")
    resume = page.get_by_role("button", name="Resume", exact=True).first
    expect(resume).to_be_visible(timeout=30000)
    sent = slow.server.sent if hasattr(slow.server, "sent") else None
    slow.server.rate = 0
    resume.click()
    expect(page.locator(".model", has_text="walk-model").first).to_contain_text("Downloaded", timeout=90000)
    return f"bytes before: {sent}"


@quick
def walk_catalog(w):
    """No catalog without configuration
    a fresh home: models with size, license and one recommendation; a search
    "No model is offered yet\""""
    home = w.home(0)
    page = w.open(home, "#/models")
    expect(page.locator(".model").nth(10)).to_be_visible(timeout=30000)
    assert page.get_by_text("Recommended", exact=True).count() == 1, page.get_by_text("Recommended", exact=True).count()
    expect(page.locator("main")).to_contain_text(re.compile("apache-2.0", re.I))
    count = page.locator(".model").count()
    said = home.run("list", "--format", "json", check=False).stdout
    return f"{count} cards"


@quick
def walk_click_on_a_card(w):
    """A click anywhere on a card downloads
    click the description of a card
    750 MB began"""
    home = w.home(0)
    page = w.open(home, "#/models")
    card = page.locator(".model").nth(3)
    expect(card).to_be_visible(timeout=30000)
    box = card.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(600)
    assert page.locator(".active-downloads").count() == 0 or not page.locator(".active-downloads").is_visible()


def walk_file_dropped(w):
    """A file of one's own cannot be added
    choose a .gguf; rubbish of the same name is refused with its reason
    no upload"""
    home = w.home(0)
    page = w.open(home, "#/models")
    rubbish = os.path.join(home.folder, "rubbish.gguf")
    with open(rubbish, "wb") as file:
        file.write(b"GGUF" + b"\xff" * 5000)
    mine = os.path.join(home.folder, "mine-v1.0.0-q4_1.gguf")
    shutil.copy(homes.MODEL, mine)
    for path in (rubbish, mine):
        page.get_by_role("button", name="Add model", exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.locator("input[type=file]").set_input_files(path)
        if path == rubbish:
            expect(page.locator("dialog [role=alert], #news, main").filter(has_text=re.compile("GGUF|model", re.I)).first).to_be_visible(timeout=30000)
            page.keyboard.press("Escape")
    expect(page.locator(".model", has_text=re.compile("mine")).first).to_contain_text("Downloaded", timeout=90000)


def walk_remove_says_what_it_frees(w):
    """License and notes are nowhere; what removal frees is not said
    Manage a model: license; Remove: the bytes before the yes
    neither"""
    home = w.home(1)
    page = w.open(home, "#/models")
    page.get_by_role("button", name=re.compile("^Manage Walk smollm2")).first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("License")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_role("dialog").last).to_contain_text(re.compile(r"\d+(\.\d)? MB"))


def walk_one_progress(w):
    """One download has three bars
    download on Models: one progress bar on the screen
    three"""
    home = w.home(0)
    w.enter(Slow(w, home))
    page = w.open(home, "#/models")
    page.get_by_role("button", name=re.compile("^Download walk-model")).click()
    expect(page.get_by_role("progressbar").first).to_be_visible(timeout=30000)
    page.wait_for_timeout(800)
    assert page.get_by_role("progressbar").count() == 1, page.get_by_role("progressbar").count()
