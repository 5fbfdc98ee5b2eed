import HearthBase
import HearthCatalog

/// The releases that have a name for each file. A value that computes the space freed by removals.
package struct FileOwners: Sendable, Hashable {
    private struct File: Sendable, Hashable {
        let size: UInt64
        var owners: Set<ReleaseIdentity> = []
    }

    private var files: [FileIdentity: File] = [:]

    /// Adds a release's name for a file.
    package mutating func add(_ identity: FileIdentity, size: UInt64, of release: ReleaseIdentity) {
        files[identity, default: File(size: size)].owners.insert(release)
    }

    /// The bytes of all files.
    package var total: UInt64 { files.values.map(\.size).saturatedSum }

    /// The bytes that removing exactly these releases frees.
    package func freed(by leaving: Set<ReleaseIdentity>) -> UInt64 {
        files.values.filter { $0.owners.isSubset(of: leaving) }.map(\.size).saturatedSum
    }

    /// The bytes that removing each release alone would free.
    var exclusive: [ReleaseIdentity: UInt64] {
        files.values.reduce(into: [:]) { sums, file in
            guard file.owners.count == 1, let owner = file.owners.first else { return }
            sums[owner] = [sums[owner] ?? 0, file.size].saturatedSum
        }
    }
}

extension StoreHome {
    /// The releases that have a name for each file.
    func owners(of releases: [ReleaseIdentity]) throws -> FileOwners {
        var owners = FileOwners()
        for identity in releases {
            for file in try directory.files(of: identity) { owners.add(file.identity, size: file.size, of: identity) }
        }
        return owners
    }
}
