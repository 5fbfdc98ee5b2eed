import Foundation
import HearthBase

/// Describes a folder of the user with `config.json` and `*.safetensors` as a release.
enum LocalFolder {
    /// The longest `config.json`, in bytes.
    private static let maximumConfigurationSize = 1 << 20
    /// The beginning of a file of weights that tells who wrote it, in bytes.
    private static let maximumNoteSize = 64 << 10

    /// Hashes the weights of a folder, its configuration and its tokenizer; files of other kinds and folders in it are
    /// not part of the release.
    /// - Parameters:
    ///   - family: the family that the user names; `nil` makes it of the folder's name.
    ///   - version: the version that the user names; `nil` makes it of the folder's name.
    /// - Throws: ``CatalogError`` with `no-known-model`, `unusable-name`; `FileError`.
    static func describe(
        _ folder: Path, family: Family?, version: ReleaseVersion?, in fileSystem: any FileSystem
    ) async throws -> Release {
        let written = WrittenName(folder.lastComponent)
        guard let made = family ?? written?.family else { throw LocalRelease.unusable(folder) }
        return try await blocking {
            let names = try fileSystem.contents(of: folder).sorted()
            let weights = names.filter { Path($0).fileExtension == "safetensors" }
            guard let main = weights.min(by: { isMain($0, $1) }), names.contains("config.json") else {
                throw noModel(folder, names)
            }
            let configuration = try configuration(folder.appending("config.json"), fileSystem)
            let isMLX = try isObject(configuration, "quantization") || isNotedAsMLX(folder.joined(main), fileSystem)
            let files = try names.compactMap { text -> RemoteFile? in
                guard let name = PathComponent(text), let role = role(of: text, main: main),
                    try fileSystem.status(at: folder.appending(name))?.kind == .file
                else { return nil }
                return try LocalRelease.remote(folder.appending(name), name, role, fileSystem)
            }
            guard let first = files.first(where: { $0.role == .weights }) else { throw noModel(folder, names) }
            let identity = ReleaseIdentity(family: made, version: version ?? ReleaseVersion(SemanticVersion(0, 0, 0)))
            var release = Release(
                identity: identity, id: folder.lastComponent, file: first,
                role: isObject(configuration, "vision_config") ? .vision : .text, format: isMLX ? .mlx : .safetensors)
            release.companions = files.filter { $0.role != .weights }
            release.writtenName = family == nil ? written?.text : nil
            return release
        }
    }

    /// The purpose of a file; `nil` for one that no engine reads.
    private static func role(of name: String, main: String) -> FileRole? {
        if name == main { return .weights }
        if Path(name).fileExtension == "safetensors" { return .shard }
        if name.hasSuffix(".safetensors.index.json") { return .index }
        return FileRole(companionName: name)
    }

    /// Orders the file that stands for all: `model.…`, else the first in order.
    private static func isMain(_ left: String, _ right: String) -> Bool {
        func rank(_ name: String) -> (Int, String) { (name.hasPrefix("model.") ? 0 : 1, name) }
        return rank(left) < rank(right)
    }

    private static func configuration(_ path: Path, _ fileSystem: any FileSystem) throws -> JSONMembers {
        let data = try fileSystem.contents(ofFile: path, limit: maximumConfigurationSize)
        // What is no JSON and what is no object are refused with the same words.
        guard case .object(let members)? = try? JSONValue(parsing: data) else {
            throw CatalogError(
                .noKnownModel, "\(path) is no configuration of a model: it holds no JSON object",
                context: ErrorContext(file: path.string))
        }
        return members
    }

    private static func isObject(_ members: JSONMembers, _ name: String) -> Bool {
        if case .object? = members[name] { true } else { false }
    }

    /// Whether the first words of a file of weights say that MLX wrote it.
    private static func isNotedAsMLX(_ path: Path, _ fileSystem: any FileSystem) throws -> Bool {
        let file = try fileSystem.open(path, .read)
        var beginning = [UInt8](repeating: 0, count: maximumNoteSize)
        let count = try beginning.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
        let text = String(decoding: beginning[..<count].dropFirst(8), as: UTF8.self).filter { !$0.isWhitespace }
        return text.contains(#""format":"mlx""#)
    }

    private static func noModel(_ folder: Path, _ names: [String]) -> CatalogError {
        let pickled = names.first { ["bin", "pt", "pth", "ckpt"].contains(Path($0).fileExtension) }
        return CatalogError(
            .noKnownModel,
            pickled.map { "\(folder) holds weights of PyTorch, \($0.quoted), which are programs and not read" }
                ?? "\(folder) holds no model: no config.json with *.safetensors",
            context: ErrorContext(
                file: folder.string, expected: "config.json and *.safetensors", found: pickled?.quoted,
                remedy: "Convert the weights to *.safetensors or *.gguf, or choose another folder."))
    }
}
