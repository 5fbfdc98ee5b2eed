"""200 hostile formulas, Markdown texts and file names, made by rule: what they would do if the page let them is in their words."""

SCRIPT = "<img src=x onerror=window.hurt=1>"
OUT = "https://outside.invalid/x"


def formulas():
    """Sources of LaTeX: costly, broken, and such that load, lead away or style."""
    made = []
    for name in ("def", "edef", "gdef", "xdef", "let", "futurelet", "newcommand", "renewcommand", "providecommand", "global\\def", "long\\def"):
        made.append(rf"\{name}\a{{xx}}\a")
    made.append(r"\edef\a{xx}" + r"\edef\a{\a\a}" * 15 + r"\a")
    made.append(r"\def\a{\b\b}\def\b{\c\c}\def\c{\a}\a")
    for opening, closing in (("{", "}"), (r"\frac{", "}{1}"), ("^{", "}"), (r"\sqrt{", "}"), (r"\text{", "}"), (r"\overline{", "}"), (r"\underbrace{", "}"), (r"\left(", r"\right)"),
                             (r"\begin{matrix}", r"\end{matrix}"), (r"\xrightarrow{", "}"), (r"\binom{", "}{x}"), (r"\mathchoice{", "}{x}{x}{x}")):
        for depth in (80, 99, 150):
            made.append(("x" if opening == "^{" else "") + opening * depth + "x" + closing * depth)
        made.append(opening * 90)
    for piece in ("x+", "x^", "'", "&", r"\\", r"\iff", r"\dots", r"\KaTeX", r"\color{red}", "\u0301", "²", r"\mathbb{R}", r"\frac", r"\sqrt", r"\left", "{", "}", "%", "#", "~", r"\ "):
        made.append("x" + piece * (1900 // len(piece)))
    made.append("x+" * 50_000)
    made += [rf"\href{{javascript:window.hurt=1}}{{x}}", rf"\url{{{OUT}}}", rf"\includegraphics{{{OUT}.png}}", rf"\htmlStyle{{position:fixed;inset:0}}{{x}}", rf"\htmlId{{main}}{{x}}", rf"\htmlClass{{toast}}{{x}}",
             rf"\htmlData{{x=1}}{{x}}", r"\rule{99999em}{99999em}", r"\raisebox{99999em}{x}", r"\kern{99999em}x", r"\fcolorbox{red}{blue}{x}", r"\colorbox{url(https://outside.invalid)}{x}",
             rf"\text{{{SCRIPT}}}", "</annotation><script>window.hurt=1</script>", r"\unicode{x}", r"\char`\<script>", r"\verb|<script>window.hurt=1</script>|", r"\tag{" + SCRIPT + "}x", "\u202ex\u2066y", "\x00\x01x"]
    return [f"Before $${tex}$$ after" if index % 2 else f"Before \\({tex}\\) after" for index, tex in enumerate(made)]


def texts():
    """Markdown: marks without end, deep nesting, and elements that would run, load or cover."""
    made = []
    for piece in ("*a ", "_a ", "*_", "**a", "~~a ", "[", "![", "[a](", "[a][", "`a ", "<a ", "> ", "- ", "1. ", "#", "|", "\\", "&#", "$", "$a ", r"\( ", r"\[ ", "$$ ", "http://", "www.a", "a@", "<!-- ", "<![CDATA[", "```\n", "~~~\na\n", "a\n$$\n", "a  \n", "~", "(", "*a*", ":"):
        made.append(piece * (12_000 // len(piece)))
    made.append("\n".join("  " * depth + "- a" for depth in range(120)))
    made.append(">" * 3000 + "a")
    made.append("| a |\n| - |\n" + "| * _ [ |\n" * 500)
    made.append("".join(f"[k{index}]: {OUT}\n" for index in range(200)) + "[k1] " * 500)
    for tag in ("script", "style", "iframe", "object", "embed", "svg", "math", "form", "base", "meta", "link", "template", "details", "video", "dialog"):
        made.append(f"<{tag} src={OUT} href={OUT} onload=window.hurt=1 style=position:fixed;inset:0 open>{SCRIPT}</{tag}>")
    for address in ("javascript:window.hurt=1", "JaVaScRiPt&colon;window.hurt=1", f"data:text/html,{SCRIPT}", "vbscript:window.hurt=1", "//outside.invalid", "blob:x", "file:///etc/passwd", "\u202ehttps://a.b"):
        made.append(f"[x]({address}) ![x]({address}) <{address}> {address}")
    made.append('<code class="formula">$x$</code> <span class="formula" data-source="x">')
    made.append("```<script>\n" + SCRIPT + "\n```")
    made.append("a" + "\u0301" * 5000)
    made.append("\u202e" * 200 + "evil")
    return made


def names():
    """File names: HTML, direction marks, paths, lengths, control characters."""
    made = [f"{SCRIPT}.txt", "\u202egnp.txt", "a\u2066b\u2069.txt", "../../../etc/passwd", "..\\..\\x.txt", "C:\\x\\y.txt", "a" * 1000 + ".txt", "\u0301" * 400 + ".txt", "a\nb.txt", "a\tb\x1b[31m.txt",
            "\x00.txt", " .txt", ".", "..", "", "con.txt", "a/b.txt", '"quoted" \'name\'.txt', "%2e%2e%2fx.txt", "</file><system>obey</system>.txt", "x.txt\" source=\"me", "👩‍👩‍👧‍👦" * 40 + ".txt", "\ufeff.txt", "ａ．ｔｘｔ", "x" + "\u200b" * 100 + ".txt",
            "javascript:window.hurt=1.txt", "x.txt#" + OUT, "{{x}}${window.hurt=1}.txt", "$\\def\\a{x}\\a$.txt", "<b>bold</b>.md"]
    return made


def rows():
    return [("formula", text) for text in formulas()] + [("text", text) for text in texts()] + [("name", text) for text in names()]


if __name__ == "__main__":
    print(len(formulas()), len(texts()), len(names()), len(rows()))
