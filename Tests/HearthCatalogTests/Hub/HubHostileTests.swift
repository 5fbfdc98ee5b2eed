import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog

private let blob = String(repeating: "a", count: 40)
private let digest = String(repeating: "b", count: 64)

/// What a hub must not get away with.
@Suite(.timeLimit(.minutes(10))) struct HubHostileTests {
    private let reference = HubReference(organization: "o", repository: "m")

    private func files(_ json: String) throws -> [HubFile] {
        try HubFile.page(Data(json.utf8), of: try #require(reference))
    }

    private func entry(
        path: String = "m.gguf", size: String = "5", oid: String = blob, lfs: String? = nil
    ) -> String {
        let pointer = lfs.map { #", "lfs": \#($0)"# } ?? ""
        return #"[{"type": "file", "path": "\#(path)", "size": \#(size), "oid": "\#(oid)"\#(pointer)}]"#
    }

    private func snapshot(_ files: [HubFile], file: String? = nil) throws -> HubSnapshot {
        let reference = try #require(HubReference(organization: "o", repository: "m", file: file))
        let facts = Data(#"{"id": "o/m", "sha": "\#(blob)"}"#.utf8)
        return HubSnapshot(
            reference: reference, repository: try HubRepository(answer: facts, of: reference), files: files)
    }

    @Test(arguments: [
        "", "null", "[", #""files""#, "{}", "[1]", "[[]]", #"[{"type": "file"}]"#, #"[{"path": "m", "type": 1}]"#,
        #"[{"type": "file", "path": "m"}]"#, "<!doctype html><p>Log in",
        #"[{"type": "file", "path": "m", "size": 1, "oid": "\#(blob)", "size": 2}]"#,
    ])
    func aTreeThatIsNoneIsRefused(_ json: String) {
        #expect(throws: CatalogError.self) { try files(json) }
    }

    @Test(arguments: ["-1", "1.5", "9007199254740993", "18446744073709551616", "1e400", "\"5\"", "null", "true"])
    func absurdSizesAreRefused(_ size: String) {
        #expect(throws: CatalogError.self) { try files(entry(size: size)) }
        #expect(throws: CatalogError.self) {
            try files(entry(lfs: #"{"oid": "\#(digest)", "size": \#(size), "pointerSize": 1}"#))
        }
    }

    @Test(arguments: [
        #"{"oid": "\#(blob)", "size": 5}"#, #"{"oid": "", "size": 5}"#, #"{"size": 5}"#, #"{"oid": "\#(digest)"}"#,
        #"{"oid": "\#(digest)", "size": 6}"#, "[]", "1", "\"x\"",
    ])
    func aPointerThatCannotBeReadDoesNotMakeAFileUnchecked(_ pointer: String) {
        #expect(throws: CatalogError.self) { try files(entry(lfs: pointer)) }
    }

    @Test(arguments: ["", "xyz", String(repeating: "g", count: 40), digest])
    func aGitNameHasFortyDigits(_ oid: String) {
        #expect(throws: CatalogError.self) { try files(entry(oid: oid)) }
    }

    @Test(arguments: [
        "../m.gguf", "/m.gguf", "a/../../m.gguf", "a//m.gguf", "./m.gguf", "a/./m.gguf", "", "a/", "..", "a\\\\m.gguf",
        "receipt.json", "a\\u0000.gguf", "\\u202Em.gguf", "Receipt.JSON/m.gguf",
        String(repeating: "a/", count: 20) + "m.gguf",
    ])
    func aPathThatLeadsOutIsNeverChosen(_ path: String) throws {
        let files = try files(entry(path: path))
        #expect(throws: CatalogError.self) { try snapshot(files).releases() }
    }

    @Test func namesThatDifferInCaseOnlyAreRefused() throws {
        let one = try files(entry(path: "config.json")) + files(entry(path: "a.safetensors"))
        #expect(try snapshot(one).releases().count == 1)
        #expect(throws: CatalogError.self) { try snapshot(one + files(entry(path: "A.safetensors"))).releases() }
        #expect(throws: CatalogError.self) { try snapshot(one + files(entry(path: "a.safetensors/b"))).releases() }
    }

    @Test func variantsThatLookAlikeAreToldApart() throws {
        let files = try files(entry(path: "a-b.gguf")) + files(entry(path: "a_b.gguf")) + files(entry(path: "A-B.gguf"))
        let variants = try snapshot(files).releases().map { $0.identity.variant?.name ?? "" }
        #expect(Set(variants).count == 3)
        #expect(variants[0] == "a_b")
    }

    /// As many models and projectors as a hub may list: each is looked at once, not each with each.
    @Test(.enabled(if: TestExtent.isFull), .timeLimit(.minutes(1))) func manyModelsAreReadSoon() throws {
        let one = try #require(try files(entry()).first)
        var all: [HubFile] = []
        for number in 0..<(HubClient.maximumFiles / 2) {
            for name in ["m\(number)-00001-of-00001.gguf", "mmproj-\(number).gguf"] {
                var file = one
                (file.name, file.path) = (name, RelativePath(name))
                all.append(file)
            }
        }
        let releases = try snapshot(all).releases()
        #expect(releases.count == HubClient.maximumFiles / 2)
        #expect(releases.allSatisfy { $0.companions.map(\.name.string) == ["mmproj-0.gguf"] })
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"sha": null}"#, #"{"sha": "main"}"#, #"{"sha": "\#(digest)"}"#,
        #"{"sha": "../../../../../../../../../../../../../"}"#, #"{"sha": "\#(blob.uppercased())"}"#,
    ])
    func factsWithoutACommitAreRefused(_ json: String) throws {
        let reference = try #require(reference)
        #expect(throws: CatalogError.self) { try HubRepository(answer: Data(json.utf8), of: reference) }
    }

    @Test func whatIsForPeopleCannotHarmThem() throws {
        let reference = try #require(reference)
        let json = #"{"sha": "\#(blob)", "id": "\u001b[31mo/m", "tags": ["license:\u0007"], "gated": "auto"}"#
        let facts = try HubRepository(answer: Data(json.utf8), of: reference)
        #expect(facts.path == "o/m")
        #expect(facts.license == nil)
        #expect(facts.isGated)
    }

    @Test(arguments: [
        "hf:a--b/c", "hf:a/b..c", "hf:../b", "hf:a/b@../c", "hf:a/b@", "hf:a/b@a\\b", "hf:a/b@a b", "hf:a/b@x%2Fy",
        "hf:a/b:../c", "hf:a/b:/c", "hf:a/b:", "hf:a/b:c//", "hf:a", "hf:a/b/c", "hf:a/b:\u{202E}x",
        "hf:a/b@" + String(repeating: "x", count: 256), "hf:a/b:" + String(repeating: "x", count: 1025),
    ])
    func aReferenceThatLeadsElsewhereIsRefused(_ text: String) {
        #expect(throws: CatalogError.self) { try ModelReference(parsing: text) }
    }

    @Test func namesFitOnTheDisk() throws {
        let long = String(repeating: "x", count: 96)
        for (organization, repository) in [("Org", "Repo.v1_2-x"), (long, long), (long, long.dropLast() + "y")] {
            let reference = try #require(HubReference(organization: organization, repository: String(repository)))
            #expect(reference.family != nil)
        }
        let families = ["x", "y"].compactMap {
            HubReference(organization: long, repository: long.dropLast() + $0)?.family
        }
        #expect(Set(families).count == 2, "names too long are told apart by a hash")
        for path in [String(repeating: "Ä", count: 100) + ".gguf", "a/b/c-Q4_K_M.GGUF", "..gguf"] {
            #expect(HubNames.variant(of: try #require(RelativePath(path))) != nil, "\(path)")
        }
        #expect(HubNames.variant(ofPattern: "*.json") != HubNames.variant(ofPattern: "?.json"))
    }

    @Test(arguments: [
        ("*.gguf", "a/b.gguf", true), ("*.gguf", "a.GGUF", false), ("data/*.json", "data/x/y.json", true),
        ("a?c", "abc", true), ("a?c", "ac", false), ("a?c", "a/c", true), ("[ab]c", "bc", true),
        ("[!ab]c", "bc", false),
        ("[!ab]c", "cc", true), ("[a-c]", "b", true), ("[c-a]", "b", false), ("[]]", "]", true), ("[]a]", "a", true),
        ("[", "[", true), ("[a", "[a", true), ("[!", "[!", true), ("a[-]b", "a-b", true), ("[a-]", "-", true),
        ("", "", true), ("", "a", false), ("*", "", true), ("**", "a/b", true), ("onnx/", "onnx/a/b", true),
        ("onnx/", "onnx", false), ("*Q4_K_M*", "m-Q4_K_M.gguf", true), ("ü?", "üx", true), ("[!]a]", "b", true),
    ])
    func patternsAreThoseOfFnmatch(_ pattern: String, _ path: String, _ fits: Bool) {
        #expect(FileGlob(pattern).matches(path) == fits)
    }

    @Test func noPatternTakesForEver() {
        let text = String(repeating: "a", count: 1000)
        let clock = ContinuousClock()
        let taken = clock.measure {
            #expect(!FileGlob(String(repeating: "*a", count: 500) + "b").matches(text))
        }
        #expect(taken < .seconds(5))
    }

    @Test(arguments: [
        ("<https://h/a>; rel=\"next\"", "https://h/a"), ("<a>; rel=prev, <b>; rel=next", "b"),
        ("<a>; title=\"x, <c>; rel=next\"; rel=\"prev\", <b>; rel=\"last next\"", "b"), ("<a>; rel=\"nextish\"", nil),
        ("", nil), ("<", nil), ("<a", nil), ("a; rel=next", nil), ("<a>;rel=NEXT", "a"),
    ])
    func linksAreRead(_ header: String, _ target: String?) {
        #expect(LinkHeader.target("next", in: header) == target)
    }

    @Test(arguments: ["a\nb", "", " ", "a b", "ü", String(repeating: "x", count: 5000)])
    func aTokenThatNoHeaderHoldsIsNone(_ text: String) {
        #expect(Secret(text) == nil)
        #expect(Secret("hf_x\n")?.value == "hf_x", "a line feed at the end comes from a file")
    }

    @Test func gitNamesThem() {
        // `git hash-object` of nothing and of "hello\n".
        #expect(GitBlobID(hashing: []).hex == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
        #expect(GitBlobID(hashing: Array("hello\n".utf8)).hex == "ce013625030ba8dba906f756967f9e9ca394464a")
    }
}
