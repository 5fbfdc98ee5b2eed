"""Attachments and mathematics."""
import os
import re

from playwright.sync_api import expect

from steps import answered, api, ask, chat_id, question
from cloud import Cloud
from walk import quick


def pdf(*pages):
    """A PDF with one line of text on each page."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{' '.join(f'{4 + 2 * index} 0 R' for index in range(len(pages)))}] /Count {len(pages)} >>",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for index, text in enumerate(pages):
        stream = f"BT /F1 18 Tf 40 740 Td ({text}) Tj ET"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * index} 0 R >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode() + b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()


def attach(page, name, data, kind="application/octet-stream"):
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach a file", exact=True).click()
    chooser.value.set_files({"name": name, "mimeType": kind, "buffer": data})


def chips(page):
    return page.locator(".composer").get_by_role("list", name="Files", exact=True)


def walk_pdf_question(w):
    """No documents
    attach a PDF, ask: its text is in the prompt
    pictures alone"""
    cloud = w.enter(Cloud())
    home = w.home(0, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    attach(page, "lighthouse.pdf", pdf("The lighthouse is forty one metres high.", "It was built in 1907."), "application/pdf")
    chip = chips(page)
    expect(chip).to_contain_text("lighthouse.pdf")
    expect(chip).to_contain_text(re.compile(r"2 pages"))
    ask(page, w, "How high is it?")
    expect(page.locator(".prose").first).to_contain_text("cloud speaking", timeout=60000)
    sent = str(cloud.bodies)
    assert "forty one metres" in sent and "built in 1907" in sent, sent[:1500]


def walk_text_files(w):
    """Text, Markdown, code and CSV cannot be attached
    attach four files: name, size and tokens stand below; remove one
    pictures alone"""
    home = w.home(1)
    page = w.open(home)
    for name, text in (("a.txt", "plain words"), ("b.md", "# Title\n\nwords"), ("c.py", "print('hi')\n"), ("d.csv", "a,b\n1,2\n")):
        attach(page, name, text.encode(), "text/plain")
        expect(chips(page)).to_contain_text(name)
    page.get_by_role("button", name=re.compile("Remove a.txt")).click()
    expect(chips(page)).not_to_contain_text("a.txt")
    ask(page, w, "What is in the files?")
    answered(page, w)
    expect(page.locator(".message.user")).to_contain_text("b.md")


def walk_bad_documents(w):
    """Broken and encrypted PDFs, a zip bomb, 200 MB
    attach each: one sentence says why, nothing else is lost
    not tried"""
    import io, zipfile
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<w>" + b"a" * 300_000_000)
    home = w.home(1)
    page = w.open(home)
    question(page, w).fill("my words")
    said = []
    big = os.path.join(home.folder, "big.txt")
    with open(big, "wb") as file:
        file.truncate(200_000_000)
    for name, data in (("cut.pdf", pdf("a")[:120]), ("bomb.docx", bomb.getvalue()), ("broken.docx", b"PK\x03\x04" + b"\0" * 99)):
        attach(page, name, data)
        wrong = page.locator("#news, .composer").filter(has_text=re.compile("cannot|not a|damaged|large|broken|too|unreadable", re.I)).first
        expect(wrong).to_be_visible(timeout=20000)
        said.append(name)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach a file", exact=True).click()
    chooser.value.set_files(big)
    page.wait_for_timeout(1500)
    expect(question(page, w)).to_have_value("my words")
    return "; ".join(said)


@quick
def walk_formulas(w):
    """LaTeX is not rendered, and damaged
    an answer with formulas, prices, code and a definition
    raw, without its underscores"""
    text = ("The root is $x_1 = \\frac{-b + \\sqrt{b^2 - 4ac}}{2a}$ and\n\n$$\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}$$\n\n"
            "It costs $5 and $10, see `$a_b$`. \\(a_1 * b_1 * c\\)\n\n$\\def\\a{x}\\a$")
    cloud = w.enter(Cloud(text))
    home = w.home(0, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    ask(page, w, "Formula, please")
    expect(page.locator(".prose math")).to_have_count(3, timeout=60000)
    prose = page.locator(".prose").first
    expect(prose).to_contain_text("It costs $5 and $10")
    expect(prose.locator("code")).to_have_text("$a_b$")
    expect(prose).to_contain_text("\\def\\a{x}\\a")


@quick
def walk_tables(w):
    """Tables do not align; Mermaid
    a table with right and centre; a Mermaid block stays code with copy
    all columns left"""
    text = "| a | b | c |\n| :-- | :-: | --: |\n| 1 | 2 | 3 |\n\n```mermaid\ngraph TD; A-->B;\n```\n"
    cloud = w.enter(Cloud(text))
    home = w.home(0, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    ask(page, w, "Table, please")
    cells = page.locator(".prose td")
    expect(cells).to_have_count(3, timeout=60000)
    answered(page, w)
    sides = [cell.evaluate("node => getComputedStyle(node).textAlign") for cell in cells.all()]
    assert sides[1:] in (["center", "right"], ["center", "end"]), sides
    expect(page.locator(".prose pre")).to_contain_text("graph TD")


def walk_private_file(w):
    """A private or local chat could send a file out
    Settings of this conversation: local; attach, ask: nothing reaches the cloud
    not tried"""
    cloud = w.enter(Cloud())
    home = w.home(1, settings=cloud.settings(), more=cloud.variables)
    page = w.open(home)
    question(page, w).fill("/private")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("#/chat/."))
    attach(page, "secret.txt", b"the secret word is Zanzibar", "text/plain")
    ask(page, w, "What is the secret word?")
    answered(page, w)
    assert "Zanzibar" not in str(cloud.bodies)
