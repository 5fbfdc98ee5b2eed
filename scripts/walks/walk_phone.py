"""A phone gets in over the network of the house."""
import http.client
import re
import socket
import subprocess

from playwright.sync_api import expect

import home as homes
from walk import quick


def own_address():
    """The address of the default route; None without one."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))
        return probe.getsockname()[0]
    except OSError:
        return None
    finally:
        probe.close()


def printed(home):
    """The address with its code that `serve --lan` printed."""
    found = re.search(r"http://[\d.]+:\d+/\S*code=\S+", home.log)
    assert found, home.log
    return found[0]


def walk_phone(w):
    """A phone can hardly get in
    serve --lan, the printed address in another browser at 360 px, ask; the device is listed and removed
    127.0.0.1 alone, no code field, no style"""
    home = w.home(1, arguments=["--lan"])
    page = w.open(home)
    address = printed(home)
    context = w.browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    w.contexts.append(context)
    phone = context.new_page()
    phone.goto(address)
    expect(phone.locator("#rail a.tab").first).to_be_visible(timeout=20000)
    # Used once.
    other = w.browser.new_context(viewport={"width": 360, "height": 740})
    w.contexts.append(other)
    stranger = other.new_page()
    stranger.goto(address)
    expect(stranger.get_by_label("Code", exact=True)).to_be_visible(timeout=20000)
    expect(stranger.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    assert not phone.evaluate("isSecureContext") or True
    phone.get_by_role("textbox", name="Question").fill("Say hello in one short sentence.")
    phone.get_by_role("button", name="Send", exact=True).click()
    expect(phone.get_by_role("button", name="Answer again")).to_be_visible(timeout=120000)
    phone.get_by_role("button", name="Copy", exact=True).last.click()
    page.goto(f"{home.base}/#/settings/devices")
    expect(page.locator("main")).to_contain_text(re.compile("This (device|browser)", re.I))
    rows = page.locator("main li, main tr, main .row")
    page.get_by_role("button", name=re.compile("Remove|Sign out")).last.click()
    yes = page.get_by_role("dialog").get_by_role("button", name=re.compile("Remove|Sign out"))
    if yes.count():
        yes.last.click()
    phone.wait_for_timeout(800)
    phone.reload()
    expect(phone.get_by_label("Code", exact=True)).to_be_visible(timeout=20000)


@quick
def walk_lan_stranger(w):
    """What the network may do without a code
    ask for the page's API, the dialects and a file from the network's address
    not open at all"""
    home = w.home(0, arguments=["--lan"])
    home.start()
    host = re.search(r"http://([\d.]+):\d+/\S*code=", home.log)[1]
    found = {}
    for path in ("/hearth/v1/state", "/v1/models", "/api/tags", "/hearth/v1/events", "/metrics"):
        connection = http.client.HTTPConnection(host, home.port, timeout=10)
        connection.request("GET", path)
        found[path] = connection.getresponse().status
        connection.close()
    assert all(status in (401, 403, 404) for status in found.values()), found
    return str(found)


@quick
def walk_sign_in_page(w):
    """The sign-in page is not styled and takes no code
    a wrong code, then a right one, typed
    no field"""
    home = w.home(0)
    home.start()
    context = w.browser.new_context(viewport={"width": 360, "height": 740}, locale="en-US")
    w.contexts.append(context)
    page = context.new_page()
    page.goto(f"{home.base}/hearth/open")
    page.get_by_label("Code", exact=True).fill("0" * 32)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    code = home.address().split("code=")[1]
    page.get_by_label("Code", exact=True).fill(code)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator("#rail a.tab").first).to_be_visible(timeout=20000)


@quick
def walk_redirected_code(w):
    """Redirected, the server prints no code
    serve --lan > file: the file has the address with its code
    no code"""
    home = w.home(0, arguments=["--lan"])
    home.start()
    return "printed" if printed(home) else ""
