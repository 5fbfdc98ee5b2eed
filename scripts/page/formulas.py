"""Mathematics in answers: formulas become MathML, everything that only looks like one stays text."""
from playwright.sync_api import expect

from flows import ask, done, ready

ANSWER = r"""The roots of $ax^2 + bx + c$ are \(x_{1,2}\), with

$$
x_{1,2}
= \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
$$

and \[ \begin{pmatrix} a & b \\ c & d \end{pmatrix} \] *stays* **bold $a*b$ too**.

It costs $5 and $10, or US$3-$4, `$x_1$` is code, \$9 too. $HOME and $PATH. Broken: $\frac{1}$ and $\unknowncommand$.

Defined: $\def\a{x}\a$ and $\newcommand{\b}{y}\b$ and $\href{https://outside.invalid}{x}$.

| left | middle | right |
| :--- | :----: | ----: |
| $a_1$ | $b_2$ | 1 |

```mermaid
graph TD; A-->B
```

$$""" + "+".join(f"x_{{{n}}}" for n in range(60)) + "$$\n"


def check_formulas(desk):
    ready(desk)
    desk.world.chats.rate = 2000
    desk.world.chats.script["the formula"] = ANSWER
    page = desk.open(width=360, height=740)
    assert not page.evaluate("Boolean(window.katex)")
    ask(page, "the formula")
    done(page)
    prose = page.locator(".prose").first
    expect(prose.locator("math")).to_have_count(8)
    expect(prose.locator("math").nth(0).locator("annotation")).to_have_text("ax^2 + bx + c")
    expect(prose.locator("math[display=block]")).to_have_count(3)
    expect(prose.locator("strong math annotation")).to_have_text("a*b")
    expect(prose.locator("em")).to_have_text("stays")
    for words in ("costs $5 and $10, or US$3-$4,", "$9 too. $HOME and $PATH.", r"$\frac{1}$", r"$\unknowncommand$", r"$\def\a{x}\a$", r"$\newcommand{\b}{y}\b$", r"$\href{https://outside.invalid}{x}$"):
        expect(prose).to_contain_text(words)
    expect(prose.locator("code").get_by_text("$x_1$", exact=True)).to_be_visible()
    assert page.locator(".katex-error, .prose [style], .prose math a, .prose math [href]").count() == 0
    aligned = page.eval_on_selector_all(".prose td", "all => all.map((cell) => getComputedStyle(cell).textAlign)")
    assert aligned == ["start", "center", "end"], aligned
    # Wide formulas and tables scroll in their boxes.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    wide = prose.get_by_role("group", name="Formula")
    assert wide.evaluate("(node) => node.scrollWidth > node.clientWidth && node.tabIndex === 0")
    block = prose.locator(".code-block", has_text="mermaid")
    block.get_by_role("button", name="Copy").click()
    assert page.evaluate("navigator.clipboard.readText()").strip() == "graph TD; A-->B"


def check_copy_of_a_formula(desk):
    ready(desk)
    desk.world.chats.script["copy"] = "One $x_1^2$ and\n\n$$\ny_2\n$$\n\nend."
    page = desk.open()
    ask(page, "copy")
    done(page)
    expect(page.locator(".prose math")).to_have_count(2)
    page.evaluate("""() => {
        const range = document.createRange();
        range.setStart(document.querySelector(".prose p").firstChild, 0);
        range.setEnd(document.querySelector(".prose > :last-child").firstChild, 4);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand("copy");
    }""")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "One $x_1^2$ and" in copied and "$$\ny_2\n$$" in copied and copied.endswith("end."), repr(copied)
    page.locator(".message.assistant").get_by_role("button", name="Copy").last.click()
    assert page.evaluate("navigator.clipboard.readText()") == "One $x_1^2$ and\n\n$$\ny_2\n$$\n\nend."


def check_open_formula(desk):
    """A formula stays its source, undamaged, until it closes."""
    ready(desk)
    page = desk.open()
    seen = page.evaluate(r"""async () => {
        const { answerView } = await import("/page/chat/answer.js");
        const view = answerView();
        document.querySelector("main").append(view.node);
        const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 30)));
        const texts = ["Now \\(a_1 * b_1", "Now \\(a_1 * b_1 *c*\\) done", "Next\n\n\\[\n- a_1\n", "Next\n\n\\[\n- a_1\n\\]\n\nend"];
        const seen = [];
        for (const text of texts) {
            view.show(text, false);
            for (let round = 0; round < 40 && view.node.querySelectorAll(".drawn").length < seen.length % 2; round += 1) await frame();
            await frame();
            seen.push([view.node.innerText.trim(), view.node.querySelectorAll(".drawn").length, view.node.querySelectorAll("em, ul").length]);
        }
        view.show("Never \\(closed *x*", true);
        await frame();
        seen.push([view.node.innerText.trim(), 0, view.node.querySelectorAll("em").length]);
        return seen;
    }""")
    assert seen[0] == ["Now \\(a_1 * b_1", 0, 0], seen
    assert seen[1][1:] == [1, 0], seen
    assert seen[2] == ["Next\n\n\\[\n- a_1", 0, 0], seen
    assert seen[3][1:] == [1, 0] and seen[3][0].endswith("end"), seen
    assert seen[4] == ["Never (closed x", 0, 1], seen
