import Foundation
import HearthTestSupport
import Testing

@testable import HearthHTTP

struct AddressTests {
    @Test(arguments: [
        // Written, read. Triplets stay, forbidden bytes are encoded once.
        ("https://h.example/a%2Fb c.gguf", "https://h.example/a%2Fb%20c.gguf"),
        ("https://h.example/a%2fb.gguf", "https://h.example/a%2fb.gguf"),
        ("https://h.example/%E9/w.gguf", "https://h.example/%E9/w.gguf"),
        ("https://h.example/%E9/é.gguf", "https://h.example/%E9/%C3%A9.gguf"),
        ("https://h.example/100%.gguf", "https://h.example/100%25.gguf"),
        ("https://h.example/a%zz%4", "https://h.example/a%25zz%254"),
        ("https://h.example/a%2541b", "https://h.example/a%2541b"),
        ("https://h.example/a[1]{2}|^`\"<>", "https://h.example/a%5B1%5D%7B2%7D%7C%5E%60%22%3C%3E"),
        ("https://h.example/a:b@c!$&'()*+,;=~", "https://h.example/a:b@c!$&'()*+,;=~"),
        ("https://h.example/w?sig=a%2Fb+c==&n=a b", "https://h.example/w?sig=a%2Fb+c==&n=a%20b"),
        ("https://h.example/w?a[0]=/?:@", "https://h.example/w?a%5B0%5D=/?:@"),
        ("https://h.example/w#a%2Fb c#d", "https://h.example/w#a%2Fb%20c%23d"),
        ("HTTPS://H.example:8443", "HTTPS://H.example:8443"),
        ("https://u%2F:p@h.example/w", "https://u%2F:p@h.example/w"),
        ("https://[::1]:8080/a b", "https://[::1]:8080/a%20b"),
        ("https://h%2Eexample/w", "https://h.example/w"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("file:///home/a/my model.json", "file:///home/a/my%20model.json"),
    ])
    func bytesAreEncodedOnce(_ written: String, _ read: String) {
        #expect(URL(address: written)?.absoluteString == read)
        // Reading what was read changes nothing.
        #expect(URL(address: read)?.absoluteString == read)
    }

    @Test(arguments: [
        "", "https://h.example/a\tb", "https://h.example/a\nb", "https://h.example/\u{7F}", "https://h.example/\u{85}",
        "https://h.example\\w", "\\\\host\\share", "https://[::1/w", "https://[v1.x]/w", "https://[]/w",
        "https://h.example:80a/w", "https://h ost.example/w", "https://h%2Fost.example/w", "https://h%00.example/w",
        "https://h%E9.example/w", "https://<h>/w",
    ])
    func othersAreRefused(_ text: String) {
        #expect(URL(address: text) == nil)
    }

    /// RFC 3986, sections 5.4.1 and 5.4.2.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ("a%2F..%2Fb c", "http://a/b/c/a%2F..%2Fb%20c"), ("%E9", "http://a/b/c/%E9"),
    ])
    func relativeAddressesStartAtTheirDocument(_ reference: String, _ expected: String) throws {
        let base = try #require(URL(string: "http://a/b/c/d;p?q"))
        #expect(URL(address: reference, relativeTo: base)?.absoluteString == expected)
    }

    @Test(arguments: [
        ("https://h.example", "models.json", "https://h.example/models.json"),
        ("https://h.example/a%2Fb/%E9/", "x/y z", "https://h.example/a%2Fb/%E9/x/y%20z"),
        ("https://h.example/a?q=%2F", "b?c#d%2F", "https://h.example/a/b%3Fc%23d%2F?q=%2F"),
    ])
    func pathsBelowAnAddress(_ address: String, _ path: String, _ expected: String) throws {
        let url = try #require(URL(address: address))
        #expect(url.below(path).absoluteString == expected)
        #expect(url.asking("a=1").query(percentEncoded: true) == "a=1")
    }

    /// Every text is an address in one form, or none.
    @Test func whatIsReadIsReadAgain() throws {
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "https://", "h.example", "/", "//", "a", "..", ".", "%2F", "%", "%E9", "é", "日", " ", "?", "#", "[", "]",
            "::1",
            ":", "@", "\\", "\n", ";", "+", "\"", "&", "=", "file:", "\u{301}",
        ]
        let base = URL(string: "https://h.example/a/b?c#d")
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...9, using: &random)).compactMap { _ in
                pieces.randomElement(using: &random)
            }.joined()
            for document in [nil, base] {
                guard let url = URL(address: text, relativeTo: document) else { continue }
                let read = url.absoluteString
                let isPlain = read.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                let again = URL(address: read)?.absoluteString
                if !isPlain || again != read || url.fileName.contains("/") {
                    Issue.record("\(text): \(read), then \(again ?? "none")")
                }
            }
        }
    }

    @Test(arguments: [
        ("https://h.example/a/b.gguf?x=/y", "b.gguf"),
        ("https://h.example/o/models%2Fv1%2Fa%20b.gguf?alt=media", "a b.gguf"),
        ("https://h.example/a/", ""), ("https://h.example", ""), ("https://h.example/%E9/w.gguf", "w.gguf"),
        ("https://h.example/%E9.gguf", "%E9.gguf"), ("https://h.example/a%2F", ""),
    ])
    func fileNames(_ address: String, _ name: String) throws {
        #expect(try #require(URL(address: address)).fileName == name)
    }
}
