"""The whole main job with the built program: first run, download with cancel and resume over a killed server, chat with
stop and reload, update and rollback, records with undo, pages of characters; axe on the screens; pages of other origins.
PAGE_MODEL names the GGUF file.

    scripts/page/run.sh live              all steps
    scripts/page/run.sh live read_pages   this one
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import expect, sync_playwright

import origin
from foreign import foreign_pages
from session import session_of_one_origin

HEARTH = os.environ.get("HEARTH_BINARY", ".build/release/hearth")
CACHE = os.environ.get("HEARTH_CACHE", os.path.expanduser("~/.cache/hearth"))
MODEL = os.environ.get("PAGE_MODEL", os.path.join(CACHE, "models/SmolLM2-135M-Instruct.Q4_1.gguf"))


class Program:
    """`hearth serve` in a home of its own."""

    def __init__(self, folder):
        self.folder, self.process, self.port = folder, None, None
        self.public = os.path.join(folder, "public")
        os.makedirs(self.public)
        self.origin = origin.start(self.public, 6_000_000)
        self.environment = {**os.environ, "HEARTH_HOME": os.path.join(folder, "home"), "NO_PROXY": "*",
                            "HEARTH_NETWORK": "unmetered", "HEARTH_ORIGIN": f"http://127.0.0.1:{self.origin.server_address[1]}/models.json"}
        if os.environ.get("PAGE_FOLDER"):
            self.environment["HEARTH_PAGE"] = os.environ["PAGE_FOLDER"]

    def run(self, *words):
        done = subprocess.run([HEARTH, *words], env=self.environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def publish(self, version, padding):
        name = os.path.join(self.folder, f"smollm2-v{version}-q4_1.gguf")
        shutil.copy(MODEL, name)
        with open(name, "ab") as file:
            file.write(b"\0" * padding)
        self.run("publish", name, "--to", self.public)
        os.remove(name)

    def start(self):
        """Starts the server and returns an address that signs a browser in."""
        log = open(os.path.join(self.folder, "serve.log"), "a+")
        position = log.tell()
        self.process = subprocess.Popen([HEARTH, "serve", "--access-log", "--port", str(self.port or 0)], env=self.environment, stdout=log, stderr=log)
        for _ in range(300):
            time.sleep(0.1)
            log.seek(position)
            text = log.read()
            if found := re.search(r"http://127\.0\.0\.1:(\d+)\n", text):
                self.port = int(found[1])
                return self.address()
            assert self.process.poll() is None, text
        raise AssertionError(f"no address: {text}")

    def address(self):
        """A process that serves prints a code on a terminal only; asked again it prints a new one."""
        done = subprocess.run([HEARTH, "serve", "--detach"], env=self.environment, capture_output=True, text=True, timeout=60)
        return re.search(r"http://127\.0\.0\.1:\d+\S*open\?code=\S+", done.stdout + done.stderr)[0]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=20)
        self.origin.shutdown()


def ask(page, text):
    page.get_by_role("textbox", name="Question").fill(text)
    page.keyboard.press("Enter")


def first_run(page, program):
    """From the address in the terminal to the first answer: one click and one question."""
    began = time.monotonic()
    page.get_by_role("button", name="Download Model").click()
    expect(page.get_by_role("progressbar").first).to_be_visible(timeout=20000)
    ask(page, "Say hello in one short sentence.")
    expect(page.get_by_role("button", name="Answer again")).to_be_visible(timeout=180000)
    words = page.locator(".prose").first.inner_text()
    assert words.strip()
    assert page.locator(".message.user").count() == 1
    return f"1 click, {time.monotonic() - began:.0f} s with the download"


def download_over_a_kill(page, program):
    program.publish("1.1.0", 64)
    page.goto(f"http://127.0.0.1:{program.port}/#/models")
    page.get_by_role("button", name="Look for new models").click()
    card = page.locator(".model", has_text="smollm2").first
    update = card.get_by_role("button", name=re.compile("Update to 1.1.0"))
    expect(update).to_be_visible(timeout=20000)
    update.click()
    progress = page.locator(".active-downloads")
    expect(progress.get_by_text(re.compile(r"^[2-9]\d%$"))).to_be_visible(timeout=60000)
    page.reload()
    expect(progress).to_contain_text("%", timeout=20000)
    program.kill()
    expect(page.get_by_text("Connection lost")).to_be_visible(timeout=10000)
    program.start()
    expect(page.get_by_text("Connection lost")).to_be_hidden(timeout=30000)
    resume = card.get_by_role("button", name=re.compile("Resume|Update to|Try again"))
    expect(resume.or_(progress.get_by_role("button", name="Cancel download")).first).to_be_visible(timeout=30000)
    if resume.count():
        resume.first.click()
    expect(progress.get_by_text(re.compile(r"^[2-9]\d%$"))).to_be_visible(timeout=60000)
    progress.get_by_role("button", name="Cancel download").click()
    expect(update).to_be_visible(timeout=20000)
    program.origin.rate = 0
    update.click()
    expect(card.get_by_text("1.1.0", exact=False).first).to_be_visible(timeout=120000)
    expect(update).to_be_hidden(timeout=120000)


def rollback(page, program):
    page.get_by_role("button", name="Manage smollm2").first.click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Roll back to 1.0.0")).click()
    page.get_by_role("button", name="Roll back", exact=True).click()
    expect(page.locator("#toasts").get_by_text(re.compile("is 1.0.0"))).to_be_visible(timeout=60000)
    expect(page.get_by_role("dialog").get_by_text("Held back")).to_be_visible(timeout=20000)
    page.keyboard.press("Escape")


def chat_with_stop_and_reload(page, program):
    page.goto(f"http://127.0.0.1:{program.port}/#/chat")
    ask(page, "Tell a long story about a lighthouse and its keeper.")
    prose = page.locator(".prose").first
    words = re.compile(r"\w+ \w+")
    expect(prose).to_contain_text(words, timeout=60000)
    page.reload()
    expect(page.locator(".prose").first).to_contain_text(words, timeout=30000)
    stop, again = page.get_by_role("button", name="Stop"), page.get_by_role("button", name="Answer again")
    expect(stop.or_(again).first).to_be_visible(timeout=30000)
    if stop.count():
        stop.click()
    expect(again).to_be_visible(timeout=60000)
    assert page.locator(".message.user").count() == 1
    again.click()
    expect(stop).to_be_visible(timeout=30000)
    expect(again).to_be_hidden(timeout=30000)
    # An answer that is stopped before its first word is removed.
    expect(prose).to_contain_text(words, timeout=60000)
    if stop.count():
        stop.click()
    expect(page.get_by_text("1/2").or_(page.get_by_text("2/2")).first).to_be_visible(timeout=30000)


def action_with_approval_and_undo(page, program):
    # The server makes the answer an action of this kind; the page's own commands need no model.
    chat = page.evaluate("""async (text) => {
        const headers = {"Content-Type": "application/json", "X-Hearth-Page": localStorage.getItem("hearth-page") ?? ""};
        const call = (path, body) => fetch("/hearth/v1" + path, {method: "POST", headers, body: JSON.stringify(body)}).then((reply) => reply.json());
        const {chat} = await call("/chats", {});
        await call(`/chats/${chat.id}/messages`, {text, act: "NOTE_ACTION"});
        return chat.id;
    }""", "Spare key: it is at Anna's")
    page.goto(f"http://127.0.0.1:{program.port}/#/chat/{chat}")
    card = page.locator(".card").first
    expect(card.get_by_role("button", name="Approve", exact=True)).to_be_visible(timeout=120000)
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(card.get_by_text("Done")).to_be_visible(timeout=30000)
    card.get_by_role("button", name="Undo").click()
    expect(card.get_by_text("Undone")).to_be_visible(timeout=30000)


def records_with_undo(page, program):
    page.goto(f"http://127.0.0.1:{program.port}/#/stores/notes")
    page.get_by_role("button", name="New note").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill("Milk")
    dialog.get_by_label("Text").fill("Two bottles")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".note-card", has_text="Milk")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".note-card", has_text="Milk")).to_be_hidden()
    for store, add, label in (("calendar", "New event", "Title"), ("reminders", "New reminder", "Title"), ("contacts", "New contact", "Name"), ("habits", "New habit", "Name")):
        page.goto(f"http://127.0.0.1:{program.port}/#/stores/{store}")
        page.get_by_role("button", name=add).click()
        dialog.get_by_label(label, exact=True).fill(f"First of {store}")
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_text(f"First of {store}").first).to_be_visible()


def read_pages(page, program):
    """A classifier that is downloaded on the page reads generated pages: turned by 3 degrees, uneven light, noise, never seen fonts."""
    sys.path.insert(0, "scripts/classify")
    import score
    scans = os.path.join(program.folder, "scans")
    for words in ([scans, "--count", "3"], [scans + "/pages", "--count", "2", "--characters", "60", "--format", "tiff"], [scans + "/rows", "--count", "1", "--direction", "rows"]):
        subprocess.run(["scripts/classify/run.sh", "scripts/classify/pictures.py", "pages", *words], check=True)
    page.goto(f"http://127.0.0.1:{program.port}/#/read")
    expect(page.get_by_text("No classifier is on this device yet.")).to_be_visible()
    release = os.path.join(program.folder, "hanzi-v1.0.0.onnx")
    shutil.copy("models/hearth-hanzi/model.onnx", release)
    program.run("publish", release, *(f"models/hearth-hanzi/{name}" for name in ("classifier.json", "classes.txt", "canary.png")), "--to", program.public)
    program.origin.rate = 0
    page.get_by_role("link", name="Models").first.click()
    page.get_by_role("button", name="Look for new models").click()
    page.get_by_role("button", name=re.compile("^Download hanzi")).click()
    card = page.locator(".model", has_text="hanzi").first
    expect(card.get_by_text("Downloaded")).to_be_visible(timeout=60000)
    page.get_by_role("link", name="Read", exact=True).click()
    files, text = page.locator("input[type=file]"), page.locator(".read-text")
    total = good = 0
    slowest = 0.0
    for path in [*sorted(glob.glob(scans + "/page-*.png")), scans + "/rows/page-1.png"]:
        with open(path[:-3] + "txt", encoding="utf-8") as file:
            expected = file.read().split()
        began = time.monotonic()
        files.set_input_files(path)
        expect(page.locator(".read-status").get_by_text(re.compile("characters, read by hanzi"))).to_be_visible(timeout=30000)
        slowest = max(slowest, time.monotonic() - began)
        found = text.inner_text().split()
        assert len(found) == len(expected), f"{path}: {len(found)} lines"
        total += sum(map(len, expected))
        good += sum(score.right(line, other) for line, other in zip(expected, found))
        assert page.locator(".read-cell.accepted").count() > 150
        if path == scans + "/page-1.png":
            look_at_page(page)
        # The next file's sum must not be the one of this.
        files.set_input_files({"name": "cut.png", "mimeType": "image/png", "buffer": open(path, "rb").read()[:9999]})
        expect(page.locator(".read-result").get_by_role("alert")).to_contain_text("cannot be read", timeout=20000)
    files.set_input_files(scans + "/pages/pages.tiff")
    expect(page.locator(".read-page")).to_have_count(2, timeout=30000)
    expect(page.locator(".read-cell").first).to_have_text(re.compile("."))
    assert good >= 0.95 * total, f"{good} of {total}"
    return f"{good} of {total} characters are right and in their lines; at most {slowest:.1f} s for a page"


def look_at_page(page):
    """Axe and pictures of a page that was read, with a chosen character."""
    from look import inspect
    page.wait_for_function("() => document.querySelector('.read-page img')?.complete")
    doubtful = page.locator(".read-cell:not(.accepted)")
    (doubtful if doubtful.count() else page.locator(".read-cell")).first.click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        inspect(page, f"live-read-{scheme}")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 360, "height": 740})
    inspect(page, "live-read-narrow")
    page.set_viewport_size({"width": 1280, "height": 800})


def screens(page, program):
    from axe_playwright_python.sync_playwright import Axe
    from look import SCREENS
    problems = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, path in SCREENS.items():
            page.goto(f"http://127.0.0.1:{program.port}{path}")
            page.wait_for_timeout(400)
            found = [one for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
            problems += [f"{name} {scheme} {one['id']} {one['nodes'][0]['html'][:120]}" for one in found]
            if os.environ.get("PAGE_IMAGES"):
                page.screenshot(path=os.path.join(os.environ["PAGE_IMAGES"], f"live-{name}-{scheme}.png"))
    assert not problems, "\n".join(problems)


STEPS = [first_run, download_over_a_kill, rollback, chat_with_stop_and_reload, action_with_approval_and_undo, records_with_undo, read_pages,
         screens, session_of_one_origin, foreign_pages]


def main(names=()):
    """Runs the steps of these names, or all."""
    steps = [step for step in STEPS if not names or step.__name__ in names]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        program = Program(folder)
        # Chromium finds the fonts for tests of characters, if they were fetched, in the folder of the user's data.
        if os.path.isdir(os.path.join(CACHE, "classify/fonts")):
            os.makedirs(folder + "/data")
            os.symlink(os.path.join(CACHE, "classify/fonts/fonts-wqy-microhei/usr/share/fonts"), folder + "/data/fonts")
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.test 127.0.0.1"],
            env={**os.environ, "XDG_DATA_HOME": folder + "/data"})
        try:
            if first_run in steps:
                program.publish("1.0.0", 0)
            page = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US").new_page()
            page.on("console", lambda message: message.type == "error" and print(f"      console: {message.text}", flush=True))
            page.on("pageerror", lambda error: print(f"      error: {error}", flush=True))
            page.goto(program.start())
            page.wait_for_url(f"http://127.0.0.1:{program.port}/")
            for step in steps:
                try:
                    print(f"ok    live:{step.__name__} {step(page, program) or ''}", flush=True)
                except Exception as error:
                    failed += 1
                    page.screenshot(path=f"/tmp/page-live-{step.__name__}.png")
                    print(f"FAIL  live:{step.__name__} {str(error)[:1500]}", flush=True)
        finally:
            browser.close()
            program.end()
    return 1 if failed else 0
