import Foundation
import HearthBase
import HearthCatalog
import Testing

private let digest = ManifestFixtures.digest

private func catalog(_ text: String) throws -> Catalog {
    try ManifestFixtures.catalog(text)
}

private func manifest(_ changes: [String: String?] = [:], top: String = "") -> String {
    ManifestFixtures.manifest(changes, top: top)
}

/// Every malformed field is an error that names the field and the entry.
@Suite struct ManifestFieldTests {
    @Test(
        arguments: [
            // field, value, the context's field, a part of the sentence
            ("id", nil, "models[0].id", "it is missing"),
            ("id", "7", "models[0].id", "found the number 7"),
            ("id", "\"\"", "models[0].id", "expected a line of text"),
            ("id", "\"a\\u001b[2J\"", "models[0].id", "\\u{1b}"),
            ("version", "1.0", "models[0].version", "found the number 1.0"),
            ("version", "\"../1\"", "models[0].version", "found \"../1\""),
            ("version", "\"\"", "models[0].version", "expected a version"),
            ("version", "\"1~q4\"", "models[0].version", "expected a version"),
            ("filename", nil, "models[0].filename", "it is missing"),
            ("filename", "\"../m.gguf\"", "models[0].filename", "expected a plain file name"),
            ("filename", "\"/etc/passwd\"", "models[0].filename", "expected a plain file name"),
            ("filename", "\"a\\\\b.gguf\"", "models[0].filename", "expected a plain file name"),
            ("filename", "\"..\"", "models[0].filename", "expected a plain file name"),
            ("filename", "\".hidden\"", "models[0].filename", "expected a plain file name"),
            ("filename", "\"Receipt.JSON\"", "models[0].filename", "expected a plain file name"),
            ("filename", "\"a\\u0000b\"", "models[0].filename", "expected a plain file name"),
            ("filename", "[]", "models[0].filename", "found a list"),
            ("filename", "\"plain.gguf\"", "models[0].family", "does not tell it"),
            ("filename", "\"Two Words-v1.0.0-q4.gguf\"", "models[0].family", "does not tell it"),
            ("sizeBytes", nil, "models[0].sizeBytes", "it is missing"),
            ("sizeBytes", "-1", "models[0].sizeBytes", "found the number -1"),
            ("sizeBytes", "10.5", "models[0].sizeBytes", "found the number 10.5"),
            ("sizeBytes", "9007199254740993", "models[0].sizeBytes", "9007199254740992"),
            ("sizeBytes", "99999999999999999999999", "models[0].sizeBytes", "a whole number"),
            ("sizeBytes", "1e400", "models[0].sizeBytes", "a whole number"),
            ("sizeBytes", "true", "models[0].sizeBytes", "found true"),
            ("sizeBytes", "\"10\"", "models[0].sizeBytes", "found \"10\""),
            ("sha256", "\"abc\"", "models[0].sha256", "expected 64 hexadecimal digits, found \"abc\""),
            ("sha256", "\"\"", "models[0].sha256", "64 hexadecimal digits"),
            ("sha256", "0", "models[0].sha256", "64 hexadecimal digits"),
            ("sizeBytes", "0", "models[0].sizeBytes", "the number of bytes"),
            ("downloadUrl", nil, "models[0].downloadUrl", "it is missing"),
            ("downloadUrl", "\"\"", "models[0].downloadUrl", "an address"),
            ("downloadUrl", "\"http://cdn.example/m.gguf\"", "models[0].downloadUrl", "https"),
            ("downloadUrl", "\"http://127.0.0.1/m.gguf\"", "models[0].downloadUrl", "https"),
            ("downloadUrl", "\"http://127.0.0.1.evil.example/m\"", "models[0].downloadUrl", "https"),
            ("downloadUrl", "\"file:///etc/passwd\"", "models[0].downloadUrl", "on the network"),
            ("downloadUrl", "\"ftp://cdn.example/m.gguf\"", "models[0].downloadUrl", "https"),
            ("downloadUrl", "\"javascript:alert(1)\"", "models[0].downloadUrl", "an"),
            ("downloadUrl", "\"https:///m.gguf\"", "models[0].downloadUrl", "https"),
            ("downloadUrl", "\"https://me:secret@cdn.example/m\"", "models[0].downloadUrl", "without user name"),
            ("downloadUrl", "\"https://cdn.example\"", "models[0].downloadUrl", "an address"),
            ("downloadUrl", "\"a\\nb\"", "models[0].downloadUrl", "an address"),
            ("downloadUrl", "{}", "models[0].downloadUrl", "found an object"),
            ("mirrors", "\"https://m.example/a\"", "models[0].mirrors", "expected a list"),
            ("mirrors", "[1]", "models[0].mirrors[0]", "the number 1"),
            ("mirrors", "[\"a\", \"http://m.example/a\"]", "models[0].mirrors[1]", "https"),
            ("minAppVersion", "\"1.0\"", "models[0].minAppVersion", "a version such as 1.0.0"),
            ("minAppVersion", "1", "models[0].minAppVersion", "a version such as 1.0.0"),
            ("family", "\"UPPER\"", "models[0].family", "lower-case"),
            ("family", "\"../x\"", "models[0].family", "lower-case"),
            ("family", "\"\"", "models[0].family", "lower-case"),
            ("variant", "\"q4-k\"", "models[0].variant", "lower-case"),
            ("variant", "[\"q4\"]", "models[0].variant", "found a list"),
            ("name", "5", "models[0].name", "a line of text"),
            ("name", "\"two\\nlines\"", "models[0].name", "a line of text"),
            ("summary", "\"\\u0007\"", "models[0].summary", "without control characters"),
            ("license", "{}", "models[0].license", "a line of text"),
            ("released", "20261120", "models[0].released", "a line of text"),
            ("notes", "[]", "models[0].notes", "found a list"),
            ("role", "\"audio\"", "models[0].role", "one of text, vision, classifier"),
            ("format", "\"pickle\"", "models[0].format", "one of gguf, mlx, safetensors, onnx"),
            ("contextLength", "0", "models[0].contextLength", "from 1 to"),
            ("contextLength", "1e10", "models[0].contextLength", "from 1 to"),
            ("requirements", "3", "models[0].requirements", "expected an object"),
            ("requirements", "{\"memoryBytes\": -1}", "models[0].requirements.memoryBytes", "a whole number"),
            ("requirements", "{\"storageBytes\": \"1\"}", "models[0].requirements.storageBytes", "a whole number"),
            ("archive", "\"zip\"", "models[0].archive", "expected an object"),
            ("archive", "{}", "models[0].archive.format", "it is missing"),
            ("archive", "{\"format\": \"rar\"}", "models[0].archive.format", "one of zip"),
            (
                "archive", "{\"format\": \"zip\", \"member\": \"../x\"}", "models[0].archive.member",
                "inside the archive"
            ),
            ("archive", "{\"format\": \"zip\", \"member\": \"/x\"}", "models[0].archive.member", "inside the archive"),
            (
                "archive", "{\"format\": \"zip\", \"member\": \"a//x\"}", "models[0].archive.member",
                "inside the archive"
            ),
            ("files", "{}", "models[0].files", "expected a list"),
            ("files", "[3]", "models[0].files[0]", "expected an object"),
            ("files", "[{}]", "models[0].files[0].path", "it is missing"),
            ("files", "[{\"path\": \"../p\"}]", "models[0].files[0].path", "a relative path"),
            ("files", "[{\"path\": \"/a/b\"}]", "models[0].files[0].path", "a relative path"),
            ("files", "[{\"path\": \"a//b\"}]", "models[0].files[0].path", "a relative path"),
            ("files", "[{\"path\": \"a/../../b\"}]", "models[0].files[0].path", "a relative path"),
            ("files", "[{\"path\": \"a/.b\"}]", "models[0].files[0].path", "a relative path"),
            ("files", "[{\"path\": \"a\\\\b\"}]", "models[0].files[0].path", "a relative path"),
            ("files", "[{\"path\": \"Receipt.json/x\"}]", "models[0].files[0].path", "a relative path"),
            (
                "files", "[{\"path\": \"p\", \"sizeBytes\": 1, \"url\": \"p\"}, {\"path\": \"P/q\"}]",
                "models[0].files[1].path", "is taken by models[0].files[0]"
            ),
            (
                "files", "[{\"path\": \"a/p\", \"sizeBytes\": 1, \"url\": \"p\"}, {\"path\": \"A/q\"}]",
                "models[0].files[1].path", "is taken by the folder"
            ),
            ("files", "[{\"path\": \"p\"}]", "models[0].files[0].url", "it is missing"),
            ("files", "[{\"path\": \"p\", \"sizeBytes\": 1}]", "models[0].files[0].url", "it is missing"),
            (
                "files", "[{\"path\": \"p\", \"sizeBytes\": 1, \"url\": \"p\", \"role\": \"soul\"}]",
                "models[0].files[0].role", "one of weights"
            ),
            (
                "files", "[{\"path\": \"p\", \"sizeBytes\": 1, \"url\": \"p\", \"sha256\": \"p\"}]",
                "models[0].files[0].sha256", "64 hexadecimal digits"
            ),
            (
                "files", "[{\"path\": \"p\", \"sizeBytes\": 1, \"url\": \"p\"}, {\"path\": \"P\"}]",
                "models[0].files[1].path", "is taken by models[0].files[0]"
            ),
            ("files", "[{\"path\": \"M-v1.0.0-Q4.gguf\"}]", "models[0].files[0].path", "is taken by filename"),
            (
                "files", "[{\"path\": \"p\", \"sizeBytes\": 1, \"url\": \"p\", \"index\": {\"sizeBytes\": 1e15}}]",
                "models[0].files[0].index.sizeBytes", "a whole number"
            ),
            (
                "files", "[{\"path\": \"p\", \"sizeBytes\": 1, \"url\": \"p\", \"index\": {\"sizeBytes\": 1}}]",
                "models[0].files[0].index.sha256", "it is missing"
            ),
            ("index", "[]", "models[0].index", "expected an object"),
            ("index", "{\"sizeBytes\": 1}", "models[0].index.sha256", "it is missing"),
            ("index", "{\"sizeBytes\": 1e15}", "models[0].index.sizeBytes", "a whole number"),
            ("index", "{\"sizeBytes\": 1, \"sha256\": \"\(digest)\"}", "models[0].index.url", "it is missing"),
            ("rollout", "{}", "models[0].rollout.percent", "it is missing"),
            ("rollout", "{\"percent\": 101}", "models[0].rollout.percent", "from 0 to 100"),
            ("rollout", "{\"percent\": 2.5}", "models[0].rollout.percent", "from 0 to 100"),
            ("rollout", "{\"percent\": 5, \"seed\": 1}", "models[0].rollout.seed", "a line of text"),
            ("classes", "{\"count\": -2}", "models[0].classes.count", "a whole number"),
            ("classes", "{\"listVersion\": 1}", "models[0].classes.listVersion", "a line of text"),
            ("classes", "{\"url\": \"../..\"}", "models[0].classes.url", "an address"),
            ("classes", "{\"url\": \"c.txt\", \"sha256\": \"0\"}", "models[0].classes.sha256", "64 hexadecimal digits"),
            ("trainedOn", "true", "models[0].trainedOn", "a line of text"),
        ] as [(String, String?, String, String)])
    func namesTheMalformedField(_ field: String, _ value: String?, _ place: String, _ part: String) throws {
        let error = try #require(throws: CatalogError.self) { try catalog(manifest([field: value])) }
        #expect(error.code == .manifestInvalid)
        #expect(error.context.field == place)
        #expect(error.message.hasPrefix(place))
        #expect(error.message.contains(part), "\(error.message)")
        if field != "id" { #expect(error.message.contains("(a)"), "\(error.message)") }
        #expect(!error.message.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(!error.description.contains("secret") || value?.contains("secret") == true)
    }

    @Test(arguments: [
        ("\"schemaVersion\": 0,", "schemaVersion"), ("\"schemaVersion\": \"1\",", "schemaVersion"),
        ("\"schemaVersion\": 1.5,", "schemaVersion"), ("\"schemaVersion\": true,", "schemaVersion"),
        ("\"serial\": -1,", "serial"), ("\"serial\": \"42\",", "serial"),
        ("\"issued\": \"yesterday\",", "issued"), ("\"issued\": 1795219200,", "issued"),
        ("\"expires\": \"2026-13-41T00:00:00Z\",", "expires"), ("\"expires\": \"2026-11-21\",", "expires"),
        ("\"current\": \"1.0.0\",", "current"), ("\"current\": {\"m\": 1},", "current.m"),
        ("\"current\": {\"m\": \"2.0.0\"},", "current.m"), ("\"current\": {\"x\": \"1.0.0\"},", "current.x"),
        ("\"currentVersion\": \"9.9.9\",", "currentVersion"), ("\"currentVersion\": 1,", "currentVersion"),
    ])
    func namesTheMalformedFieldOfTheDocument(_ top: String, _ place: String) throws {
        let error = try #require(throws: CatalogError.self) { try catalog(manifest(top: top)) }
        #expect(error.code == .manifestInvalid)
        #expect(error.context.field == place)
    }

    @Test(arguments: [
        ("{}", "models"), ("{\"models\": {}}", "models"), ("{\"models\": [1]}", "models[0]"),
        ("{\"models\": [null]}", "models[0]"), ("{\"version\": \"1.0.0\"}", "url"), ("{\"url\": \"a\"}", "version"),
        ("{\"version\": \"1.0.0\", \"url\": \"m.gguf\"}", "size_mb"),
        ("{\"version\": \"1.0.0\", \"url\": \"m.gguf\", \"size_mb\": -1}", "size_mb"),
        ("{\"version\": \"1.0.0\", \"url\": \"m.gguf\", \"size_mb\": 1e300}", "size_mb"),
        ("{\"version\": \"1.0.0\", \"url\": \"m.gguf\", \"size_mb\": \"1\"}", "size_mb"),
        ("{\"version\": \"1.0.0\", \"url\": \"1.0.0.gguf\", \"size_mb\": 1}", "url"),
        ("{\"version\": \"1.0.0\", \"url\": \"m/receipt.json\", \"size_mb\": 1}", "url"),
        ("{\"version\": \"1.0.0\", \"url\": \"m/a%2F..\", \"size_mb\": 1}", "url"),
        ("{\"version\": \"1.0.0\", \"url\": \"m.gguf\", \"size_mb\": 1, \"num_classes\": 1.5}", "num_classes"),
        ("{\"version\": \"1.0.0\", \"url\": \"m.gguf\", \"size_mb\": 1, \"sha256\": \"x\"}", "sha256"),
        ("{\"version\": \"\", \"url\": \"m.gguf\", \"size_mb\": 1}", "version"),
    ])
    func namesTheMalformedFieldOfOtherShapes(_ text: String, _ place: String) throws {
        let error = try #require(throws: CatalogError.self) { try catalog(text) }
        #expect(error.code == .manifestInvalid)
        #expect(error.context.field == place, "\(error)")
    }
}
