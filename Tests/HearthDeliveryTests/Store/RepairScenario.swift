import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A release that was damaged, and what has to hold wherever mending it is interrupted.
enum RepairScenario: CaseIterable, Sendable {
    /// A file that comes again as a whole.
    case alone
    /// A file of two chunks, of which one is wrong.
    case indexed
    /// A file that the live release shares, so that both are damaged.
    case shared
    /// The live release has the same file, whole, as one of its own.
    case elsewhere
    /// A folder that is gone.
    case missing
    /// What came in an archive.
    case packed

    var damaged: String {
        switch self {
        case .alone, .shared, .elsewhere, .missing: "tiny@1.0.0"
        case .indexed: "big@1.0.0"
        case .packed: "packed@1.0.0"
        }
    }

    fileprivate var place: String {
        switch self {
        case .alone: "w-1.0.0.onnx"
        case .indexed: "big.onnx"
        case .shared, .elsewhere, .missing: "text/labels.txt"
        case .packed: "bundle/sub/labels.txt"
        }
    }
}

/// An origin in a folder, and a home with a damaged release beside a live one, `tiny@2.0.0`.
struct RepairLab {
    let scenario: RepairScenario
    /// The home that others are copies of.
    let template: Path
    private let folder: TemporaryFolder
    private let identity: ReleaseIdentity
    /// What stands in the damaged file, `nil` if it is gone.
    private let wrong: SHA256Digest?

    init(_ scenario: RepairScenario) async throws {
        self.scenario = scenario
        folder = try TemporaryFolder()
        template = folder.path("home")
        let manifest = try await Self.publish(folder, scenario)
        let manager = Self.manager(template)
        for name in Set(["tiny@1.0.0", scenario.damaged]).sorted() + ["tiny@2.0.0"] {
            _ = try await manager.pull(ModelReference(parsing: "\(manifest)#\(name)"))
        }
        identity = try Self.identity(scenario.damaged)
        let disk = LocalFileSystem()
        let place = try #require(RelativePath(scenario.place))
        let path = manager.store.layout.folder(of: identity).appending(place)
        if scenario == .elsewhere {
            let other = manager.store.layout.folder(of: try Self.identity("tiny@2.0.0")).appending(place)
            let data = try Data(contentsOf: other.url)
            try disk.removeFile(other)
            try data.write(to: other.url)
        }
        if scenario == .missing {
            try disk.removeTree(path.parent)
            wrong = nil
            return
        }
        let file = try disk.open(path, .readWrite)
        let last = try disk.status(of: file).size - 1
        try [UInt8]([0x5A]).withUnsafeBytes { try disk.write(file, $0, at: last) }
        wrong = try disk.digest(ofFile: path)
    }

    /// Mends the release, as one process would.
    @discardableResult
    func run(_ home: Path, on disk: any FileSystem = LocalFileSystem()) async throws -> RepairReport {
        try await Self.manager(home, disk).repair(identity)
    }

    /// A copy of the template in which what was one file is one file.
    func copy(to home: Path) throws {
        var seen: [FileIdentity: Path] = [:]
        try Self.copy(template, to: home, &seen)
    }

    /// Checks a home after an interruption, as the next process finds it: the live release is the one it was, every file is right
    /// or as damaged as before, and nothing else.
    func checkInterrupted(_ home: Path, _ note: String) async throws {
        let store = ModelStore(home: home)
        let live = try await store.active(try Self.identity("tiny@2.0.0").family)
        #expect(try live?.identity == Self.identity("tiny@2.0.0"), "\(note)")
        let inventory = try await store.inventory()
        #expect(inventory.damaged.allSatisfy { _ in scenario == .missing }, "\(note): \(inventory.damaged)")
        #expect(
            inventory.releases.count + inventory.damaged.count == (scenario.damaged.hasPrefix("tiny") ? 2 : 3),
            "\(note)")
        for release in inventory.releases.map(\.identity) + (scenario == .missing ? [identity] : []) {
            for file in try await store.receipt(of: release).files {
                let path = store.layout.folder(of: release).appending(file.name)
                let isHere = try LocalFileSystem().status(at: path) != nil
                let found = isHere ? try LocalFileSystem().digest(ofFile: path) : nil
                guard found != file.digest else { continue }
                let isExpected = file.name.string == scenario.place && (release == identity || scenario == .shared)
                #expect(isExpected && found == wrong, "\(note): \(release) \(file.name)")
            }
        }
    }

    /// The next start, and the same again: everything is whole, and nothing is left over.
    func recover(_ home: Path, _ note: String) async throws {
        try Self.ageLeases(home)
        let manager = Self.manager(home)
        try await manager.recover()
        try await run(home)
        // As `hearth verify --repair`: of two that share a file the interruption may have left one behind.
        for release in try await manager.store.inventory().releases { _ = try await manager.repair(release.identity) }
        let inventory = try await manager.store.inventory()
        #expect(inventory.damaged.isEmpty, "\(note)")
        for release in inventory.releases {
            let report = try await manager.store.verify(release)
            #expect(report.isIntact && report.unexpected.isEmpty, "\(note): \(report)")
        }
        #expect(try await run(home).repaired.isEmpty, "\(note)")
        let left = try LocalFileSystem().files(below: home).map { "\($0)" }.filter {
            $0.contains(Path.temporaryMark) || $0.contains("data.part")
        }
        #expect(left.isEmpty, "\(note): \(left)")
    }

    /// Whether everything that is installed is right to the last byte.
    func isWhole(_ home: Path) async throws -> Bool {
        let store = ModelStore(home: home)
        for release in try await store.inventory().releases where try await !store.verify(release).isIntact {
            return false
        }
        return try await store.inventory().damaged.isEmpty
    }

    // MARK: - The parts

    private static func manager(_ home: Path, _ disk: any FileSystem = LocalFileSystem()) -> ModelManager {
        ModelManager(
            home: home, origins: [], fileSystem: disk, time: HurriedClock().time, network: UnmonitoredNetwork(),
            deviceMemory: 1 << 40)
    }

    private static func identity(_ text: String) throws -> ReleaseIdentity {
        let names = text.split(separator: "@").map(String.init)
        return ReleaseIdentity(
            family: try #require(Family(names[0])), version: try #require(ReleaseVersion(names[1])), variant: nil)
    }

    /// Lets the time pass in which a lease that cannot be read may be one that is just being written.
    private static func ageLeases(_ home: Path) throws {
        let earlier = Date(timeIntervalSinceNow: -2 * TransferLock.lifetime.seconds)
        for file in try LocalFileSystem().files(below: home) where "\(file)".hasSuffix("/lease") {
            let path = home.string + "/\(file)"
            try FileManager.default.setAttributes([.modificationDate: earlier], ofItemAtPath: path)
        }
    }

    private static func copy(_ source: Path, to target: Path, _ seen: inout [FileIdentity: Path]) throws {
        let disk = LocalFileSystem()
        try disk.makeFolder(target, permissions: 0o755)
        for name in try disk.contents(of: source) {
            let (from, to) = (Path(source.string + "/" + name), Path(target.string + "/" + name))
            guard let status = try disk.status(at: from, followLinks: false) else { continue }
            switch status.kind {
            case .folder: try copy(from, to: to, &seen)
            case .symbolicLink: try disk.makeLink(at: to, to: disk.readLink(from))
            case .file, .other:
                if let other = seen[status.identity] {
                    try disk.makeHardLink(at: to, to: other)
                } else {
                    seen[status.identity] = to
                    try FileManager.default.copyItem(atPath: from.string, toPath: to.string)
                }
            }
        }
    }

    /// `tiny` in two versions that have their labels in common, `big` with an index, `packed` in an archive.
    private static func publish(_ folder: TemporaryFolder, _ scenario: RepairScenario) async throws -> Path {
        func facts(_ name: String, _ data: Data) throws -> String {
            try folder.write("origin/\(name)", data)
            return #""sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data).hex)""#
        }
        func entry(
            _ family: String, _ version: String, _ name: String, _ facts: String, _ more: String = "",
            format: String = "onnx"
        ) -> String {
            """
            {"id": "\(family)-\(version)", "family": "\(family)", "version": "\(version)", "filename": "\(name)",
             "format": "\(format)", "minAppVersion": "0.0.0", "downloadUrl": "\(name)", \(facts)\(more)}
            """
        }
        var entries: [String] = []
        let labels = try facts("labels.txt", Data("one\ntwo\n".utf8))
        for version in ["1.0.0", "2.0.0"] {
            let name = "w-\(version).onnx"
            let weights = Data(Array(repeating: Array("weights of \(version)".utf8), count: 50).joined())
            let file = #"{"path": "text/labels.txt", "role": "labels", "url": "labels.txt", \#(labels)}"#
            entries.append(entry("tiny", version, name, try facts(name, weights), #", "files": [\#(file)]"#))
        }
        if scenario == .indexed {
            let data = Content.pattern(offset: 11, count: UInt64(ChunkIndex.fixedLength) + 10_000).bytes
            var builder = ChunkIndexBuilder()
            data.withUnsafeBytes { builder.update($0) }
            let index = try facts("big.index", try builder.finalize().index.encoded)
            entries.append(
                entry(
                    "big", "1.0.0", "big.onnx", try facts("big.onnx", Data(data)),
                    #", "index": {"url": "big.index", \#(index)}"#))
        }
        if scenario == .packed {
            let archive = try ArchiveCorpus.item("good.tar.gz").data
            entries.append(
                entry(
                    "packed", "1.0.0", "packed.tar.gz", try facts("packed.tar.gz", archive),
                    #", "archive": {"format": "tar.gz"}"#, format: "gguf"))
        }
        let list = entries.joined(separator: ", ")
        let text = #"{"schemaVersion": 1, "current": {"tiny": "2.0.0"}, "models": [\#(list)]}"#
        return try folder.write("origin/models.json", Data(text.utf8))
    }
}
