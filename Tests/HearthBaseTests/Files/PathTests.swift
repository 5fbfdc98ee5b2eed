import Foundation
import HearthBase
import Testing

struct PathComponentTests {
    @Test(arguments: [
        "", ".", "..", "/", "a/b", "/a", "a/", "../a", "..\\a", "a\\b", "\0", "a\0", "a\0.gguf", "a\nb", "a\rb", "a\tb",
        "\u{1B}[31m", "\u{7F}", "\u{80}", "\u{9B}", "a/\u{301}", "\\\u{301}", "invoice\u{202E}fgp.exe", "\u{2066}a",
        "a\u{200B}b", "a\u{200D}b", "\u{FEFF}a", "a\u{AD}b", "a\u{2028}b", "a\u{2029}b", "\u{E0041}",
        String(repeating: "a", count: 256), String(repeating: "é", count: 128), String(repeating: "😀", count: 64),
    ])
    func refusesNamesThatAreNotSafe(name: String) {
        #expect(PathComponent(name) == nil)
    }

    @Test(arguments: [
        "a", "...", "..a", ".hidden", "a.gguf", "model v1.0 (Q4_K_M).gguf", "-rf", "~", "%2e%2e", "a:b", "C:", "é",
        "日本語.gguf", "😀", "e\u{301}", "a\u{A0}b", String(repeating: "a", count: 255),
        String(repeating: "😀", count: 63), "\u{2215}",
    ])
    func takesOrdinaryNames(name: String) throws {
        let component = try #require(PathComponent(name))
        let path = Path("/home").appending(component)
        #expect(path.parent == Path("/home"))
        #expect(path.lastComponent == name)
    }
}

struct PathTests {
    @Test(arguments: [
        // text, kept as, parent, last, extension
        ("/", "/", "/", "/", ""), ("//", "/", "/", "/", ""), ("", "", ".", "", ""), ("a", "a", ".", "a", ""),
        ("/a", "/a", "/", "a", ""), ("/a/", "/a", "/", "a", ""), ("/a///", "/a", "/", "a", ""),
        ("a/b", "a/b", "a", "b", ""), ("/a/b.GGUF", "/a/b.GGUF", "/a", "b.GGUF", "gguf"),
        ("/a//b", "/a//b", "/a", "b", ""), ("/a.b/c", "/a.b/c", "/a.b", "c", ""), (".", ".", ".", ".", ""),
        ("..", "..", "../..", "..", ""), ("a/..", "a/..", "a/../..", "..", ""),
        (".profile", ".profile", ".", ".profile", ""),
        ("a.tar.gz", "a.tar.gz", ".", "a.tar.gz", "gz"), ("a.", "a.", ".", "a.", ""),
        ("/é/\u{301}x", "/é/\u{301}x", "/é", "\u{301}x", ""), ("/a b/c%20d", "/a b/c%20d", "/a b", "c%20d", ""),
    ])
    func takesPathsApart(text: String, kept: String, parent: String, last: String, fileExtension: String) {
        let path = Path(text)
        #expect(path.string == kept)
        #expect(path.parent.string == parent)
        #expect(path.lastComponent == last)
        #expect(path.fileExtension == fileExtension)
    }

    @Test func joins() throws {
        let component = try #require(PathComponent("x"))
        #expect(Path("/").appending(component).string == "/x")
        #expect(Path("/a/").appending("b").string == "/a/b")
        #expect(Path("a").appending(component).string == "a/x")
        #expect(Path("").appending("x").string == "x")
        #expect(Path("/a/b").withSuffix(".part").string == "/a/b.part")
    }

    @Test(arguments: [
        ("/a/./b//c/", "/a/b/c"), ("/", "/"), ("/./", "/"), ("/link/../b", "/link/../b"), ("/%41", "/%41"),
        ("/~", "/~"),
    ])
    func makesAbsolute(text: String, absolute: String) { #expect(Path(text).absolute.string == absolute) }

    @Test func makesRelativePathsAbsoluteAgainstTheWorkingFolder() {
        let here = FileManager.default.currentDirectoryPath
        #expect(Path("a/./b").absolute == Path(here + "/a/b"))
        #expect(Path(".").absolute == Path(here))
        #expect(Path("~").absolute == Path(here + "/~"))
    }

    @Test func codesAsText() throws {
        let data = try JSONEncoder().encode([Path("/a/b/")])
        #expect(try JSONDecoder().decode([Path].self, from: data) == [Path("/a/b")])
    }

    @Test(arguments: [
        "x", String(repeating: "a", count: 255), String(repeating: "語", count: 85), String(repeating: "😀", count: 63),
    ])
    func temporaryNamesAreRecognisableAndNeverTooLong(name: String) {
        let path = Path("/a").appendingTemporary(besides: name)
        #expect(path.lastComponent.utf8.count <= 255)
        #expect(path.lastComponent.contains(Path.temporaryMark) && path.lastComponent.hasPrefix("."))
        #expect(path != Path("/a").appendingTemporary(besides: name))
        #expect(PathComponent(path.lastComponent) != nil)
    }
}
