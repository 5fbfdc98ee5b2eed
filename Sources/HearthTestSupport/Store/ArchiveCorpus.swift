import Foundation
import HearthBase
import HearthCatalog
import HearthStore

/// The archives of `scripts/tests/archives.py`, made once for all tests.
package struct ArchiveCorpus {
    package struct Item: Sendable, CustomStringConvertible {
        package let path: Path
        package let format: ArchiveFormat
        /// The error code of a refused archive, `nil` for a valid one.
        package let code: String?

        package var description: String { path.lastComponent }
        package var data: Data { get throws { try Data(contentsOf: path.url) } }
    }

    package static let shared = Result { try ArchiveCorpus() }

    package let folder: TemporaryFolder
    package let items: [Item]

    private init() throws {
        folder = try TemporaryFolder()
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", root.appending(path: "scripts/tests/archives.py").path, folder.path("archives").string,
            folder.path("outside").string,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw MissingValue() }
        let folder = folder
        items = try text.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3 else { throw MissingValue() }
            return Item(
                path: folder.path("archives/" + words[0]), format: try required(ArchiveFormat(rawValue: words[1])),
                code: words[2] == "taken" ? nil : words[2])
        }
    }

    package static func item(_ name: String) throws -> Item {
        try required(try shared.get().items.first { $0.path.lastComponent == name })
    }
}

extension StoreFixture {
    /// A release in a packed archive.
    package static func packed(
        _ identity: ReleaseIdentity, format: ArchiveFormat, member: String? = nil, data: Data,
        filename: String = "model.bin"
    ) throws -> Release {
        var release = Release(
            identity: identity, id: "\(identity)",
            file: RemoteFile(
                name: try required(RelativePath(filename)), size: .exact(UInt64(data.count)),
                digest: SHA256Digest(hashing: data), locations: [URL(filePath: "/srv/\(filename)")]))
        release.archive = Archive(format: format, member: try member.map { try required(RelativePath($0)) })
        return release
    }

    /// Puts an archive where a transfer would put it.
    package func stage(archive data: Data, of release: Release) throws -> StagedFile {
        let digest = SHA256Digest(hashing: data)
        return StagedFile(
            name: release.file.name, path: try folder.write("home/transfers/\(digest)/data.part", data),
            size: UInt64(data.count), digest: digest, isVerified: true)
    }

    /// Every path below the test's folder, with its content or its link's target.
    package func everything() throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try LocalFileSystem().files(below: folder.path) {
            let path = folder.path(name)
            let status = try required(try LocalFileSystem().status(at: path, followLinks: false))
            found[name] =
                status.kind == .file ? try LocalFileSystem().digest(ofFile: path).hex : "\(status.kind)"
        }
        for case let name as String in FileManager.default.enumerator(atPath: folder.path.string) ?? .init() {
            found[name] = found[name] ?? "folder"
        }
        return found
    }
}
