import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// A home folder for one test, and small releases to install in it.
package struct StoreFixture {
    package static let origin = Origin(name: "main", manifestURL: URL(filePath: "/srv/models.json"))

    package let folder: TemporaryFolder
    package let home: Path
    package let store: ModelStore
    package let fileSystem: any FileSystem
    package let time: TimeSource
    package let archives: ArchiveLibrary

    /// Makes a home folder. On this clock every wait ends at once, so a store that waits for a held lock fails soon.
    package init(
        fileSystem: any FileSystem = LocalFileSystem(), time: TimeSource = HurriedClock().time,
        archives: ArchiveLibrary = .standard
    ) throws {
        folder = try TemporaryFolder()
        home = folder.path("home")
        self.fileSystem = fileSystem
        self.time = time
        self.archives = archives
        store = ModelStore(home: home, fileSystem: fileSystem, time: time, archives: archives)
    }

    package var layout: HomeLayout { HomeLayout(home: home) }

    /// A second store on the same home, as in another process.
    package func anotherStore() -> ModelStore {
        ModelStore(home: home, fileSystem: fileSystem, time: time, archives: archives)
    }

    package static func identity(
        _ version: String = "1.0.0", family: String = "tiny", variant: String? = "q4"
    ) throws -> ReleaseIdentity {
        ReleaseIdentity(
            family: try required(Family(family)), version: try required(ReleaseVersion(version)),
            variant: try variant.map { try required(Variant($0)) })
    }

    package static func contents(_ name: String, of identity: ReleaseIdentity) -> Data {
        Data("\(name) of \(identity)".utf8)
    }

    package static func release(
        _ identity: ReleaseIdentity, names: [String] = ["weights.gguf"], salt: String = ""
    ) throws -> Release {
        let files = try names.map { name in
            let data = contents(name + salt, of: identity)
            return RemoteFile(
                name: try required(RelativePath(name)), role: name == names[0] ? .weights : .projector,
                size: .exact(UInt64(data.count)), digest: SHA256Digest(hashing: data), locations: [])
        }
        var release = Release(identity: identity, id: "\(identity)", file: try required(files.first))
        release.companions = Array(files.dropFirst())
        return release
    }

    /// Puts a release's files where a transfer would put them.
    package func stage(
        _ release: Release, salt: String = "", isVerified: Bool = true, below place: String = "home/transfers"
    ) throws -> [StagedFile] {
        try ([release.file] + release.companions).map { file in
            let data = Self.contents(file.name.string + salt, of: release.identity)
            let digest = SHA256Digest(hashing: data)
            return StagedFile(
                name: file.name, role: file.role, path: try folder.write("\(place)/\(digest)/data.part", data),
                size: UInt64(data.count), digest: digest, isVerified: isVerified)
        }
    }

    /// Installs a release, and activates it if requested.
    @discardableResult
    package func install(
        _ identity: ReleaseIdentity, names: [String] = ["weights.gguf"], activate: Bool = false, isVerified: Bool = true
    ) async throws -> InstalledRelease {
        let release = try Self.release(identity, names: names)
        let installed = try await store.install(
            release, files: try stage(release, isVerified: isVerified), origin: Self.origin)
        return activate ? try await store.activate(identity) : installed
    }

    /// The names of all unfinished files and folders below the home.
    package func temporaryNames() throws -> [String] {
        let names = FileManager.default.enumerator(atPath: home.string)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.contains(Path.temporaryMark) }
    }

    package func text(_ path: Path) throws -> String { try String(contentsOf: path.url, encoding: .utf8) }

    package func exists(_ path: Path) throws -> Bool {
        try LocalFileSystem().status(at: path, followLinks: false) != nil
    }
}

extension ModelStore {
    /// Hashes an installed release and its artifacts again.
    package func verify(
        _ release: InstalledRelease, progress: @escaping StoreProgress = { _, _ in }
    ) async throws -> VerificationReport {
        try await verify(release.identity, progress: progress)
    }
}

/// The stable code of the error a body throws, `nil` if it throws none.
package func code<Result>(of body: () async throws -> Result) async -> String? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? any HearthFailure)?.codeText ?? "\(type(of: error))"
    }
}
