import HearthBase

/// The space that releases take on the disk, each file once however many names it has.
public struct DiskUse: Sendable, Hashable {
    /// The bytes of files, each counted once.
    public internal(set) var bytes: UInt64 = 0
    /// What each release takes alone: the bytes that removing it would free.
    public internal(set) var exclusive: [ReleaseIdentity: UInt64] = [:]
}

/// Which release has a name for which file. A value that answers what is freed when some of them go.
struct FileOwners: Sendable, Hashable {
    private struct File: Sendable, Hashable {
        let size: UInt64
        var owners: Set<ReleaseIdentity> = []
    }

    private var files: [FileIdentity: File] = [:]

    /// Notes that a release has a name for a file.
    mutating func add(_ identity: FileIdentity, size: UInt64, of release: ReleaseIdentity) {
        files[identity, default: File(size: size)].owners.insert(release)
    }

    /// The bytes of all files.
    var total: UInt64 { files.values.map(\.size).saturatedSum }

    /// The bytes that are freed when these releases go, and no other.
    func freed(by leaving: Set<ReleaseIdentity>) -> UInt64 {
        files.values.filter { $0.owners.isSubset(of: leaving) }.map(\.size).saturatedSum
    }

    /// The bytes each release takes alone.
    var exclusive: [ReleaseIdentity: UInt64] {
        files.values.reduce(into: [:]) { sums, file in
            guard file.owners.count == 1, let owner = file.owners.first else { return }
            sums[owner] = [sums[owner] ?? 0, file.size].saturatedSum
        }
    }
}

extension ModelStore {
    /// The space that installed releases take, damaged ones too.
    public func diskUse() async throws -> DiskUse {
        try await inspect()
        let owners = try owners(of: try shelf.families().flatMap { try shelf.releases(of: $0) })
        return DiskUse(bytes: owners.total, exclusive: owners.exclusive)
    }

    /// Which release has a name for which file, by what is really there.
    func owners(of releases: [ReleaseIdentity]) throws -> FileOwners {
        var owners = FileOwners()
        for identity in releases {
            let folder = layout.folder(of: identity)
            for name in try fileSystem.files(below: folder) where name != "receipt.json" {
                let path = HomeLayout.join(folder, name)
                guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file else {
                    continue
                }
                owners.add(status.identity, size: status.size, of: identity)
            }
        }
        return owners
    }
}
