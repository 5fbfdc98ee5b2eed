import Foundation
import HearthBase

/// Reads, writes and clears the marks of what processes do with releases. Blocks.
struct MarkFiles: Sendable {
    /// A mark and where it lies.
    struct Found: Sendable, Hashable {
        let release: ReleaseIdentity
        let token: String
        /// `nil` for a file that is none: it tells nothing, and goes.
        let mark: ActivityMark?
    }

    let layout: HomeLayout
    let fileSystem: any FileSystem

    private var shelf: ReleaseShelf { ReleaseShelf(layout: layout, fileSystem: fileSystem) }

    /// The families somebody does, or did, something with.
    func families() throws -> [Family] {
        try shelf.names(in: layout.marks).compactMap { name in
            guard let family = Family(name), try shelf.isFolder(layout.marksFolder(of: family)) else { return nil }
            return family
        }
    }

    /// Every mark of a family, in an order that is always the same.
    func all(of family: Family) throws -> [Found] {
        let folder = layout.marksFolder(of: family)
        guard try shelf.isFolder(folder) else { return [] }
        var found: [Found] = []
        for name in try shelf.names(in: folder) {
            guard let release = ReleaseIdentity(family: family, folderName: name) else { continue }
            guard try shelf.isFolder(layout.marksFolder(of: release)) else { continue }
            for token in try shelf.names(in: layout.marksFolder(of: release)) where ActivityMark.isToken(token) {
                found.append(Found(release: release, token: token, mark: try read(release, token)))
            }
        }
        return found
    }

    private func read(_ release: ReleaseIdentity, _ token: String) throws -> ActivityMark? {
        let path = path(release, token)
        do {
            guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file,
                status.size <= ActivityMark.sizeLimit
            else { return nil }
            return try ActivityMark(
                data: try fileSystem.contents(ofFile: path, limit: Int(ActivityMark.sizeLimit)))
        } catch is DecodingError {
            return nil
        }
    }

    /// Brings a mark to the disk, in place of an earlier one of the token.
    func put(_ mark: ActivityMark, _ release: ReleaseIdentity, token: String) throws {
        try fileSystem.makeFolders(layout.marksFolder(of: release))
        try fileSystem.replaceContents(of: path(release, token), with: try mark.data())
    }

    /// Takes a mark away, also from what a power cut would leave.
    func remove(_ release: ReleaseIdentity, token: String) throws {
        let path = path(release, token)
        guard try fileSystem.status(at: path, followLinks: false) != nil else { return }
        try fileSystem.removeFile(path)
        try fileSystem.synchronizeFolder(path.parent)
    }

    /// Removes folders in which nothing is left, with files that were never finished.
    func tidy(_ family: Family) throws {
        let folder = layout.marksFolder(of: family)
        guard try shelf.isFolder(folder) else { return }
        for name in try shelf.names(in: folder) {
            let path = HomeLayout.join(folder, name)
            guard try shelf.isFolder(path) else { continue }
            for name in try shelf.names(in: path) where HomeLayout.isTemporary(name) {
                try fileSystem.removeFile(HomeLayout.join(path, name))
            }
            if try shelf.names(in: path).isEmpty { try fileSystem.removeFolder(path) }
        }
        if try shelf.names(in: folder).isEmpty { try fileSystem.removeFolder(folder) }
    }

    private func path(_ release: ReleaseIdentity, _ token: String) -> Path {
        HomeLayout.join(layout.marksFolder(of: release), token)
    }
}
