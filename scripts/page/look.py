"""Every screen in both colour schemes, wide and at 360 px: nothing overflows, axe finds nothing, and the
screenshots are kept in PAGE_IMAGES."""
import os

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from flows import ask, done, ready

SCREENS = {
    "first-run": "/", "models": "/#/models", "calendar": "/#/stores/calendar", "records": "/#/stores/all", "reminders": "/#/stores/reminders", "notes": "/#/stores/notes",
    "contacts": "/#/stores/contacts", "habits": "/#/stores/habits", "settings": "/#/settings/model", "appearance": "/#/settings/look",
    "network": "/#/settings/network", "cloud": "/#/settings/cloud", "permissions": "/#/settings/permissions", "tools": "/#/settings/tools",
    "memory": "/#/settings/memory", "data": "/#/settings/data", "keys": "/#/settings/keys", "activity": "/#/settings/activity", "conversations": "/#/chats",
    "read": "/#/read",
}
# The pictures of docs/page.md; the others are only looked at.
IMAGES = {"first-run-light", "models-light", "models-dark", "chat-light", "chat-dark", "chat-narrow", "calendar-light", "settings-light", "download-light"}
axe = Axe()


def shoot(page, name):
    folder = os.environ.get("PAGE_IMAGES")
    if not folder or (folder.endswith("docs/images") and name not in IMAGES):
        return
    os.makedirs(folder, exist_ok=True)
    page.screenshot(path=os.path.join(folder, f"page-{name}.png"))


def inspect(page, name):
    page.wait_for_timeout(350)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"
    found = axe.run(page).response["violations"]
    shoot(page, name)
    assert not found, name + "\n" + "\n".join(f"{one['id']}: {node['html'][:150]} {node['failureSummary'][:300]}" for one in found for node in one["nodes"][:4])


def look(desk, scheme, width, height, suffix):
    problems = []

    def see(page, name):
        try:
            inspect(page, f"{name}-{suffix}")
        except AssertionError as error:
            problems.append(str(error))

    page = desk.open("/", width, height, scheme)
    expect(page.get_by_role("button", name="Download Model")).to_be_visible()
    see(page, "first-run")
    ready(desk)
    desk.world.chats.rate = 3000
    desk.world.chats.begin("A weekend by the lake")
    desk.world.chats.begin("Letter to the landlord")
    for name, path in SCREENS.items():
        if name == "first-run":
            continue
        page.goto(desk.backend.address + path)
        page.reload()
        expect(page.locator("main h1").first).to_be_visible()
        see(page, name)
    page.goto(desk.backend.address + "/#/chat")
    page.reload()
    expect(page.get_by_text("What can I do for you?")).to_be_visible()
    see(page, "new-chat")
    ask(page, "Show code")
    done(page)
    expect(page.locator(".hljs-keyword").first).to_be_visible()
    ask(page, "Plan a quiet weekend and note it")
    expect(page.get_by_text("Waiting for you")).to_be_visible()
    page.wait_for_timeout(200)
    see(page, "chat")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("Undo")).to_be_visible()
    page.goto(desk.backend.address + "/#/models")
    page.get_by_role("button", name="Manage Llama 3.2 3B").click()
    expect(page.get_by_role("dialog").get_by_text("1.0.0", exact=False).first).to_be_visible()
    see(page, "manage")
    page.keyboard.press("Escape")
    desk.world.models.interval = None
    row = desk.world.models.row("qwen3.5-4b")
    page.get_by_role("button", name="Download Qwen 3.5 4B").click()
    expect(page.locator(".active-downloads")).to_contain_text("Qwen 3.5 4B")
    desk.world.models.step(row, 0.42)
    expect(page.get_by_text("42%", exact=True)).to_be_visible()
    page.locator("main").evaluate("node => { node.scrollTop = 0; }")
    see(page, "download")
    # Beside the progress itself, the button of the navigation would repeat it.
    expect(page.locator(".pill")).to_be_hidden()
    page.goto(desk.backend.address + "/#/settings/devices")
    page.locator(".pill").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    see(page, "sheet")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add a phone").click()
    expect(page.get_by_role("dialog").get_by_text("7KQM-4T21")).to_be_visible()
    see(page, "invitation")
    assert not problems, "\n".join(problems)


def check_light(desk):
    look(desk, "light", 1280, 800, "light")


def check_dark(desk):
    look(desk, "dark", 1280, 800, "dark")


def check_narrow(desk):
    look(desk, "light", 360, 740, "narrow")


def check_narrow_dark(desk):
    look(desk, "dark", 360, 740, "narrow-dark")


def check_contrast_and_reduced_motion(desk):
    ready(desk)
    page = desk.open("/#/models", reduced_motion="reduce", contrast="more")
    expect(page.get_by_role("heading", name="AI Model")).to_be_visible()
    inspect(page, "models-contrast")
    assert page.evaluate("matchMedia('(prefers-contrast: more)').matches")
