import HearthBase
import HearthCatalog

extension ModelStore {
    /// Takes a lease on an installed release: until it is given back, no process deletes the release's files.
    ///
    /// If another process is removing the release and puts it back because it is read, the lease waits for that.
    /// - Throws: `not-installed`, `home-busy`, `home-unusable`.
    package func lease(_ identity: ReleaseIdentity) async throws -> ReleaseLease {
        try await inspect()
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        do {
            return try leases.acquire(identity)
        } catch let error as StoreError where error.code == .notInstalled {
            guard try fileSystem.status(at: layout.folder(of: identity.family), followLinks: false) != nil else {
                throw error
            }
            // While this process holds the commit lock, no removal is under way: the release is installed or it is not.
            return try await committing { try leases.acquire(identity) }
        }
    }
}
