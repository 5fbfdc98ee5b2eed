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

        /// The receipt, if it could be read.
        package var receipt: Receipt? {
            switch self {
            case .whole(let receipt): receipt
            case .damaged(let receipt, _): receipt
            case .absent: nil
            }
        }

        /// Whether the release can be used.
        var isWhole: Bool { if case .whole = self { true } else { false } }
    }

    package let layout: HomeLayout
    package let fileSystem: any FileSystem

    /// Every family that has a folder.
    package func families() throws -> [Family] { try families(in: layout.models) }

    /// Every family that has a folder in `root`.
    func families(in root: Path) throws -> [Family] {
        try names(in: root).compactMap(Family.init).filter { try isFolder(root.joined($0.name)) }
    }

    /// Every release of a family that has a folder, whole or not.
    package func releases(of family: Family) throws -> [ReleaseIdentity] { try releases(of: family, in: layout.models) }

    /// Every release of a family that has a folder in the family's folder in `root`.
    func releases(of family: Family, in root: Path) throws -> [ReleaseIdentity] {
        let folder = root.joined(family.name)
        guard try isFolder(folder) else { return [] }
        return try names(in: folder).compactMap { ReleaseIdentity(family: family, folderName: $0) }
            .filter { try !HomeLayout.isReserved($0) && isFolder(folder.joined($0.folderName)) }
            .sorted(by: ReleaseIdentity.isListedBefore)
    }

    /// Every release that has a folder, whole or not, by family.
    package func releases() throws -> [ReleaseIdentity] { try families().sorted().flatMap(releases) }

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
            guard let receipt = try findBeforeChange(other).receipt else { continue }
            if receipt.content == content { return other }
            if other == identity.published { isTaken = true }
        }
        return isTaken ? identity.tagged(ContentTag(of: content)) : identity.published
    }

    /// Examines the folder of a release.
    package func find(_ identity: ReleaseIdentity) throws -> Finding {
        try exists(identity) ? examine(layout.folder(of: identity), expecting: identity) : .absent
    }

    /// Examines the folder of a release before a change that depends on its damage.
    /// - Throws: `FileError` if a failing disk hides the receipt: that is no damage.
    func findBeforeChange(_ identity: ReleaseIdentity) throws -> Finding {
        let finding = try find(identity)
        if case .damaged(nil, let problem) = finding, let cause = problem.underlying as? FileError { throw cause }
        return finding
    }

    /// Whether a release has a folder.
    func exists(_ identity: ReleaseIdentity) throws -> Bool { try isFolder(below: layout.folder(of: identity)) }

    /// Whether a path is a folder in a real folder: that of a family could be a link, which leads anywhere.
    func isFolder(below path: Path) throws -> Bool { try isFolder(path.parent) && isFolder(path) }

    /// The files below a release's folder, without its receipt. Not all are in the receipt.
    func files(of identity: ReleaseIdentity) throws -> [FileStatus] {
        let folder = layout.folder(of: identity)
        return try fileSystem.files(below: folder).filter { $0 != "receipt.json" }.compactMap { name in
            try fileSystem.status(at: folder.joined(name), followLinks: false)
        }.filter { $0.kind == .file }
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
        var files = ReleaseFolder(path: folder, fileSystem: fileSystem)
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
