"""Models of the catalog, of the Hub and of files: what a click brings, one progress, pause and resume, license and notes."""
import re

from playwright.sync_api import expect

import models
from flows import ready


def from_catalog(desk):
    """A row of the catalog in place of the first offered one."""
    row = desk.world.models.row("llama-3.2-3b")
    row["catalog"] = {"repository": "unsloth/Llama-3.2-3B-Instruct-GGUF", "name": row["name"], "parameters": 3_200_000_000, "kind": "chat", "tools": "yes",
                      "license": "llama3.2", "summary": row["summary"], "fits": True, "recommended": True, "tokensPerSecond": 12.4}
    row.update(version="newest", summary="A steady writer for summaries and letters; its terms limit some uses.")


def check_a_click_on_a_card_brings_nothing(desk):
    desk.world.models.interval = None
    page = desk.open("/#/models")
    card = page.locator(".model", has_text="Llama 3.2 1B")
    expect(card).to_be_visible()
    box = card.bounding_box()
    for x, y in ((0.2, 0.3), (0.5, 0.5), (0.9, 0.9)):
        page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])
    card.get_by_text("Llama 3.2 1B", exact=True).first.click()
    dialog = page.get_by_role("dialog")
    if dialog.count():
        page.keyboard.press("Escape")
    assert desk.world.models.row("llama-3.2-1b")["state"] == "not-downloaded"
    card.get_by_role("button", name="Download Llama 3.2 1B").click()
    expect(page.locator(".active-downloads")).to_contain_text("Llama 3.2 1B")


def check_a_card_and_its_progress_have_their_measures(desk):
    """Percent are whole and never ahead; a bar of 8 pixels; what cannot run is half as bright and has no button of its own."""
    desk.world.models.interval = None
    desk.world.models.rows = models.many_states()
    page = desk.open("/#/models")
    row = desk.world.models.row("llama-3.2-1b")
    card = page.locator(".model", has_text="Llama 3.2 1B")
    expect(card.locator(".model-summary")).to_have_text("The smallest. For devices with little memory.")
    expect(card.locator(".model-figures")).to_contain_text("808.0 MB")
    expect(card.locator(".model-figures")).to_contain_text("2.0 GB RAM")
    assert [page.locator(".model-icon").first.bounding_box()[side] for side in ("width", "height")] == [44, 44]
    expect(page.locator(".model", has_text="Qwen 3.5 4B").locator(".badge.vision")).to_have_text("Vision")
    chosen = page.locator(".model.chosen")
    expect(chosen).to_have_count(1)
    purple, shadow = chosen.evaluate("node => [getComputedStyle(node).borderTopColor, getComputedStyle(node).boxShadow]")
    assert shadow.startswith(purple) and shadow.endswith("0px 0px 0px 1px"), shadow
    falcon = page.locator(".model.incompatible", has_text="Falcon 180B")
    assert falcon.locator(".model-icon").evaluate("node => getComputedStyle(node).opacity") == "0.5"
    assert falcon.get_attribute("aria-disabled") == "true"
    expect(falcon.locator(".model-actions button")).to_have_count(0)
    expect(falcon.locator(".model-tap")).to_be_hidden()
    card.get_by_role("button", name="Download Llama 3.2 1B").click()
    progress = page.locator(".active-downloads .progress")
    desk.world.models.step(row, 0.459)
    expect(progress.get_by_text("45%", exact=True)).to_be_visible()
    expect(progress.locator(".caption").first).to_have_text("Downloading")
    bar = progress.get_by_role("progressbar")
    assert bar.bounding_box()["height"] == 8
    expect(bar).to_have_attribute("aria-valuenow", "45")
    expect(progress.get_by_role("button", name="Cancel download", exact=True)).to_be_visible()
    # A tap anywhere on a card selects a model that is here.
    desk.world.models.step(row, 0.6)
    expect(card.locator(".model-state")).to_have_text("Downloaded")
    expect(card).not_to_have_class(re.compile("chosen"))
    card.click(position={"x": 300, "y": 40})
    expect(card).to_have_class(re.compile("chosen"))
    expect(page.locator(".model.chosen")).to_have_count(1)


def check_pause_and_resume_after_a_reload_and_a_restart(desk):
    desk.world.models.interval = None
    page = desk.open("/#/models")
    row = desk.world.models.row("llama-3.2-1b")
    page.get_by_role("button", name="Download Llama 3.2 1B").click()
    expect(page.get_by_role("progressbar")).to_have_count(1)
    desk.world.models.step(row, 0.45)
    # One progress: nothing beside it repeats the figures.
    expect(page.get_by_text("45%")).to_have_count(1)
    expect(page.get_by_text("363.6 MB", exact=False)).to_have_count(1)
    expect(page.locator(".pill")).to_be_hidden()
    page.get_by_role("button", name="Pause", exact=True).click()
    resume = page.get_by_role("button", name="Resume", exact=True)
    expect(resume).to_have_count(1)
    expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    page.reload()
    expect(page.locator(".model", has_text="Llama 3.2 1B").get_by_text("Paused")).to_be_visible()
    resume.click()
    expect(page.locator(".active-downloads").get_by_text("45%", exact=True)).to_be_visible()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(resume).to_be_visible()
    desk.backend.stop()
    desk.backend.restart()
    expect(page.locator(".model", has_text="Llama 3.2 1B").get_by_text("363.6 MB kept")).to_be_visible(timeout=15000)
    resume.click()
    expect(page.locator(".active-downloads").get_by_text("45%", exact=True)).to_be_visible()
    page.goto(desk.backend.address + "/#/stores")
    expect(page.locator(".pill")).to_be_visible()


def check_a_paused_first_download_goes_on(desk):
    desk.world.models.interval = None
    page = desk.open()
    page.get_by_role("button", name="Download Model").click()
    expect(page.get_by_role("progressbar")).to_have_count(1)
    desk.world.models.step(desk.world.models.row("llama-3.2-3b"), 0.5)
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name=re.compile(r"Continue download \(1\.0 GB kept\)")).click()
    expect(page.get_by_role("progressbar")).to_be_visible()


def check_the_catalog_and_the_hub(desk):
    from_catalog(desk)
    desk.world.models.interval = None
    page = desk.open("/#/models")
    card = page.locator(".model", has_text="Llama 3.2 3B")
    expect(card.get_by_text("about 2.0 GB")).to_be_visible()
    expect(card.get_by_text("llama3.2")).to_be_visible()
    expect(card.get_by_text("about 12 tokens/s")).to_be_visible()
    expect(page.get_by_text("Recommended", exact=True)).to_have_count(1)
    assert page.locator(".model").first.get_by_text("Llama 3.2 3B").count()
    page.get_by_role("searchbox", name="Search models").fill("qwen3")
    page.get_by_role("button", name="Search the Hub").click()
    hub = page.get_by_role("region", name="From the Hugging Face Hub")
    expect(hub.get_by_text("unsloth/Qwen3-4B-GGUF")).to_be_visible()
    expect(hub.get_by_text("1.3M downloads a month · 340 likes · apache-2.0 · Q4_K_M, 2.5 GB · fits this device")).to_be_visible()
    expect(hub.get_by_text("its owner decides who gets it")).to_be_visible()
    expect(hub.get_by_role("button")).to_have_count(2)
    hub.get_by_role("button", name="Download unsloth/Qwen3-4B-GGUF").click()
    expect(page.locator(".active-downloads")).to_contain_text("Qwen3-4B-GGUF")
    desk.world.models.hub_problem = {"code": "offline", "message": "No network", "disposition": "try-later"}
    page.get_by_role("searchbox", name="Search models").press("Enter")
    expect(hub.get_by_text("There is no network, so the Hub was not asked.")).to_be_visible()
    expect(hub.get_by_text("The list above works without it", exact=False)).to_be_visible()


def check_the_catalog_in_german(desk):
    from_catalog(desk)
    page = desk.open("/#/models", locale="de-DE")
    card = page.locator(".model", has_text="Llama 3.2 3B")
    expect(card.get_by_text("Schreibt verlässlich Zusammenfassungen", exact=False)).to_be_visible()
    expect(card.get_by_text("etwa 2,0 GB")).to_be_visible()
    card.get_by_role("button", name="Llama 3.2 3B verwalten").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Lizenz", exact=True)).to_be_visible()
    expect(dialog.get_by_text("apache-2.0")).to_be_visible()
    expect(dialog.get_by_text("3,2", exact=False).first).to_be_visible()


def check_license_notes_and_what_a_removal_frees(desk):
    ready(desk)
    page = desk.open("/#/models")
    page.get_by_role("button", name="Manage Llama 3.2 3B").click()
    dialog = page.get_by_role("dialog").first
    expect(dialog.get_by_text("apache-2.0")).to_be_visible()
    expect(dialog.get_by_text("Fixes long answers.")).to_be_visible()
    expect(dialog.get_by_text("Removing it frees 2.7 GB.")).to_be_visible()
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("Frees 2.7 GB. You can download it again.")).to_be_visible()
    page.get_by_role("dialog").last.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator(".toast", has_text="Llama 3.2 3B is removed")).to_be_visible()


def check_a_failed_download_says_why_and_goes_on(desk):
    ready(desk)
    desk.world.models.interval = None
    page = desk.open("/#/models")
    card = page.locator(".model", has_text="Gemma 4B")
    expect(card.get_by_text("Network error: the server closed the connection.", exact=False)).to_be_visible()
    card.get_by_role("button", name="Try again").click()
    expect(page.locator(".active-downloads")).to_contain_text("Gemma 4B")


def check_a_file_is_installed(desk):
    page = desk.open("/#/models")
    chooser = page.locator(".drop-hint input[type=file]")
    chooser.set_input_files({"name": "mine.gguf", "mimeType": "application/octet-stream", "buffer": b"GGUF" + bytes(2000)})
    expect(page.locator(".toast", has_text="mine is installed")).to_be_visible()
    expect(page.locator(".model", has_text="mine")).to_be_visible()
    chooser.set_input_files({"name": "rubbish.gguf", "mimeType": "application/octet-stream", "buffer": bytes(range(200))})
    problem = page.get_by_role("alert").filter(has_text="not a GGUF file")
    expect(problem).to_be_visible()
    page.get_by_role("region", name="rubbish.gguf").get_by_role("button", name="Close").click()
    expect(problem).to_be_hidden()
    # Dropped, with a hostile name.
    page.evaluate("""() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array([71, 71, 85, 70, 0])], '<img src=x onerror=alert(1)>.gguf'));
        data.items.add(new File(['x'], 'notes.txt'));
        for (const type of ['dragenter', 'dragover', 'drop'])
            document.getElementById('main').dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }""")
    expect(page.locator(".model", has_text="<img src=x onerror=alert(1)>")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="notes.txt is no model file")).to_be_visible()
    page.get_by_role("button", name="Add model").click()
    page.get_by_role("dialog").get_by_label("Choose a file").set_input_files({"name": "second.gguf", "mimeType": "application/octet-stream", "buffer": b"GGUF" + bytes(20)})
    expect(page.locator(".model", has_text="second")).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()


def check_an_address_is_downloaded_when_it_is_added(desk):
    desk.world.models.interval = None
    page = desk.open("/#/models")
    for reference, name, now in (("https://models.example.org/one.gguf", "one.gguf", True), ("https://models.example.org/two.gguf", "two.gguf", False)):
        page.get_by_role("button", name="Add model").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Repository or address").fill(reference)
        dialog.get_by_role("switch", name="Download it now").set_checked(now)
        dialog.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator(".model", has_text=name)).to_be_visible()
    expect(page.locator(".active-downloads")).to_contain_text("one.gguf")
    assert models.row  # the second waits for its own button
    expect(page.locator(".active-downloads")).not_to_contain_text("two.gguf")


def check_devices(desk):
    page = desk.open("/#/settings/devices", has_touch=True)
    rows = page.locator(".settings-body .rows > li")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("Chrome on Linux")
    expect(rows.nth(0)).to_contain_text("This device")
    expect(rows.nth(1)).to_contain_text("Safari on iPhone")
    expect(page.get_by_text("Other devices of this network open http://192.168.1.5:4327.", exact=False)).to_be_visible()
    page.get_by_role("button", name="Add a phone").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("7KQM-4T21")).to_be_visible()
    expect(dialog.get_by_role("img", name="http://192.168.1.5:4327/hearth/open?code=7KQM-4T21")).to_be_visible()
    dialog.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()") == "http://192.168.1.5:4327/hearth/open?code=7KQM-4T21"
    dialog.get_by_role("button", name="Another code").click()
    expect(dialog.get_by_text("7KQM-4T22")).to_be_visible()
    # The phone is in: the code is gone.
    desk.world.emit("devices", {})
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Sign out Safari on iPhone").click()
    dialog.get_by_role("button", name="Sign out", exact=True).click()
    expect(rows).to_have_count(1)
    desk.world.reach = None
    page.reload()
    page.get_by_role("button", name="Add a phone").click()
    expect(dialog.get_by_text("hearth serve --lan")).to_be_visible()


def check_a_phone_with_its_keyboard_up(desk):
    """On 360 x 380 the composer and the buttons of dialogs stay on the screen."""
    ready(desk)
    page = desk.open(width=360, height=740, has_touch=True)
    page.get_by_role("textbox", name="Question").fill("Plan a weekend")
    page.set_viewport_size({"width": 360, "height": 380})
    for control in (page.get_by_role("textbox", name="Question"), page.get_by_role("button", name="Send", exact=True)):
        box = control.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 380, box
    page.goto(desk.backend.address + "/#/models")
    page.get_by_role("button", name="Add model").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Repository or address").fill("x")
    box = dialog.bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 380, box
    dialog.get_by_role("button", name="Add", exact=True).scroll_into_view_if_needed()
    box = dialog.get_by_role("button", name="Add", exact=True).bounding_box()
    assert box["y"] + box["height"] <= 380, box
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def check_copying_over_plain_http(desk):
    """Without the clipboard API, as on a phone over plain http, the key is copied by a selection."""
    page = desk.open("/#/settings/keys")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("laptop")
    dialog.get_by_role("button", name="Create").click()
    page.evaluate("document.addEventListener('copy', () => { window.copied = document.getSelection().toString() || document.activeElement.value; })")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator(".toast", has_text="Copied")).to_be_visible()
    assert page.evaluate("window.copied").startswith("hearth-")
