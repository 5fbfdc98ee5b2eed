import Foundation
import HearthBase
import HearthCatalog

/// Reads and switches the live release of a family. Blocks; changes are made under the commit lock.
package struct ActivationFiles: Sendable {
    package let layout: HomeLayout
    package let fileSystem: any FileSystem

    /// The live release and the one before, for readers. An unreadable record is ignored: the link alone is enough.
    package func state(of family: Family) throws -> ReleaseState {
        try reconciled(family) {
            do {
                return try recorded(family)
            } catch let error as FileError {
                Log.write(.warning, "activation", "the link of \(family) decides alone: \(error)")
                return ReleaseState()
            }
        }
    }

    /// The state before a change. Throws if the record cannot be read, because a record hidden by a failing disk must
    /// not be overwritten.
    func stateBeforeChange(of family: Family) throws -> ReleaseState {
        try reconciled(family) { try recorded(family) }
    }

    private func reconciled(_ family: Family, _ recorded: () throws -> ReleaseState) throws -> ReleaseState {
        let link = try self.link(of: family)
        if case .unusable(let why) = link {
            Log.write(.warning, "activation", "the link \(layout.activeLink(of: family)) is ignored: \(why)")
        }
        return try recorded().reconciled(with: link)
    }

    /// The target of the link, read as text and never followed.
    func link(of family: Family) throws -> ActiveLink {
        let path = layout.activeLink(of: family)
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return .absent }
        guard status.kind == .symbolicLink else { return .unusable("it is no symbolic link") }
        let target = try fileSystem.readLink(path)
        guard let identity = ReleaseIdentity(family: family, folderName: target), !HomeLayout.isReserved(identity)
        else {
            return .unusable("\(target) is not the name of a release")
        }
        guard try fileSystem.status(at: layout.folder(of: identity), followLinks: false)?.kind == .folder else {
            return .unusable("\(target) is not there")
        }
        return .release(identity)
    }

    /// The name of the release that the link leads to, installed or not; `nil` without a link.
    func linkedName(of family: Family) throws -> String? {
        let path = layout.activeLink(of: family)
        guard try fileSystem.status(at: path, followLinks: false)?.kind == .symbolicLink else { return nil }
        return try fileSystem.readLink(path)
    }

    /// The contents of `state.json`; an empty state if the file is missing or not understood.
    private func recorded(_ family: Family) throws -> ReleaseState {
        let path = layout.stateFile(of: family)
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return ReleaseState() }
        guard status.kind == .file, status.size <= ReleaseState.sizeLimit else {
            Log.write(.warning, "activation", "\(path) is no record, the link decides alone")
            return ReleaseState()
        }
        let data = try fileSystem.contents(ofFile: path, limit: Int(ReleaseState.sizeLimit))
        do {
            return try ReleaseState(data: data, family: family)
        } catch {
            Log.write(.warning, "activation", "\(path) is damaged, the link decides alone: \(error)")
            return ReleaseState()
        }
    }

    /// Writes `next` to the disk: the link first, then the record.
    package func write(_ next: ReleaseState, of family: Family) throws {
        let path = layout.activeLink(of: family)
        let link = try self.link(of: family)
        if let active = next.active {
            if link != .release(active) {
                if try fileSystem.status(at: path, followLinks: false)?.kind == .folder {
                    throw StoreError(
                        .homeUnusable, "\(path) is a folder where the link to the active release belongs",
                        context: ErrorContext(model: active.description, file: path.string, remedy: "Move it away."))
                }
                try fileSystem.replaceLink(at: path, with: active.folderName)
            } else {
                // An earlier attempt may have been interrupted before the link was on the disk.
                try fileSystem.synchronizeFolder(path.parent)
            }
        } else if link != .absent {
            try fileSystem.removeFile(path)
            try fileSystem.synchronizeFolder(path.parent)
        }
        try fileSystem.replaceContents(of: layout.stateFile(of: family), with: try next.data())
    }
}
