import Foundation
import HearthBase
import HearthCatalog
import Testing

@Suite struct ModelReferenceTests {
    @Test(
        arguments: [
            ("lupus-diary", "lupus-diary", nil, nil),
            ("lupus-diary@1.1.0", "lupus-diary", "1.1.0", nil),
            ("lupus-diary:q4_k_m", "lupus-diary", nil, "q4_k_m"),
            ("lupus-diary@1.1.0:Q4_K_M", "lupus-diary", "1.1.0", "q4_k_m"),
            ("m@2.0.0-rc.1+7:f16", "m", "2.0.0-rc.1+7", "f16"),
            ("m@0a1b2c3", "m", "0a1b2c3", nil),
            ("m@1.0.0+1a2b3c4d", "m", "1.0.0+1a2b3c4d", nil),
            ("m@1.0.0:Q4+1a2b3c4d", "m", "1.0.0+1a2b3c4d", "q4"),
            ("smollm2.gguf2", "smollm2.gguf2", nil, nil),
        ] as [(String, String, String?, String?)])
    func readsAFamily(_ text: String, _ family: String, _ version: String?, _ variant: String?) throws {
        #expect(
            try ModelReference(parsing: text)
                == .family(
                    try #require(Family(family)), version: try version.map { try #require(ReleaseVersion($0)) },
                    variant: try variant.map { try #require(Variant($0)) }))
    }

    @Test(
        arguments: [
            ("https://h.example/models.json", "https://h.example/models.json", nil, nil, nil),
            ("https://h.example/models.json#m", "https://h.example/models.json", "m", nil, nil),
            ("https://h.example/a%2Fb c.json#m", "https://h.example/a%2Fb%20c.json", "m", nil, nil),
            ("https://h.example/%E9/models.json#m", "https://h.example/%E9/models.json", "m", nil, nil),
            ("https://h.example/m?x=1#m@1.0.0:q4", "https://h.example/m?x=1", "m", "1.0.0", "q4"),
            ("https://h.example/m#m%401.0.0", "https://h.example/m", "m", "1.0.0", nil),
            ("https://h.example/m#@1.0.0", "https://h.example/m", nil, "1.0.0", nil),
            ("https://h.example/m#:q4", "https://h.example/m", nil, nil, "q4"),
            ("http://127.0.0.1:8080/models.json#m", "http://127.0.0.1:8080/models.json", "m", nil, nil),
            ("http://[::1]:8080/models.json", "http://[::1]:8080/models.json", nil, nil, nil),
            ("http://localhost/models.json", "http://localhost/models.json", nil, nil, nil),
            ("file:///srv/a/models.json#m@1.0.0", "file:///srv/a/models.json", "m", "1.0.0", nil),
            ("/srv/models.json", "file:///srv/models.json", nil, nil, nil),
            ("/srv/a#b/models.json#m:q4", "file:///srv/a%23b/models.json", "m", nil, "q4"),
            ("/srv/a b/MODELS.JSON", "file:///srv/a%20b/MODELS.JSON", nil, nil, nil),
        ] as [(String, String, String?, String?, String?)])
    func readsAManifest(
        _ text: String, _ url: String, _ family: String?, _ version: String?, _ variant: String?
    ) throws {
        guard
            case .manifest(let found, let foundFamily, let foundVersion, let foundVariant) = try ModelReference(
                parsing: text)
        else {
            Issue.record("not read as a manifest")
            return
        }
        #expect(found.absoluteString == url)
        #expect(foundFamily?.name == family)
        #expect(foundVersion?.name == version)
        #expect(foundVariant?.name == variant)
    }

    @Test(arguments: [
        ("m.gguf", "m.gguf"), ("./a/b.gguf", "./a/b.gguf"), ("/a/B.GGUF", "/a/B.GGUF"), ("a:b@c.gguf", "a:b@c.gguf"),
        ("../m-v1.0.0-q4.gguf", "../m-v1.0.0-q4.gguf"), ("file:///a/b%20c.gguf", "/a/b c.gguf"),
    ])
    func readsAModelFile(_ text: String, _ path: String) throws {
        #expect(try ModelReference(parsing: text) == .file(Path(path)))
    }

    @Test(
        arguments: [
            ("hf:Qwen/Qwen2.5-0.5B", "Qwen", "Qwen2.5-0.5B", nil, nil),
            ("hf:a/b@main", "a", "b", "main", nil),
            ("hf:a/b@refs/pr/1:sub/*.gguf", "a", "b", "refs/pr/1", "sub/*.gguf"),
            ("hf:a/b:x@y.gguf", "a", "b", nil, "x@y.gguf"),
        ] as [(String, String, String, String?, String?)])
    func readsAHubRepository(
        _ text: String, _ organization: String, _ repository: String, _ revision: String?, _ file: String?
    ) throws {
        let hub = HubReference(organization: organization, repository: repository, revision: revision, file: file)
        #expect(try ModelReference(parsing: text) == .hub(try #require(hub)))
        #expect(hub?.description == text)
    }

    @Test(arguments: [
        ("", "it is empty"), (" ", "cannot be the name of a model"), (" m", "cannot be the name of a model"),
        ("m\n", "control character"), ("m\u{0}", "control character"), ("\u{1b}[31mred", "control character"),
        ("M", "Did you mean m?"), ("Lupus-Diary@1.0.0", "Did you mean lupus-diary?"), ("m m", "cannot be the name"),
        ("-m", "cannot be the name of a model"), (".m", "cannot be the name of a model"),
        ("модель", "cannot be the name of a model"), (String(repeating: "m", count: 65), "cannot be the name"),
        (String(repeating: "m", count: 5000), "longer than 4096 bytes"),
        ("@1.0.0", "the name before @"), (":q4", "the name before @"), ("@", "version after @ is missing"),
        ("m@", "version after @ is missing"), ("m:", "variant after : is missing"), ("m@:q4", "version after @"),
        ("m@..", "cannot be a version"), ("m@1~q4", "cannot be a version"), ("m@1@2", "cannot be a version"),
        ("m:a:b", "cannot be the name of a variant"), ("m:q4@1.0.0", "The version comes first"),
        ("m:q4-k", "cannot be the name of a variant"), ("m:..~", "cannot be the name of a variant"),
        ("a/b/c", "Write organization/name"),
        ("/", "a path must be a folder or end in"), ("models.json#", "the name of the model is missing"),
        ("models.json#M", "Did you mean m?"), ("/srv/models.json#../x", "cannot be the name of a model"),
        ("http://h.example/models.json", "over https only"),
        ("http://127.0.0.1.h.example/models.json", "over https only"),
        ("http://localhost.h.example/m", "over https only"), ("http://127.1/m", "over https only"),
        ("ftp://h.example/models.json", "are not supported"), ("javascript://x/%0aalert(1)", "are not supported"),
        ("https://", "names no host"), ("https:///models.json", "names no host"), ("://x", "no proper address"),
        ("https://h.example/m.gguf", "leads to a model file"), ("https://h.example/a\tb.json", "control character"),
        ("https://h.example/models.json#", "the name of the model is missing"),
        ("https://h.example/models.json#%ff", "malformed"), ("https://h.example/models.json#a/b", "cannot be the name"),
        ("file://host/a.gguf", "file:///path"), ("file:///a.gguf#m", "no versions"), ("file:///", "file:///path"),
        ("hf:", "does not name one repository"), ("hf:a", "does not name one repository"),
        ("hf:a/b/c", "does not name one repository"), ("hf:a/", "a part of it is not allowed"),
        ("hf:/b", "a part of it is not allowed"), ("hf:../b", "a part of it is not allowed"),
        ("hf:a/..", "a part of it is not allowed"), ("hf:a/b@", "a part of it is not allowed"),
        ("hf:a/b@../../x", "a part of it is not allowed"), ("hf:a/b@x y", "a part of it is not allowed"),
        ("hf:a/b:", "a part of it is not allowed"), ("hf:a/b:/etc/passwd", "a part of it is not allowed"),
        ("hf:a/b:x/../y", "a part of it is not allowed"), ("hf:a/b:x\\y", "a part of it is not allowed"),
    ])
    func saysWhatIsWrong(_ text: String, _ part: String) throws {
        let error = try #require(throws: CatalogError.self) { try ModelReference(parsing: text) }
        #expect(error.code == .badReference)
        let sentence = try #require(error.errorDescription)
        #expect(sentence.contains(part), "\(sentence)")
        #expect(!sentence.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(sentence.count < 400)
    }
}
