import Foundation
import HearthBase
import HearthCatalog

/// Reads the installed releases. Blocks, changes nothing, follows no link below the models folder.
package struct ReleaseDirectory: Sendable {
    /// State of a release's folder.
    package enum Finding: Sendable {
        case absent
        case whole(Receipt)
        case damaged(Receipt?, StoreError)
    }

    package let layout: HomeLayout
    package let fileSystem: any FileSystem

    /// Every family that has a folder.
    package func families() throws -> [Family] {
        try names(in: layout.models).compactMap { name in
            guard let family = Family(name), try isFolder(layout.folder(of: family)) else { return nil }
            return family
        }
    }

    /// Every release of a family that has a folder, whole or not.
    package func releases(of family: Family) throws -> [ReleaseIdentity] {
        guard try isFolder(layout.folder(of: family)) else { return [] }
        return try names(in: layout.folder(of: family)).compactMap { name -> ReleaseIdentity? in
            guard let identity = ReleaseIdentity(family: family, folderName: name), identity.folderName == name,
                !HomeLayout.isReserved(identity), try isFolder(layout.folder(of: identity))
            else { return nil }
            return identity
        }.sorted(by: ReleaseIdentity.isListedBefore)
    }

    /// The releases of one version and variant: the plain name, and those with a content tag.
    package func releases(publishedAs identity: ReleaseIdentity) throws -> [ReleaseIdentity] {
        try releases(of: identity.family).filter { $0.published == identity.published }
    }

    /// The identity for a release with these bytes: that of an installed release with the same bytes, else the plain
    /// name, else, if other bytes have the plain name, one with a content tag.
    ///
    /// A release whose receipt is damaged keeps its name: its bytes may be the same.
    /// - Throws: `FileError` if a failing disk hides a receipt.
    package func identity(for content: SHA256Digest, publishedAs identity: ReleaseIdentity) throws -> ReleaseIdentity {
        var isTaken = false
        for other in try releases(publishedAs: identity) {
            switch try find(other) {
            case .whole(let receipt), .damaged(let receipt?, _):
                if receipt.content == content { return other }
                if other == identity.published { isTaken = true }
            case .damaged(nil, let problem): if let cause = problem.underlying as? FileError { throw cause }
            case .absent: break
            }
        }
        return isTaken ? identity.tagged(ContentTag(of: content)) : identity.published
    }

    /// Examines the folder of a release.
    package func find(_ identity: ReleaseIdentity) throws -> Finding {
        // A family's folder that is a link could lead anywhere.
        guard try isFolder(layout.folder(of: identity.family)), try isFolder(layout.folder(of: identity)) else {
            return .absent
        }
        return try examine(layout.folder(of: identity), expecting: identity)
    }

    /// Reads a folder's receipt and compares names and sizes with it.
    func examine(_ folder: Path, expecting identity: ReleaseIdentity?) throws -> Finding {
        let path = HomeLayout.receipt(in: folder)
        let receipt: Receipt
        do {
            guard let status = try fileSystem.status(at: path, followLinks: false) else {
                return .damaged(nil, Self.receiptDamaged(identity, path, "is missing"))
            }
            guard status.kind == .file, status.size <= Receipt.sizeLimit else {
                return .damaged(nil, Self.receiptDamaged(identity, path, "is not a receipt"))
            }
            receipt = try Receipt(
                data: try fileSystem.contents(ofFile: path, limit: Int(Receipt.sizeLimit)))
        } catch {
            return .damaged(nil, Self.receiptDamaged(identity, path, "cannot be read", error))
        }
        guard identity == nil || receipt.identity == identity else {
            return .damaged(nil, Self.receiptDamaged(identity, path, "is that of \(receipt.identity)"))
        }
        var files = ReleaseFolder(folder, fileSystem: fileSystem)
        for file in receipt.files {
            let path = folder.appending(file.name)
            let status = try files.status(of: file.name)
            guard let status, status.kind == .file, status.size == file.size else {
                return .damaged(receipt, Self.releaseDamaged(receipt.identity, path, file, status))
            }
        }
        return .whole(receipt)
    }

    /// The names in a folder, empty if it does not exist.
    package func names(in folder: Path) throws -> [String] {
        do {
            return try fileSystem.contents(of: folder)
        } catch let error as FileError where error.code == .notFound {
            return []
        }
    }

    func isFolder(_ path: Path) throws -> Bool {
        try fileSystem.status(at: path, followLinks: false)?.kind == .folder
    }

    private static func receiptDamaged(
        _ identity: ReleaseIdentity?, _ path: Path, _ what: String, _ cause: (any Error)? = nil
    ) -> StoreError {
        let model = identity?.description ?? "an unfinished release"
        return StoreError(
            .receiptDamaged, "the receipt of \(model) \(what)",
            context: ErrorContext(
                model: identity?.description, file: path.string, remedy: "Pull the model again, or remove it."),
            underlying: cause)
    }

    private static func releaseDamaged(
        _ identity: ReleaseIdentity, _ path: Path, _ file: Receipt.File, _ status: FileStatus?
    ) -> StoreError {
        let found =
            switch status?.kind {
            case nil: "nothing"
            case .file: "\(status?.size ?? 0) bytes"
            default: "no regular file"
            }
        return StoreError(
            .releaseDamaged, "\(identity) is damaged: \(file.name) is not as it was installed",
            context: ErrorContext(
                model: identity.description, file: path.string, expected: "\(file.size) bytes", found: found,
                remedy: "Pull the model again, or remove it."))
    }
}
