"""The main job of a person: first run, download with cancel and resume, chat with stop, action with approval and undo,
rollback; and what disturbs it: reloads, a killed server, a narrow page, the keyboard alone."""
import re

from playwright.sync_api import expect

import models


def ready(desk):
    """Puts a loaded model into the world."""
    desk.world.models.rows = models.many_states()


def ask(page, text):
    page.get_by_role("textbox", name="Question").fill(text)
    page.keyboard.press("Enter")


def done(page):
    expect(page.get_by_role("button", name="Answer again")).to_be_visible(timeout=20000)


def check_first_run(desk):
    """From nothing to the first answer: one click, one question."""
    page = desk.open()
    page.get_by_role("button", name="Download Model").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    ask(page, "Plan a quiet weekend")
    expect(page.locator(".waiting-question").get_by_text("Sent when the model is ready.")).to_be_visible()
    expect(page.locator(".prose").get_by_text("Two calm days")).to_be_visible(timeout=15000)
    done(page)
    assert len(page.query_selector_all(".message.user")) == 1
    return "clicks: 1"


def check_pull_cancel_resume(desk):
    desk.world.models.interval = None
    page = desk.open("/#/models")
    row = desk.world.models.row("llama-3.2-1b")
    page.get_by_role("button", name="Download Llama 3.2 1B").click()
    expect(page.locator(".active-downloads")).to_contain_text("Llama 3.2 1B")
    desk.world.models.step(row, 0.45)
    progress = page.locator(".active-downloads")
    expect(progress.get_by_text("45%", exact=True)).to_be_visible()
    expect(progress.get_by_text("363.6 MB of 808.0 MB")).to_be_visible()
    expect(progress.get_by_text("48.2 MB/s")).to_be_visible()
    progress.get_by_role("button", name="Pause").click()
    card = page.locator(".model", has_text="Llama 3.2 1B")
    expect(card.get_by_text("363.6 MB kept")).to_be_visible()
    card.get_by_role("button", name="Resume").click()
    expect(progress.get_by_text("45%", exact=True)).to_be_visible()
    progress.get_by_role("button", name="Cancel download").click()
    expect(card.get_by_text("Not downloaded")).to_be_visible()
    assert row["keptBytes"] is None
    card.get_by_role("button", name="Download Llama 3.2 1B").click()
    expect(page.locator(".active-downloads")).to_contain_text("Llama 3.2 1B")
    for _ in range(4):
        desk.world.models.step(row, 0.3)
    expect(card.get_by_text("Downloaded, loaded")).to_be_visible()
    expect(card).to_have_class(re.compile("chosen"))


def check_reload_and_kill_in_a_download(desk):
    desk.world.models.interval = None
    page = desk.open("/#/models")
    row = desk.world.models.row("llama-3.2-1b")
    page.get_by_role("button", name="Download Llama 3.2 1B").click()
    expect(page.locator(".active-downloads")).to_contain_text("Llama 3.2 1B")
    desk.world.models.step(row, 0.4)
    page.reload()
    expect(page.locator(".active-downloads").get_by_text("40%", exact=True)).to_be_visible()
    desk.backend.stop()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    desk.backend.restart()
    expect(page.get_by_text("Connection lost")).to_be_hidden(timeout=15000)
    card = page.locator(".model", has_text="Llama 3.2 1B")
    expect(card.get_by_text("323.2 MB kept")).to_be_visible()
    card.get_by_role("button", name="Resume").click()
    expect(page.locator(".active-downloads").get_by_text("40%", exact=True)).to_be_visible()


def check_metered_and_unverified(desk):
    desk.world.metered = True
    desk.world.models.interval = None
    page = desk.open("/#/models")
    page.get_by_role("button", name="Download Llama 3.2 1B").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Fetch 808.0 MB now?")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert desk.world.models.row("llama-3.2-1b")["state"] == "failed"
    page.get_by_role("button", name="Download Llama 3.2 1B again").click()
    dialog.get_by_role("button", name="Download now").click()
    expect(page.locator(".active-downloads")).to_contain_text("Llama 3.2 1B")
    desk.world.metered = False
    desk.world.models.refusal = (422, "digest-missing", "The publisher gives no digest.")
    page.get_by_role("button", name="Download Qwen 3.5 4B").click()
    expect(dialog.get_by_text("Download without verification?")).to_be_visible()
    desk.world.models.refusal = None
    dialog.get_by_role("button", name="Download unverified").click()
    expect(page.locator(".active-downloads")).to_contain_text("Qwen 3.5 4B")


def check_rollback_and_states(desk):
    ready(desk)
    page = desk.open("/#/models")
    expect(page.locator(".model.incompatible", has_text="Falcon 180B")).to_contain_text("This model requires 130 GB RAM.")
    expect(page.get_by_role("button", name=re.compile(r"Update to 1\.1\.0 \(1\.8 GB\)"))).to_be_visible()
    page.get_by_role("button", name="Manage Llama 3.2 3B").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Verify files").click()
    expect(dialog.get_by_text("All files are intact.")).to_be_visible()
    dialog.get_by_role("button", name="Pin 1.1.0").click()
    expect(dialog.get_by_role("button", name="Unpin")).to_be_visible()
    dialog.get_by_role("button", name="Roll back to 1.0.0").click()
    page.get_by_role("button", name="Roll back", exact=True).click()
    expect(page.locator(".toast", has_text="Llama 3.2 3B is 1.0.0 again")).to_be_visible()
    expect(dialog.get_by_text("rolled back")).to_be_visible()


def check_add_a_model(desk):
    page = desk.open("/#/models")
    page.get_by_role("button", name="Add model").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Repository or address").fill("nonsense")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("names no repository")
    dialog.get_by_label("Repository or address").fill("hf:org/tiny-model")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".model", has_text="tiny-model")).to_be_visible()


def check_chat_stop_edit_branch(desk):
    ready(desk)
    desk.world.chats.rate = 40
    page = desk.open()
    ask(page, "Plan a weekend")
    expect(page.locator(".prose").get_by_text("Two calm days")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    done(page)
    expect(page.get_by_text("stopped")).to_be_visible()
    expect(page.locator(".prose").get_by_text("Home by three")).to_be_hidden()
    desk.world.chats.rate = 400
    page.locator(".message.user").get_by_role("button", name="Edit question").click()
    page.get_by_role("textbox", name="Edit question").fill("Show code")
    page.get_by_role("button", name="Send", exact=True).first.click()
    expect(page.locator(".code-block")).to_be_visible()
    done(page)
    expect(page.locator(".hljs-keyword").first).to_be_visible()
    assert len(page.query_selector_all(".message.user")) == 1
    desk.world.chats.rate = 60
    page.get_by_role("button", name="Answer again").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    done(page)


def check_reload_and_cut_in_an_answer(desk):
    """Neither a reload nor a lost connection loses or doubles a word."""
    ready(desk)
    desk.world.chats.rate = 60
    page = desk.open()
    ask(page, "long 400")
    expect(page.locator(".prose").get_by_text("Paragraph 1 ")).to_be_visible()
    page.reload()
    expect(page.locator(".prose").get_by_text("Paragraph 2 ")).to_be_visible(timeout=15000)
    desk.backend.cut_streams()
    expect(page.locator(".prose").get_by_text("Paragraph 4 ")).to_be_visible(timeout=15000)
    desk.backend.cut_streams()
    done(page)
    shown = page.locator(".prose > p").all_inner_texts()
    assert [text.split()[1] for text in shown] == [str(index) for index in range(10)], shown
    assert len({text.split(" has ", 1)[1] for text in shown}) == 1


def check_kill_in_an_answer(desk):
    ready(desk)
    desk.world.chats.rate = 40
    page = desk.open()
    ask(page, "long 400")
    expect(page.locator(".prose").get_by_text("Paragraph 1 ")).to_be_visible()
    desk.backend.stop()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    desk.backend.restart()
    expect(page.get_by_text("Connection lost")).to_be_hidden(timeout=15000)
    done(page)
    ask(page, "Plan a weekend")
    desk.world.chats.rate = 400
    expect(page.locator(".prose").get_by_text("Home by three")).to_be_visible(timeout=15000)
    assert len(page.query_selector_all(".message.user")) == 2


def check_action_with_approval_and_undo(desk):
    ready(desk)
    page = desk.open()
    ask(page, "Please note that the spare key is at Anna's")
    card = page.locator(".card")
    expect(card.get_by_text("Waiting for you")).to_be_visible()
    before = len(desk.world.records.notes)
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(card.get_by_text("Done")).to_be_visible()
    assert len(desk.world.records.notes) == before + 1
    card.get_by_role("button", name="Undo").click()
    expect(card.get_by_text("Undone")).to_be_visible()
    assert len(desk.world.records.notes) == before


def check_thinking_and_pictures(desk):
    ready(desk)
    desk.world.chats.rate = 12
    page = desk.open()
    page.get_by_role("button", name="Think", exact=True).click()
    page.locator("input[type=file]").set_input_files({"name": "dot.png", "mimeType": "image/png", "buffer": __import__("chats").PIXEL})
    expect(page.locator(".attachment:not(.loading)")).to_be_visible()
    ask(page, "What is this?")
    expect(page.locator(".thinking-line")).to_contain_text("Two days.")
    desk.world.chats.rate = 400
    expect(page.get_by_text("Thoughts")).to_be_visible(timeout=10000)
    page.get_by_text("Thoughts").click()
    expect(page.locator(".thinking-text")).to_contain_text("shorter and cool.")
    expect(page.locator(".message.user img")).to_be_visible()


def check_keyboard_alone(desk):
    ready(desk)
    page = desk.open("/#/models")
    expect(page.get_by_role("heading", name="AI Model")).to_be_visible()

    def reach(name, limit=80):
        for _ in range(limit):
            page.keyboard.press("Tab")
            shown = page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()")
            if shown == name:
                return
        raise AssertionError(f"{name} is not reached")

    reach("Manage Llama 3.2 3B")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Manage Llama 3.2 3B"
    page.evaluate("document.body.focus(); document.activeElement.blur()")
    page.goto(desk.backend.address + "/#/chat")
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    page.keyboard.type("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Question")).to_have_value("/reminder ")
    page.keyboard.press("Control+a")
    page.keyboard.type("Plan a weekend")
    page.keyboard.press("Enter")
    done(page)


def check_right_to_left(desk):
    ready(desk)
    page = desk.open()
    ask(page, "ما هي خطة نهاية الأسبوع؟")
    done(page)
    assert page.eval_on_selector(".bubble-text", "node => getComputedStyle(node).direction") == "rtl"
    page.evaluate("document.documentElement.dir = 'rtl'")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rail = page.locator("#rail").bounding_box()
    assert rail["x"] > 600, rail


def check_which_model_is_asked_in_place(desk):
    """Two models and none chosen: the page asks, and goes on with the same question."""
    ready(desk)
    desk.world.chats.model = None
    page = desk.open()
    ask(page, "Plan a weekend")
    choice = page.get_by_role("region", name="Which model answers?")
    expect(choice.get_by_text("Plan a weekend")).to_be_visible()
    choice.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("textbox", name="Question")).to_have_value("Plan a weekend")
    page.get_by_role("textbox", name="Question").press("Enter")
    choice.get_by_role("button", name="Llama 3.2 3B").click()
    done(page)
    assert len(page.query_selector_all(".message.user")) == 1
    # Of the conversation in which nothing was said, nothing is left.
    [id] = desk.world.chats.all
    assert desk.world.chats.settings[id] == {"model": "llama-3.2-3b"}, desk.world.chats.settings[id]
    # The conversation keeps its model.
    ask(page, "Plan another")
    expect(page.get_by_role("button", name="Answer again")).to_have_count(2, timeout=20000)


def check_endings_and_continue(desk):
    """Each end of an answer stays with its reason and one button."""
    ready(desk)
    desk.world.chats.rate = 400
    page = desk.open()
    desk.world.chats.end = {"code": "length", "message": "Too long.", "help": "continue"}
    ask(page, "Plan a weekend")
    ending = page.locator(".ending")
    expect(ending.get_by_text("The answer reached its longest length.")).to_be_visible()
    page.reload()
    ending.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator(".prose").get_by_text("Home by three")).to_be_visible()
    expect(ending).to_be_hidden()
    assert page.locator(".prose").inner_text().count("Two calm days") == 1
    for code, help, button in [("engine-died", "retry", "Try again"), ("not-enough-memory", "free-memory", "Free memory"), ("context-window-exceeded", "choose-model", "Choose a model")]:
        desk.world.chats.end = {"code": code, "message": "Failed.", "help": help}
        page.get_by_role("button", name="Answer again").last.click()
        expect(page.locator(f".ending[data-code={code}]").get_by_role("button", name=button)).to_be_visible()
    desk.world.chats.end = {"code": "unauthorised", "message": "Failed.", "help": "open-settings"}
    page.get_by_role("button", name="Answer again").last.click()
    page.get_by_role("link", name="Open settings").click()
    expect(page).to_have_url(re.compile("#/settings/cloud$"))


def check_settings_of_a_conversation(desk):
    ready(desk)
    page = desk.open()
    page.get_by_role("button", name="Settings of this conversation").click()
    dialog = page.get_by_role("dialog", name="Settings of this conversation")
    dialog.get_by_label("Model", exact=True).select_option("llama-3.2-3b")
    dialog.get_by_label("Instructions").fill("Answer in rhymes.")
    dialog.get_by_label("Temperature").fill("9")
    dialog.get_by_label("Longest answer").fill("300")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("The temperature must be a number from 0 to 5.")).to_be_visible()
    expect(dialog.get_by_label("Temperature")).to_be_focused()
    dialog.get_by_label("Temperature").fill("0.5")
    dialog.get_by_label("Kind of conversation").select_option("plain")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    page.reload()
    ask(page, "Plan a weekend")
    done(page)
    [id] = desk.world.chats.all
    wanted = {"model": "llama-3.2-3b", "instructions": "Answer in rhymes.", "temperature": 0.5, "maximumNewTokens": 300, "form": "plain"}
    assert desk.world.chats.settings[id] == wanted, desk.world.chats.settings[id]
    page.get_by_role("button", name="Settings of this conversation").click()
    expect(dialog.get_by_label("Instructions")).to_have_value("Answer in rhymes.")
    dialog.get_by_role("button", name="Reset all").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    assert desk.world.chats.settings[id] == {}, desk.world.chats.settings[id]
    # The next new conversation begins without them.
    page.goto(desk.backend.address + "/#/chat")
    page.get_by_role("button", name="Settings of this conversation").click()
    expect(dialog.get_by_label("Instructions")).to_have_value("")


def check_cloud_alone_answers(desk):
    desk.world.has_cloud = True
    desk.world.chats.model = None
    page = desk.open()
    ask(page, "Plan a weekend")
    done(page)
    pill = page.locator("button.badge.route")
    expect(pill).to_contain_text("Cloud")
    pill.click()
    expect(pill).to_contain_text("On this device")
    assert not desk.world.force_local
    [id] = desk.world.chats.all
    assert desk.world.chats.settings[id] == {"route": "local"}


def check_two_tabs_lose_nothing(desk):
    ready(desk)
    page = desk.open()
    ask(page, "Plan a weekend")
    done(page)
    other = page.context.new_page()
    other.goto(page.url)
    done(other)
    desk.world.chats.rate = 20
    other.get_by_role("button", name="Edit question").click()
    other.get_by_role("textbox", name="Edit question").fill("Plan an evening")
    ask(page, "long 400")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    other.keyboard.press("Enter")
    expect(other.locator(".toast")).to_be_visible()
    expect(other.get_by_role("textbox", name="Edit question")).to_have_value("Plan an evening")
    page.get_by_role("button", name="Stop").click()
    [id] = desk.world.chats.all
    desk.world.chats.call("DELETE", [id], None, {})
    expect(page.get_by_text("This conversation was deleted elsewhere.")).to_be_visible()
    expect(page.locator(".prose").first).to_contain_text("Two calm days")
