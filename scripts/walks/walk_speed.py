"""Times: first paint, JavaScript before the first answer, ten thousand conversations, a long thread."""
import os
import statistics

from playwright.sync_api import expect

from steps import answered, ask, question
from walk_threads import bring_in, made

PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def paint(w, home):
    context = w.browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    page = context.new_page()
    page.goto(home.address())
    page.locator("#rail a.tab").first.wait_for()
    # The second opening has no redirect in it.
    page.goto("about:blank")
    page.goto(f"{home.base}/")
    page.wait_for_function(PAINT)
    time = page.evaluate(PAINT)
    context.close()
    return time


def walk_first_paint(w):
    """First paint against an earlier page
    nine pairs of fresh browsers, in turn; PAGE_BASE is the folder of the earlier page
    184 ms by an older record"""
    here = w.home(1)
    here.start()
    base = os.environ.get("PAGE_BASE")
    if not base:
        times = [paint(w, here) for _ in range(9)]
        return f"median {statistics.median(times):.0f} ms; no PAGE_BASE to compare with"
    before = w.home(1, more={"HEARTH_PAGE": os.path.abspath(base)})
    now = w.home(1, more={"HEARTH_PAGE": os.path.abspath("Sources/CPage/page")})
    before.start()
    now.start()
    pairs = [(paint(w, before), paint(w, now)) for _ in range(9)]
    ratio = statistics.median(second / first for first, second in pairs)
    text = f"median {statistics.median(first for first, _ in pairs):.0f} -> {statistics.median(second for _, second in pairs):.0f} ms, ratio {ratio:.2f}"
    assert ratio <= 1.1, f"{text} {pairs}"
    return text


def walk_javascript_before_the_first_answer(w):
    """JavaScript before the first answer
    open, ask, count the bytes of scripts on the wire
    26 to 32 kB"""
    home = w.home(1)
    page = w.open(home)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    kinds, sizes = {}, {}
    session.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: (event["response"]["mimeType"], event["response"]["url"])}))
    # The bodies as they come, compressed.
    session.on("Network.dataReceived", lambda event: sizes.update({event["requestId"]: sizes.get(event["requestId"], 0) + event["encodedDataLength"]}))
    page.goto("about:blank")
    page.goto(f"{home.base}/")
    expect(question(page, w)).to_be_focused()

    def loaded():
        scripts = {kinds[id][1].split("/page/")[-1]: size for id, size in sizes.items() if id in kinds and "javascript" in kinds[id][0]}
        return scripts, sum(size for name, size in scripts.items() if not name.startswith("lib/"))

    _, start = loaded()
    ask(page, w, "Say hello in one short sentence.")
    expect(page.locator(".message.assistant")).to_be_visible(timeout=60000)
    scripts, ours = loaded()
    total = sum(scripts.values())
    answered(page, w)
    # What turns Markdown into elements comes with the first answer.
    assert ours <= 60_000, sorted(scripts.items(), key=lambda one: -one[1])
    return f"{total / 1000:.1f} kB in {len(scripts)} files, {ours / 1000:.1f} kB of it the page's own, {start / 1000:.1f} kB at the start"


def walk_ten_thousand_chats(w):
    """Ten thousand conversations
    import them, open the list, search, warm: at most 100 ms to the first rows
    search 347 ms the first time"""
    home = w.home(0)
    page = w.open(home)
    bring_in(page, home, "chats.json", made(page, 10_000, lambda index: f"Question number {index} about lighthouses and word{index % 977}"))
    expect(page.get_by_text("10000").or_(page.get_by_text("10,000")).first).to_be_visible(timeout=180000)
    rows, searches = [], []
    for index in range(6):
        page.goto(f"{home.base}/#/settings/data")
        page.wait_for_timeout(300)
        rows.append(page.evaluate("""async () => {
            const begin = performance.now();
            location.hash = "#/chats";
            while (!document.querySelector("main .chat-list a")) await new Promise((resolve) => requestAnimationFrame(resolve));
            return performance.now() - begin;
        }"""))
        searches.append(page.evaluate("""async (word) => {
            const begin = performance.now();
            const reply = await fetch(`/hearth/v1/chats/search?q=${word}`, { headers: { "X-Hearth-Page": localStorage.getItem("hearth-page") } });
            await reply.json();
            return performance.now() - begin;
        }""", f"word{index * 100}"))
    rows, searches = sorted(rows[1:]), sorted(searches[1:])
    gap = page.evaluate("""async () => {
        const all = [...document.querySelectorAll("main, main *")].filter((node) => node.scrollHeight > node.clientHeight + 200);
        const gaps = []; let last = performance.now(); const end = last + 4000;
        await new Promise((resolve) => { const step = (now) => { gaps.push(now - last); last = now; for (const node of all) node.scrollTop += 40;
            if (now < end) requestAnimationFrame(step); else resolve(); }; requestAnimationFrame(step); });
        gaps.sort((a, b) => a - b);
        return gaps[Math.floor(gaps.length * 0.95)];
    }""")
    text = f"rows median {rows[2]:.0f} ms, search median {searches[2]:.0f} ms, scroll p95 {gap:.0f} ms"
    assert rows[2] <= 100 and searches[2] <= 100 and gap <= 34, text
    return text
