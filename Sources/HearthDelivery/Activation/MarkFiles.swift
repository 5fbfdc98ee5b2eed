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
                if let mark = try find(release, token) { found.append(mark) }
            }
        }
        return found
    }

    /// What a name stands for; `nil` where it is gone since it was listed, for a process takes its marks away without a lock.
    private func find(_ release: ReleaseIdentity, _ token: String) throws -> Found? {
        let path = path(release, token)
        do {
            guard let status = try fileSystem.status(at: path, followLinks: false) else { return nil }
            guard status.kind == .file, status.size <= ActivityMark.sizeLimit else {
                return Found(release: release, token: token, mark: nil)
            }
            let data = try fileSystem.contents(ofFile: path, limit: Int(ActivityMark.sizeLimit))
            return Found(release: release, token: token, mark: try ActivityMark(data: data))
        } catch is DecodingError {
            return Found(release: release, token: token, mark: nil)
        } catch let error as FileError where error.code == .notFound {
            return nil
        }
    }

    /// Brings a mark to the disk, in place of an earlier one of the token.
    func put(_ mark: ActivityMark, _ release: ReleaseIdentity, token: String) throws {
        let data = try mark.data()
        var attempt = 1
        while true {
            do {
                try fileSystem.makeFolders(layout.marksFolder(of: release))
                return try fileSystem.replaceContents(of: path(release, token), with: data)
            } catch let error as FileError where error.code == .notFound && attempt < 4 {
                // Somebody tidied up, and took the empty folder or what was not finished for left behind.
                attempt += 1
            }
        }
    }

    /// Takes a mark away, also from what a power cut would leave.
    func remove(_ release: ReleaseIdentity, token: String) throws {
        let path = path(release, token)
        guard try fileSystem.status(at: path, followLinks: false) != nil else { return }
        try fileSystem.removeFile(path)
        var folder = path.parent
        while true {
            do {
                return try fileSystem.synchronizeFolder(folder)
            } catch let error as FileError where error.code == .notFound && folder != layout.marks {
                // Somebody tidied the folder away: then that has to reach the disk.
                folder = folder.parent
            }
        }
    }

    /// Removes folders in which nothing is left, with files that were never finished. Whoever is just writing one writes it again.
    func tidy(_ family: Family) throws {
        let folder = layout.marksFolder(of: family)
        guard try shelf.isFolder(folder) else { return }
        for name in try shelf.names(in: folder) {
            let path = HomeLayout.join(folder, name)
            guard try shelf.isFolder(path) else { continue }
            for name in try shelf.names(in: path) where HomeLayout.isTemporary(name) {
                try fileSystem.removeFile(HomeLayout.join(path, name))
            }
            try removeIfEmpty(path)
        }
        try removeIfEmpty(folder)
    }

    private func removeIfEmpty(_ folder: Path) throws {
        guard try shelf.names(in: folder).isEmpty else { return }
        do {
            try fileSystem.removeFolder(folder)
        } catch let error as FileError where error.code == .alreadyExists || error.code == .notFound {
            // A mark came, or somebody else was quicker.
        }
    }

    private func path(_ release: ReleaseIdentity, _ token: String) -> Path {
        HomeLayout.join(layout.marksFolder(of: release), token)
    }
}
