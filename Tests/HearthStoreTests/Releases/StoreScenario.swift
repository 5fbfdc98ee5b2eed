import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

/// A change to a home, and what has to hold wherever it is interrupted.
enum StoreScenario: CaseIterable, Sendable {
    /// The first release ever.
    case first
    /// A second version beside a live one.
    case update
    /// Other bytes of the live version, installed beside it.
    case replacement
    /// A second version with the bytes of the live one.
    case twin
    /// The live version goes, the previous one comes back.
    case removal
    /// Everything goes.
    case clearance

    static func one() throws -> ReleaseIdentity { try StoreFixture.identity("1.0.0") }
    static func two() throws -> ReleaseIdentity { try StoreFixture.identity("2.0.0") }

    /// What is to be installed, with the text that tells its bytes apart.
    private func incoming() throws -> (release: Release, salt: String)? {
        switch self {
        case .first: (try StoreFixture.release(try Self.one()), "")
        case .update:
            (try StoreFixture.release(try Self.two(), names: ["weights.gguf", "tokenizer/deep/merges.txt"]), "")
        case .replacement: (try StoreFixture.release(try Self.one(), salt: "!"), "!")
        case .twin: (try Self.twin(), "")
        case .removal, .clearance: nil
        }
    }

    private static func twin() throws -> Release {
        var release = try StoreFixture.release(try one())
        release.identity = try two()
        return release
    }

    /// Brings a home to where the change begins; returns the files on their way in.
    func prepare(_ fixture: StoreFixture) async throws -> [StagedFile] {
        switch self {
        case .first: try LocalFileSystem().makeFolders(fixture.home)
        case .update, .replacement, .twin: try await fixture.install(try Self.one(), activate: true)
        case .removal, .clearance:
            try await fixture.install(try Self.one(), activate: true)
            try await fixture.install(try Self.two(), activate: true)
        }
        if self == .twin { return try fixture.stage(try StoreFixture.release(try Self.one())) }
        return try incoming().map { try fixture.stage($0.release, salt: $0.salt) } ?? []
    }

    /// Makes the change, or what of it is still to be made.
    func run(_ store: ModelStore, _ files: [StagedFile]) async throws {
        if let incoming = try incoming() {
            var installed = try await store.installed().first { release in
                release.identity.published == incoming.release.identity
                    && release.receipt.files.contains { $0.digest == files[0].digest }
            }
            if installed == nil {
                installed = try await store.install(incoming.release, files: files, origin: nil)
            }
            try await store.activate(try #require(installed).identity)
            return
        }
        let two = try Self.two()
        guard self == .removal else {
            if try await !store.installed().isEmpty { try await store.remove(two.family, version: nil, variant: nil) }
            return
        }
        if try await store.installed(two) != nil {
            try await store.remove(two.family, version: two.version, variant: two.variant)
        }
    }

    /// Checks a home after an interruption, as the next process finds it.
    func checkInterrupted(_ store: ModelStore, _ files: [StagedFile], _ note: String) async throws {
        let active = try await check(store, note)
        switch self {
        case .first: #expect(try active == nil || active == Self.one(), "\(note)")
        case .update, .removal, .twin: #expect(try active == Self.one() || active == Self.two(), "\(note)")
        case .replacement: #expect(try active?.published == Self.one(), "\(note)")
        case .clearance: #expect(try active == nil || active == Self.two(), "\(note)")
        }
        // Nothing verified is lost: the bytes are installed, or still where the transfer left them.
        let installed = Set(try await store.installed().flatMap { $0.receipt.files.map(\.digest) })
        for file in files where !installed.contains(file.digest) {
            let digest = try LocalFileSystem().digest(ofFile: file.path)
            #expect(digest == file.digest, "\(note)")
        }
    }

    /// Checks a home in which the change was made.
    func checkDone(_ store: ModelStore, _ note: String) async throws {
        let active = try await check(store, note)
        switch self {
        case .first, .removal: #expect(try active == Self.one(), "\(note)")
        case .update, .twin: #expect(try active == Self.two(), "\(note)")
        case .clearance: #expect(active == nil, "\(note)")
        case .replacement:
            #expect(try active?.content != nil && active?.published == Self.one(), "\(note)")
            let path = try #require(try await store.active(try Self.one().family)?.weights)
            #expect(try String(contentsOf: path.url, encoding: .utf8).hasPrefix("weights.gguf!"), "\(note)")
        }
    }

    /// What always holds: whatever is listed is whole to the last byte, and nothing unfinished is in sight.
    private func check(_ store: ModelStore, _ note: String) async throws -> ReleaseIdentity? {
        let inventory = try await store.inventory()
        #expect(inventory.damaged.isEmpty, "\(note): \(inventory.damaged.map(\.problem))")
        for release in inventory.releases {
            let report = try await store.verify(release)
            #expect(report.isIntact && report.unexpected.isEmpty, "\(note): \(report)")
        }
        let names = FileManager.default.enumerator(atPath: store.layout.models.string)?.compactMap { $0 as? String }
        #expect(names?.filter { $0.contains(Path.temporaryMark) } ?? [] == [], "\(note)")
        let active = try await store.active(try Self.one().family)
        #expect(active.map { inventory.releases.contains($0) } ?? true, "\(note)")
        return active?.identity
    }
}
