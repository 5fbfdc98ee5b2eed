"""Runs the checks of the page: every function `check_…` of the named files gets a `Desk` of its own."""
import importlib
import os
import sys
import time
import traceback

from playwright.sync_api import sync_playwright

from backend import Backend

ARGUMENTS = ["--no-sandbox", "--disable-gpu"]
FILES = ["flows", "threads_flow", "library_flow", "records_flow", "words_flow", "rest_flow", "read_flow", "hostile", "formulas", "files_flow", "look", "speed"]
# Reported by Chromium when the server is killed or refuses on purpose; everything else fails a check.
EXPECTED = ("Failed to load resource", "net::ERR_")


class Desk:
    """A browser page before a fresh server, with what went wrong on it."""

    def __init__(self, browser):
        self.browser = browser
        self.backend = Backend(os.environ["PAGE_LIBRARIES"]).start()
        self.world = self.backend.world
        self.problems, self.outside, self.contexts = [], [], []

    def open(self, path="/", width=1280, height=800, scheme="light", **options):
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, locale=options.pop("locale", "en-US"), **options)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.set_default_timeout(8000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: message.type == "error" and self.problem(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.problem(f"error: {error}\n{getattr(error, 'stack', '')}"))
        page.on("request", self.requested)
        page.goto(self.backend.address + path)
        return page

    def problem(self, text):
        if not any(words in text for words in EXPECTED):
            self.problems.append(text)

    def requested(self, request):
        if not request.url.startswith((self.backend.address, "data:", "blob:")):
            self.outside.append(request.url)

    def close(self):
        for context in self.contexts:
            context.close()
        self.backend.stop()
        assert not self.problems, "\n".join(self.problems)
        assert not self.outside, f"requests to other hosts: {self.outside}"


def main(names):
    names = names or FILES
    failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for wanted in names:
            file, _, only = wanted.partition(":")
            module = importlib.import_module(file)
            for name, check in list(vars(module).items()):
                if not name.startswith("check_") or (only and only != name):
                    continue
                started = time.monotonic()
                desk = Desk(browser)
                try:
                    result = check(desk)
                    desk.close()
                    print(f"ok    {file}:{name} {time.monotonic() - started:.1f} s {result or ''}", flush=True)
                except Exception:
                    failed += 1
                    print(f"FAIL  {file}:{name}\n{traceback.format_exc()}", flush=True)
                    for problem in desk.problems:
                        print(f"      {problem}", flush=True)
                    for index, context in enumerate(desk.contexts):
                        for page in context.pages:
                            page.screenshot(path=f"/tmp/page-fail-{name}-{index}.png")
                        context.close()
                    desk.contexts = []
                    try:
                        desk.backend.stop()
                    except Exception:
                        pass
        browser.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["live"]:
        import live
        sys.exit(live.main(sys.argv[2:]))
    main(sys.argv[1:])
