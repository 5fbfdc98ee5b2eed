import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

private let address = ManifestFixtures.address
private let digest = ManifestFixtures.digest

/// The manifest of the delivery plan this project grew from, with the digest it abbreviates.
private let multiModel = """
    {
      "schemaVersion": 1,
      "models": [{
        "id": "lupus-diary-v1.0.0-q4_k_m",
        "version": "1.0.0",
        "filename": "lupus-diary-v1.0.0-q4_k_m.gguf",
        "sizeBytes": 1800000000,
        "sha256": "abc123...",
        "minAppVersion": "1.0.0",
        "downloadUrl": "https://your-bucket.r2.dev/models/lupus-diary-v1.0.0-q4_k_m.gguf"
      }],
      "currentVersion": "1.0.0"
    }
    """

/// The manifest of the classifier this project grew from, with the host it abbreviates.
private let singleModel = """
    {
      "version":            "1.0.0",
      "url":                "https://…/models/NomLensClassifier_1.0.0.mlpackage",
      "sha256":             "c0018e1270fe8f821248465a6f873544f4992b2ec58c344a0ef2d918d6e08439",
      "num_classes":        972,
      "class_list_version": "v1",
      "training_date":      "2026-03-27",
      "size_mb":            10.6
    }
    """

private let full = """
    { "schemaVersion": 1, "currentVersion": "1.1.0", "current": { "lupus-diary": "1.1.0" },
      "serial": 42, "issued": "2026-11-21T00:00:00Z", "expires": "2026-12-21T00:00:00.500+01:00",
      "models": [ {
        "id": "lupus-diary-v1.1.0-q4_k_m", "version": "1.1.0", "filename": "lupus-diary-v1.1.0-q4_k_m.gguf",
        "sizeBytes": 1800000000, "sha256": "\(digest)", "minAppVersion": "1.0.0",
        "downloadUrl": "models/lupus-diary-v1.1.0-q4_k_m.gguf",
        "family": "lupus-diary", "variant": "q4_k_m", "name": "Lupus Diary", "summary": "…", "license": "apache-2.0",
        "released": "2026-11-20", "notes": "a\\nb",
        "role": "vision", "format": "gguf", "contextLength": 8192,
        "requirements": { "memoryBytes": 3000000000, "storageBytes": 2160000000 },
        "mirrors": ["https://mirror.example/a.gguf"],
        "archive": { "format": "zip", "member": "dir/weights.gguf" },
        "files": [ { "path": "mmproj-f16.gguf", "role": "projector", "sizeBytes": 1, "sha256": "\(digest)",
                     "url": "mmproj.gguf" } ],
        "index": { "url": "models/i.index", "sha256": "\(digest)", "sizeBytes": 72000 },
        "rollout": { "percent": 25, "seed": "2026-11" },
        "classes": { "count": 972, "listVersion": "v1", "url": "classes/v1.txt", "sha256": "\(digest)" },
        "trainedOn": "2026-03-27", "fromTheFuture": [1, {"a": null}] } ] }
    """

private func catalog(_ text: String, at address: String = address, hint: String? = nil) throws -> Catalog {
    try ManifestFixtures.catalog(text, at: address, hint: hint)
}

private func manifest(_ changes: [String: String?] = [:], top: String = "") -> String {
    ManifestFixtures.manifest(changes, top: top)
}

@Suite struct ManifestTests {
    @Test func readsTheMultiModelDialect() throws {
        let release = try #require(try catalog(multiModel.replacing("abc123...", with: digest)).releases.first)
        #expect(release.identity.description == "lupus-diary@1.0.0:q4_k_m")
        #expect(release.file.size == .exact(1_800_000_000))
        #expect(release.file.digest == SHA256Digest(hex: digest))
        #expect(
            release.file.locations.map(\.absoluteString) == [
                "https://your-bucket.r2.dev/models/lupus-diary-v1.0.0-q4_k_m.gguf"
            ])
        #expect(release.minimumAppVersion == SemanticVersion(1, 0, 0))
        let family = release.identity.family
        #expect(
            try catalog(multiModel.replacing("abc123...", with: digest)).current == [family: release.identity.version])
    }

    @Test func namesTheAbbreviatedDigestOfThePlansExample() throws {
        let error = try #require(throws: CatalogError.self) { try catalog(multiModel) }
        #expect(error.code == .manifestInvalid)
        #expect(
            error.message == #"""
                models[0].sha256 (lupus-diary-v1.0.0-q4_k_m): expected 64 hexadecimal digits, found "abc123..."
                """#)
        #expect(error.context.field == "models[0].sha256")
        #expect(error.context.model == "lupus-diary-v1.0.0-q4_k_m")
    }

    @Test func readsTheSingleModelDialect() throws {
        let catalog = try catalog(singleModel.replacing("…", with: "cdn.example"))
        let release = try #require(catalog.releases.first)
        #expect(release.identity.description == "nomlensclassifier@1.0.0")
        #expect(release.role == .classifier)
        #expect(release.format == .coreml)
        #expect(release.file.name.string == "NomLensClassifier_1.0.0.mlpackage")
        #expect(release.file.digest == SHA256Digest(hex: digest))
        #expect(release.file.size == .about(11_114_905, limit: 13_274_972))
        #expect(release.classes?.count == 972 && release.classes?.listVersion == "v1")
        #expect(release.classes?.listAddress?.absoluteString.hasSuffix("/classes/v1.txt") == true)
        #expect(release.trainedOn == "2026-03-27")
        #expect(catalog.current == [release.identity.family: release.identity.version])
    }

    @Test func theSingleModelsFamilyIsTheConfiguredName() throws {
        let catalog = try catalog(singleModel.replacing("…", with: "cdn.example"), hint: "nom")
        #expect(catalog.families.map(\.name) == ["nom"])
    }

    @Test func namesTheAbbreviatedHostOfTheClassifiersExample() throws {
        let error = try #require(throws: CatalogError.self) { try catalog(singleModel) }
        #expect(error.context.field == "url")
    }

    @Test func readsEveryFieldOfItsOwnDialect() throws {
        let catalog = try catalog(full)
        #expect(catalog.serial == 42)
        #expect(catalog.issued == Date(timeIntervalSince1970: 1_795_219_200))
        #expect(catalog.expires == Date(timeIntervalSince1970: 1_797_807_600.5))
        let release = try #require(catalog.releases.first)
        #expect(release.name == "Lupus Diary")
        #expect(release.summary == "…")
        #expect(release.license == "apache-2.0")
        #expect(release.released == "2026-11-20")
        #expect(release.notes == "a\nb")
        #expect(release.role == .vision)
        #expect(release.format == .gguf)
        #expect(release.contextLength == 8192)
        #expect(release.requirements == Requirements(memoryBytes: 3_000_000_000, storageBytes: 2_160_000_000))
        #expect(release.archive == Archive(format: .zip, member: RelativePath("dir/weights.gguf")))
        #expect(release.rollout == Rollout(percent: 25, seed: "2026-11"))
        #expect(
            release.file.locations.map(\.absoluteString) == [
                "https://models.example/catalog/models/lupus-diary-v1.1.0-q4_k_m.gguf", "https://mirror.example/a.gguf",
            ])
        let projector = try #require(release.companions.first)
        #expect(projector.role == .projector)
        #expect(projector.size == .exact(1))
        #expect(projector.locations.map(\.absoluteString) == ["https://models.example/catalog/mmproj.gguf"])
        #expect(release.index?.name.string == "lupus-diary-v1.1.0-q4_k_m.gguf.index")
        #expect(release.index?.size == .exact(72000))
        #expect(release.classes?.labels?.name.string == "v1.txt")
        #expect(release.trainedOn == "2026-03-27")
    }

    @Test func anEntryWithoutDigestIsReadAsSuch() throws {
        #expect(try catalog(manifest(["sha256": nil])).releases.first?.file.digest == nil)
        #expect(try catalog(manifest(["sha256": "null"])).releases.first?.file.digest == nil)
    }

    @Test func refusesALaterSchemaBeforeAnythingElse() throws {
        let error = try #require(throws: CatalogError.self) { try catalog("{\"schemaVersion\": 2, \"models\": {}}") }
        #expect(error.code == .schemaTooNew)
        #expect(error.context.found == "2")
    }

    @Test(arguments: [
        ("<!DOCTYPE html><html></html>", ErrorCode<Release>.notAManifest), ("\n<html>", .notAManifest),
        ("<Error><Code>AccessDenied</Code></Error>", .notAManifest), ("", .notAManifest), ("  \n", .notAManifest),
        ("GGUF\u{3}\u{0}\u{0}\u{0}", .notAManifest), ("[]", .notAManifest), ("3", .notAManifest),
        ("{\"models\": [}", .manifestInvalid), ("{\"models\": []", .manifestInvalid), ("not json", .manifestInvalid),
    ])
    func tellsWhatIsThereInstead(_ text: String, _ code: ErrorCode<Release>) throws {
        let error = try #require(throws: CatalogError.self) { try catalog(text) }
        #expect(error.code == code)
        #expect(error.message.contains(address))
    }

    @Test(
        arguments: [
            ("m_1.0.0.mlpackage.zip", .zip, .coreml), ("m_1.0.0.onnx.tar.gz", .tarGzip, .onnx),
            ("m_1.0.0.mlpackage.tgz", .tarGzip, .coreml), ("M_1.0.0.GGUF.TAR.ZST", .tarZstandard, .gguf),
            ("m-1.0.0.tar", .tar, .coreml), ("m-1.0.0.onnx.tar.xz", .tarXz, .onnx), ("m-1.0.0.onnx", nil, .onnx),
            ("m-1.0.0.tar.onnx", nil, .onnx),
        ] as [(String, ArchiveFormat?, ModelFormat)])
    func aSingleModelIsPackedIfItsAddressSaysSo(_ file: String, _ archive: ArchiveFormat?, _ format: ModelFormat) throws
    {
        let release = try #require(
            try catalog(#"{"version": "1.0.0", "url": "\#(file)", "size_mb": 1}"#).releases.first)
        #expect(release.archive == archive.map { Archive(format: $0) })
        #expect(release.format == format)
        #expect(release.identity.family.name == (file == "m-1.0.0.tar.onnx" ? "m-.tar" : "m"))
    }

    @Test func refusesWhatIsTooLarge() throws {
        let padding = String(repeating: " ", count: Catalog.maximumManifestSize)
        let error = try #require(throws: CatalogError.self) { try catalog(manifest() + padding) }
        #expect(error.code == .manifestTooLarge)
    }

    @Test func refusesTheSameReleaseOrIdentifierTwice() throws {
        func two(_ id: String, _ file: String) -> String {
            manifest().replacing(
                "}]}",
                with:
                    "}, {\"id\": \"\(id)\", \"filename\": \"\(file)\", \"version\": \"1.0.0\", \"sizeBytes\": 1, \"downloadUrl\": \"x\"}]}"
            )
        }
        let same = try #require(throws: CatalogError.self) { try catalog(two("b", "m-v1.0.0-Q4.gguf")) }
        #expect(same.context.field == "models[1].version")
        #expect(same.message.contains("m@1.0.0:q4"))
        let id = try #require(throws: CatalogError.self) { try catalog(two("a", "m-v1.0.0-q8.gguf")) }
        #expect(id.context.field == "models[1].id")
        #expect(try catalog(two("b", "m-v1.0.0-q8.gguf")).releases.count == 2)
    }

    @Test func capsTheNumberOfFilesSoThatSizesCannotOverflow() throws {
        let largest = ManifestTests.files(count: 512)
        #expect(try catalog(manifest(["files": largest])).releases.first?.totalSize == 512 << 53 + 10)
        let error = try #require(throws: CatalogError.self) {
            try catalog(manifest(["files": ManifestTests.files(count: 513)]))
        }
        #expect(error.context.field == "models[0].files")
    }

    private static func files(count: Int) -> String {
        let files = (0..<count).map { "{\"path\": \"p\($0)\", \"sizeBytes\": 9007199254740992, \"url\": \"p\"}" }
        return "[" + files.joined(separator: ",") + "]"
    }

    @Test func currentVersionSpeaksForEveryFamilyThatHasItUnlessCurrentDoes() throws {
        func entry(_ family: String, _ version: String) -> String {
            """
            {"id": "\(family)\(version)", "version": "\(version)", "filename": "\(family)-v\(version)-q4.gguf",
            "sizeBytes": 1, "downloadUrl": "x"}
            """
        }
        let entries = [entry("a", "1.0.0"), entry("a", "2.0.0"), entry("b", "1.0.0"), entry("c", "3.0.0")]
        let text = """
            {"currentVersion": "1.0.0", "current": {"a": "2.0.0"}, "models": [\(entries.joined(separator: ","))]}
            """
        let current = try catalog(text).current
        #expect(current.map { "\($0.key) \($0.value)" }.sorted() == ["a 2.0.0", "b 1.0.0"])
    }

    @Test func manifestsOfThisMachineMayNameThisMachine() throws {
        let loopback = manifest(["downloadUrl": "\"http://localhost:8080/m.gguf\""])
        #expect(try catalog(loopback, at: "http://127.0.0.1:9000/models.json").releases.count == 1)
        #expect(try catalog(loopback, at: "file:///srv/models.json").releases.count == 1)
        let relative = try catalog(manifest(), at: "file:///srv/models.json#m@1.0.0")
        #expect(relative.releases.first?.file.locations.first?.path == "/srv/models/m.gguf")
        let file = manifest(["downloadUrl": "\"file:///srv/m.gguf\""])
        #expect(try catalog(file, at: "file:///srv/models.json").releases.count == 1)
        #expect(throws: CatalogError.self) { try catalog(file, at: "http://127.0.0.1:9000/models.json") }
    }

    @Test func theManifestsOwnSecretsStayOutOfErrors() throws {
        let error = try #require(throws: CatalogError.self) {
            try catalog("{}", at: "https://me:secret@models.example/models.json?token=hidden")
        }
        #expect(!"\(error) \(error.context)".contains("secret"))
        #expect(!"\(error) \(error.context)".contains("hidden"))
    }
}
