"""The session of the page before the built program: its cookie, which other ports of the host get, is worth nothing alone; a
browser without the page's own secret is asked for a code; a new key needs a code."""
import http.client
import http.server
import json
import threading

from playwright.sync_api import expect


class Listener(http.server.BaseHTTPRequestHandler):
    """A page on another port of the host, which keeps the cookies that it gets."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.cookies.append(self.headers.get("Cookie"))
        body = b"<!doctype html><title>Elsewhere</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def replay(program, cookie, method, path, body=None):
    """The status of a request that a program sends with the cookie, and with what a page would send."""
    connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
    connection.request(method, path, body and json.dumps(body), {
        "Cookie": cookie, "Origin": f"http://127.0.0.1:{program.port}", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    return status


def sign_in(page, program):
    """Types a fresh code into the page that asks for one."""
    page.get_by_label("Code").fill(program.address())
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Settings")).to_be_visible(timeout=20000)


def session_of_one_origin(page, program):
    base = f"http://127.0.0.1:{program.port}"
    page.goto(f"{base}/")
    expect(page.get_by_role("link", name="Settings")).to_be_visible(timeout=20000)
    thief = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    thief.daemon_threads, thief.cookies = True, []
    threading.Thread(target=thief.serve_forever, daemon=True).start()
    other = page.context.new_page()
    other.goto(f"http://127.0.0.1:{thief.server_address[1]}/")
    assert other.evaluate("localStorage.length") == 0
    other.close()
    thief.shutdown()
    cookie = next(one for one in thief.cookies if one and "hearth_session=" in one)
    order = {"name": "thief", "scopes": ["admin"]}
    for method, path, body in (("GET", "/hearth/v1/stores/notes", None), ("GET", "/hearth/v1/settings", None), ("GET", "/hearth/v1/events", None),
                               ("POST", "/hearth/v1/keys", order), ("POST", "/hearth/v1/open", {}), ("GET", "/metrics", None)):
        assert replay(program, cookie, method, path, body) == 403, path
    # A page without the secret, such as a tab of an earlier version, is asked for a code.
    page.evaluate("localStorage.removeItem('hearth-page')")
    page.goto(f"{base}/#/stores/notes")
    page.get_by_role("button", name="New note").click()
    page.get_by_role("dialog").get_by_label("Title").fill("Milk")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator("#banner").get_by_role("link", name="Sign in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Sign in to Hearth")).to_be_visible(timeout=20000)
    page.get_by_label("Code").fill("0" * 32)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("wrong")
    sign_in(page, program)
    # A key outlives the session: it needs another code, once.
    page.goto(f"{base}/#/settings/keys")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("laptop")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("code")
    dialog.get_by_label("Code").fill(program.address())
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_text("hearth-")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".rows").get_by_text("laptop", exact=True)).to_be_visible()
    return "a stolen cookie is refused 6 times"
