import Foundation
import HearthBase
import HearthCatalog

/// Reads, writes and removes the marks of processes that work with releases. Blocks.
package struct MarkFiles: Sendable {
    /// A mark and its place.
    package struct Found: Sendable, Hashable {
        package let release: ReleaseIdentity
        package let token: String
        /// `nil` for a file that is not a mark; such a file is removed.
        package let mark: ActivityMark?

        /// The date of the mark; the distant past for a file that is not a mark.
        var began: Date { mark?.since ?? .distantPast }
    }

    package let layout: HomeLayout
    package let fileSystem: any FileSystem
    var renewalTime = TimeSource.system

    private func folder(_ path: Path) -> ClaimFolder { ClaimFolder(path, in: layout.marks, fileSystem: fileSystem) }

    private func folder(of release: ReleaseIdentity) -> ClaimFolder { folder(layout.marksFolder(of: release)) }

    /// The families that have marks.
    package func families() throws -> [Family] {
        try folder(layout.marks).names().compactMap(Family.init).filter {
            try folder(layout.marksFolder(of: $0)).exists
        }
    }

    /// Every mark of a family, in a stable order.
    package func all(of family: Family) throws -> [Found] {
        try folder(layout.marksFolder(of: family)).names()
            .compactMap { ReleaseIdentity(family: family, folderName: $0) }
            .flatMap { release in
                let folder = folder(of: release)
                // A process removes its marks without a lock: a listed mark may no longer exist.
                return try folder.tokens().compactMap { token in
                    try folder.claim(token).map {
                        Found(release: release, token: token, mark: $0.claim.flatMap(ActivityMark.init))
                    }
                }
            }
    }

    /// Brings a mark to the disk. It replaces an earlier mark with the same token.
    package func put(_ mark: ActivityMark, _ release: ReleaseIdentity, token: String) throws {
        try folder(of: release).put(mark.named(token).claim)
    }

    /// Renews the mark of a token until the result is stopped, so that other containers see that its process is alive.
    package func renewing(_ release: ReleaseIdentity, token: String) -> ClaimRenewal {
        let folder = folder(of: release)
        return ClaimRenewal(time: renewalTime) { _ = try folder.renew(token, at: $0) }
    }

    /// Removes a mark durably: a power cut does not bring it back.
    package func remove(_ release: ReleaseIdentity, token: String) throws {
        try folder(of: release).remove(token)
    }

    /// Removes empty folders and unfinished files. A process that is writing one at the same time writes it again.
    func tidy(_ family: Family) throws {
        let outer = folder(layout.marksFolder(of: family))
        for name in try outer.names() {
            let inner = folder(outer.file(name))
            for name in try inner.names() where ClaimFolder.isUnfinished(name) {
                try fileSystem.removeFile(inner.file(name))
            }
            try inner.removeIfEmpty()
        }
        try outer.removeIfEmpty()
    }
}
