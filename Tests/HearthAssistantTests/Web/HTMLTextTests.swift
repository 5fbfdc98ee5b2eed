import Foundation
import Testing

@testable import HearthAssistant

@Suite struct HTMLTextTests {
    @Test(arguments: [
        ("<title> A  b </title><p>One<p>Two", "A b", "One\n\nTwo"),
        ("<h1>Head</h1>text <b>bold</b>er<br>next", "", "Head\n\ntext bolder\nnext"),
        ("<script>alert('x')</script><style>p{}</style><noscript>n</noscript>seen", "", "seen"),
        ("<p hidden>secret</p><div style='DISPLAY: none'>secret</div><p>seen", "", "seen"),
        ("<p aria-hidden=true>secret</p><p aria-hidden=false>seen", "", "seen"),
        ("a &amp; b &lt;c&gt; &copy; &#x1F600; &nosuch;", "", "a & b <c> © 😀 &nosuch;"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "", "1 2\n3"),
        ("<ul><li>one<li>two</ul>", "", "one\ntwo"),
        ("<!-- hidden --><p>a<!-- b -->c", "", "ac"),
        ("<p>not closed <b>at <i>all", "", "not closed at all"),
        ("<svg><text>no</text></svg><iframe>no</iframe>yes", "", "yes"),
        ("plain", "", "plain"), ("", "", ""), ("<html></html>", "", ""), ("\u{0}<p>\u{0}", "", ""),
    ])
    func visibleTextIsRead(_ page: String, _ title: String, _ text: String) {
        let read = HTMLText(Data(page.utf8))
        #expect(read.title == title)
        #expect(read.text == text)
    }

    @Test func pagesAreReadInTheirEncoding() throws {
        let latin = Data([0x67, 0x72, 0xFC, 0x6E])
        #expect(HTMLText(latin, charset: "iso-8859-1").text == "grün")
        #expect(HTMLText(Data("grün 東京".utf8)).text == "grün 東京")
        #expect(HTMLText(Data("grün".utf8), charset: "utf-8").text == "grün")
        let meta = Data("<meta charset=iso-8859-1><p>".utf8) + latin
        #expect(HTMLText(meta).text == "grün")
        // A wrong name costs characters, not the page.
        #expect(HTMLText(latin + Data(" tail".utf8), charset: "utf-8").text.hasSuffix("tail"))
        #expect(HTMLText(Data("grün".utf8), charset: "no-such-code").text == "grün")
    }

    /// Pages made to cost memory, time or the stack: a text, how often it repeats, and an end.
    @Test(arguments: [
        ("<div>", 200_000, "deep"), ("<b><p>", 100_000, "deep"), ("<a href=x b=c d=e f=g>", 60_000, ""),
        ("&amp;", 300_000, ""), ("<table><tr><td>", 40_000, ""), ("<", 500_000, ""), ("<!--", 300_000, ""),
        ("<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><p>&b;</p>", 1, ""),
        ("<p title='aaaaaaaaaaaaaaa", 100_000, "'>seen"),
    ])
    func hostilePagesEnd(_ text: String, _ count: Int, _ end: String) {
        let page = String(repeating: text, count: count) + end
        let watch = ContinuousClock.now
        let read = HTMLText(Data(page.utf8))
        #expect(read.text.utf8.count <= HTMLText.maximumText + 8)
        #expect(watch.duration(to: .now) < .seconds(20))
    }

    @Test func pagesPastTheLimitHaveNoText() {
        #expect(HTMLText(Data(repeating: 0x61, count: HTMLText.maximumSize + 1)).text.isEmpty)
        #expect(HTMLText(Data(repeating: 0x61, count: HTMLText.maximumSize)).text.utf8.count == HTMLText.maximumText)
    }
}
