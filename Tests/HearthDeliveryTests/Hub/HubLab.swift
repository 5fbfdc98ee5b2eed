import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A hub, a home, and a manager that knows both.
struct HubLab {
    static let http = DefaultHTTPClient()

    let folder: TemporaryFolder
    let hub: TestHub
    let clock = HurriedClock()

    init() throws {
        folder = try TemporaryFolder()
        hub = try TestHub()
    }

    func settings(token: String? = nil, cache: Path? = nil) throws -> HubSettings {
        try HubSettings(
            endpoint: hub.endpoint, token: try token.map { try #require(Secret($0)) }, cacheFolder: cache)
    }

    func manager(
        token: String? = nil, cache: Path? = nil, memory: UInt64 = 8 << 30, http: any HTTPClient = HubLab.http
    ) throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], http: http, time: clock.time, network: UnmonitoredNetwork(),
            deviceMemory: memory, hub: .success(try settings(token: token, cache: cache)))
    }

    func source(_ reference: String, token: String? = nil) throws -> HubSource {
        guard case .hub(let reference) = try ModelReference(parsing: reference) else {
            throw CatalogError(.badReference, reference)
        }
        return HubSource(reference, http: Self.http, settings: try settings(token: token))
    }

    /// The files of a folder and their bytes, by their paths.
    static func tree(_ folder: Path, except: Set<String> = []) throws -> [String: Data] {
        var files: [String: Data] = [:]
        func walk(_ path: Path, _ prefix: String) throws {
            for name in try LocalFileSystem().contents(of: path) where !except.contains(prefix + name) {
                let next = Path(path.string + "/" + name)
                if try LocalFileSystem().status(at: next)?.kind == .folder {
                    try walk(next, prefix + name + "/")
                } else {
                    files[prefix + name] = try Data(contentsOf: next.url)
                }
            }
        }
        try walk(folder, "")
        return files
    }

    /// The codes of the failure of an operation.
    static func code(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? any HearthFailure)?.codeText ?? "\(error)"
        }
    }
}

/// The files of a model for MLX, with folders, an empty file, and names that have to be escaped.
func snapshotFiles() -> [String: TestHub.File] {
    [
        ".gitattributes": .small("*.safetensors filter=lfs diff=lfs merge=lfs -text\n"),
        "README.md": .small("---\nlicense: apache-2.0\n---\n# A model\n"),
        "config.json": .small(#"{"model_type": "tiny"}"#),
        "empty.txt": .small(""),
        "a b+c#d%41.txt": .small("a name that has to be escaped"),
        "tokenizer.json": .large(.pattern(offset: 3, count: 70_000)),
        "model-00001-of-00002.safetensors": .large(.pattern(offset: 11, count: 300_000)),
        "model-00002-of-00002.safetensors": .large(.pattern(offset: 17, count: 200_001)),
        "1_Pooling/config.json": .small(#"{"pooling": true}"#),
        "extra/deep/ü.bin.txt": .small("folders in folders"),
    ]
}
