import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct RelativePathTests {
    @Test(arguments: [
        "", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/../b", "./a", "a/.", "a\\b", "a/b\0", "a\n/b",
        "a/\u{202E}b", "~/\0", String(repeating: "a/", count: 16) + "a", String(repeating: "a", count: 256),
        String(repeating: "aaaaaaa/", count: 15) + String(repeating: "a", count: 256),
        Array(repeating: String(repeating: "a", count: 250), count: 5).joined(separator: "/"),
    ])
    func refusesPathsThatAreNotSafe(text: String) throws {
        #expect(RelativePath(text) == nil)
        let json = try JSONEncoder().encode([text])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([RelativePath].self, from: json) }
    }

    @Test(arguments: [
        "a", "a/b.gguf", "tokenizer/merges.txt", ".hidden/x", "a/\u{301}x", "~/x", "é/e\u{301}",
        String(repeating: "a/", count: 15) + "a",
        Array(repeating: String(repeating: "a", count: 255), count: 4).joined(separator: "/"),
    ])
    func takesOrdinaryPaths(text: String) throws {
        let path = try #require(RelativePath(text))
        #expect("\(path)" == text && path.components.map(\.name).joined(separator: "/") == text)
        #expect(Path("/home").appending(path).string == "/home/" + text)
        let read = try JSONDecoder().decode([RelativePath].self, from: try JSONEncoder().encode([path]))
        #expect(read == [path])
    }

    @Test func tellsItsFolders() throws {
        let path = try #require(RelativePath("a/b/c.txt"))
        #expect(path.last.name == "c.txt")
        #expect(path.parent?.string == "a/b")
        #expect(path.folders.map(\.string) == ["a", "a/b"])
        #expect(path.withSuffix(".index")?.string == "a/b/c.txt.index")
        #expect(path.withSuffix("/..") == nil)
        #expect(try #require(RelativePath("a")).folders.isEmpty)
    }

    @Test(arguments: [
        // one, another, whether both can lie in one folder on any file system
        ("a", "b", true), ("a", "a", false), ("a", "A", false), ("é", "e\u{301}", false), ("É", "e\u{301}", false),
        ("ß", "SS", false), ("\u{17F}", "s", false), ("a/x", "a/y", true), ("a/x", "A/y", false), ("a", "a/x", false),
        ("a/x", "a", false), ("A", "a/x", false), ("a/b/c", "a/b/d", true), ("a/b/c", "a/B", false),
        ("a/b/c", "a/B/d", false), ("ab/c", "a/bc", true),
    ])
    func tellsWhatCannotLieInOneFolder(first: String, second: String, isPossible: Bool) throws {
        var paths = DistinctPaths()
        #expect(paths.insert(try #require(RelativePath(first))) == nil)
        #expect((paths.insert(try #require(RelativePath(second))) == nil) == isPossible)
        // What was refused leaves nothing behind.
        #expect(paths.insert(try #require(RelativePath("other"))) == nil)
    }

    @Test func listsFilesBelowAFolderAndFollowsNoLink() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("top/a/b", Data())
        _ = try folder.write("top/c", Data())
        _ = try folder.write("elsewhere/secret", Data())
        let disk = LocalFileSystem()
        try disk.makeLink(at: folder.path("top").appending("link"), to: "../elsewhere")
        #expect(try disk.files(below: folder.path("top")) == ["a/b", "c", "link"])
    }
}
