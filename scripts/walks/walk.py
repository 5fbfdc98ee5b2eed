"""Walks of a person through the page of the built program: one for each finding that once stopped people.

    scripts/walks/run.sh                     all walks in Chromium, and the main walk in Firefox, in German and at 360 px
    scripts/walks/run.sh quick               the fastest, as `make test` runs them
    scripts/walks/run.sh records chat:resume the walks of these files, or these alone
    scripts/walks/run.sh --list              their table

A walk is a function `walk_…` whose docstring has three lines: the finding, the steps, what happened before.
"""
import importlib
import json
import os
import re
import sys
import time
import traceback

from playwright.sync_api import sync_playwright

import home as homes

FILES = ["chat", "threads", "words", "files", "models", "phone", "records", "settings", "day", "speed"]
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.test 127.0.0.1"]
# Reported by a browser when a server refuses or is killed on purpose; everything else fails a walk.
EXPECTED = ("Failed to load resource", "net::ERR_", "NetworkError", "NS_ERROR")
LOCALE = {"en": "en-US", "de": "de-DE"}


PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/CPage/page/texts")


def texts(language):
    """The words of the page by key, of all its parts."""
    words = {}
    for name in sorted(os.listdir(PAGE)):
        if re.fullmatch(rf"(?:(?!catalog|refusals)\w+-)?{language}\.js", name):
            with open(os.path.join(PAGE, name), encoding="utf-8") as file:
                words.update((key, json.loads(f'"{value}"')) for key, value in re.findall(r'"([\w.-]+)": "((?:[^"\\\\]|\\\\.)*)"', file.read()))
    return words


TEXTS = {language: texts(language) for language in ("en", "de")}


def quick(walk):
    """Marks a walk that `make test` runs."""
    walk.is_quick = True
    return walk


def everywhere(walk):
    """Marks a walk that is made in both browsers, both languages, wide and narrow."""
    walk.is_everywhere = True
    return walk


class Walker:
    """A browser before servers of their own, with what went wrong in its pages."""

    def __init__(self, browser, kind="chromium", language="en", size=(1280, 800)):
        self.browser, self.kind, self.language, self.size = browser, kind, language, size
        self.homes, self.contexts, self.problems, self.outside = [], [], [], []
        self.ends = []

    def home(self, models=1, **options):
        home = homes.Home(models, **options)
        self.homes.append(home)
        return home

    def enter(self, thing):
        """Ends a thing with the walk."""
        self.ends.append(thing.end)
        return thing

    def open(self, home, path="", language=None, size=None, **options):
        """Starts the server unless it runs, signs a new browser in and goes to `path`, such as `#/models`."""
        width, height = size or self.size
        address = home.address() if home.process and home.process.poll() is None else home.start()
        media = dict(color_scheme="null", reduced_motion="null", forced_colors="null", contrast="null") if self.kind == "firefox" else {}
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, locale=LOCALE[language or self.language], timezone_id="Europe/Berlin", **{**media, **options})
        context.set_default_timeout(20000)
        self.contexts.append(context)
        page = context.new_page()
        self.watch(page, home)
        page.goto(address)
        page.wait_for_url(f"{home.base}/**")
        page.locator("#rail a.tab").first.wait_for()
        if path:
            page.goto(f"{home.base}/{path}")
        return page

    def t(self, key, **values):
        """The words of the page in the language of this walk."""
        return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), TEXTS[self.language][key])

    def watch(self, page, home):
        page.on("console", lambda message: message.type == "error" and self.problem(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.problem(f"error: {error}"))
        page.on("request", lambda request: request.url.startswith((home.base, "data:", "blob:", "about:")) or self.outside.append(request.url))

    def problem(self, text):
        if not any(words in text for words in EXPECTED):
            self.problems.append(text)

    def close(self):
        for context in self.contexts:
            context.close()
        for end in self.ends:
            end()
        for home in self.homes:
            home.end()

    def shoot(self, name):
        for number, context in enumerate(self.contexts):
            for page in context.pages:
                try:
                    page.screenshot(path=f"/tmp/walk-{name}-{number}.png", timeout=5000)
                except Exception:
                    pass


def launch(playwright, kind):
    if kind == "firefox":
        return playwright.firefox.launch(channel="moz-firefox", executable_path="/usr/bin/firefox-esr")
    return playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)


def walks(names):
    """The chosen walks as (file, name, function)."""
    chosen = [name for name in names if name != "quick"] or FILES
    for wanted in chosen:
        file, _, only = wanted.partition(":")
        for name, walk in list(vars(importlib.import_module(f"walk_{file}")).items()):
            if name.startswith("walk_") and (not only or only == name[5:]) and ("quick" not in names or getattr(walk, "is_quick", False)):
                yield file, name[5:], walk


def lines(walk):
    finding, step, before = [line.strip() for line in walk.__doc__.strip().splitlines()][:3]
    return finding, step, before


def places(walk, is_quick):
    if is_quick or not getattr(walk, "is_everywhere", False):
        return [("chromium", "en", (1280, 800))]
    return [("chromium", "en", (1280, 800)), ("chromium", "de", (360, 740)), ("firefox", "en", (1280, 800)), ("firefox", "de", (360, 740))]


def main(names):
    if "--list" in names:
        print("| finding | step | before |\n| --- | --- | --- |")
        for _, _, walk in walks([]):
            print("| " + " | ".join(lines(walk)) + " |")
        return 0
    failed, browsers, begun = 0, {}, time.monotonic()
    with sync_playwright() as playwright:
        for file, name, walk in walks(names):
            for kind, language, size in places(walk, "quick" in names):
                if kind not in browsers:
                    browsers[kind] = launch(playwright, kind)
                walker = Walker(browsers[kind], kind, language, size)
                label = f"{file}:{name}" + ("" if (kind, language) == ("chromium", "en") else f" {kind} {language} {size[0]}px")
                started = time.monotonic()
                try:
                    after = walk(walker)
                    assert not walker.problems, "\n".join(walker.problems)
                    assert not walker.outside, f"requests to other hosts: {walker.outside}"
                    print(f"ok   {label} ({time.monotonic() - started:.1f} s) {lines(walk)[0]}: {after or 'holds'}", flush=True)
                except Exception:
                    failed += 1
                    walker.shoot(f"{file}-{name}")
                    print(f"FAIL {label}\n{traceback.format_exc()[-2500:]}\n" + "\n".join(walker.problems[:5]), flush=True)
                finally:
                    try:
                        walker.close()
                    except Exception as error:
                        print(f"     closing: {error}", flush=True)
        for browser in browsers.values():
            browser.close()
    homes.forget_templates()
    print(f"{failed} failed, {time.monotonic() - begun:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
