import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// Folders of the user with safetensors, as releases.
@Suite(.timeLimit(.minutes(1))) struct LocalFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func describe(
        _ files: [String: String], name: String = "Tiny-Model-4bit", family: String? = nil
    ) async throws -> Release {
        for (file, text) in files { try folder.write("\(name)/\(file)", Data(text.utf8)) }
        return try await LocalRelease.describe(
            folder.path(name), family: family.flatMap { Family($0) }, in: LocalFileSystem())
    }

    private static let weights = String(repeating: "w", count: 80)

    @Test func aFolderIsARelease() async throws {
        let release = try await describe([
            "config.json": #"{"quantization": {"bits": 4}}"#, "model-00002-of-00002.safetensors": Self.weights,
            "model-00001-of-00002.safetensors": Self.weights + "2", "model.safetensors.index.json": "{}",
            "tokenizer.json": "{}", "chat_template.jinja": "x", "README.md": "r", "notes.xyz": "not part of it",
        ])
        #expect(release.format == .mlx && release.role == .text && release.identity.family.name == "tiny-model-4bit")
        #expect(release.file.name.string == "model-00001-of-00002.safetensors")
        let roles = Dictionary(uniqueKeysWithValues: release.companions.map { ($0.name.string, $0.role) })
        #expect(
            roles == [
                "config.json": .other, "model-00002-of-00002.safetensors": .shard,
                "model.safetensors.index.json": .index, "tokenizer.json": .tokenizer, "chat_template.jinja": .other,
                "README.md": .other,
            ])
        #expect(release.files.allSatisfy { $0.digest != nil && !$0.locations.isEmpty })
    }

    @Test(
        arguments: [
            (#"{}"#, #"{"__metadata__": {"format": "mlx"}}"#, ModelFormat.mlx),
            (#"{}"#, #"{"__metadata__": {"format": "pt"}}"#, .safetensors),
            (#"{"quantization": null}"#, "", .safetensors), (#"{"quantization": {}}"#, "", .mlx),
        ])
    func mlxIsToldFromOthers(configuration: String, header: String, format: ModelFormat) async throws {
        let release = try await describe(
            ["config.json": configuration, "model.safetensors": "12345678" + header + Self.weights], family: "mine")
        #expect(release.format == format && release.identity.family.name == "mine")
    }

    @Test(
        arguments: [
            (["model.safetensors": "w"], CatalogError.Code.noKnownModel),
            (["config.json": "{}"], .noKnownModel),
            (["config.json": "{}", "pytorch_model.bin": "p"], .noKnownModel),
            (["config.json": "[]", "model.safetensors": "w"], .noKnownModel),
            (["config.json": "{", "model.safetensors": "w"], .noKnownModel),
        ])
    func whatIsNoModelIsRefused(files: [String: String], code: CatalogError.Code) async throws {
        let error = await #expect(throws: CatalogError.self) { try await describe(files) }
        #expect(error?.code == code)
        #expect(error?.context.found == (files["pytorch_model.bin"] == nil ? nil : "\"pytorch_model.bin\""))
    }

    @Test func aFileOfAnotherKindIsRefused() async throws {
        let path = try folder.write("model.bin", Data("x".utf8))
        let error = await #expect(throws: CatalogError.self) {
            try await LocalRelease.describe(path, in: LocalFileSystem())
        }
        #expect(error?.code == .noKnownModel)
    }

    @Test(
        arguments: [
            ("./m", true), ("../models/M-4bit", true), ("/srv/models/m", true), ("models/m/", false),
            ("org/repo", false), ("m", false), ("/", false), ("./", false), ("..", false),
        ])
    func foldersAreToldFromRepositories(text: String, isFile: Bool) {
        guard case .file(let path)? = try? ModelReference(parsing: text) else {
            #expect(!isFile)
            return
        }
        #expect(isFile && path.string.hasSuffix("m") || path.string.hasSuffix("M-4bit") || path.string.hasSuffix("m/"))
    }
}
