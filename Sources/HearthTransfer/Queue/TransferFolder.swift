import Foundation
import HearthBase

/// One transfer's folder on the disk: its plan and the amount of its bytes. Every call blocks.
package struct TransferFolder: Sendable {
    package let key: TransferKey
    package let path: Path
    package let fileSystem: any FileSystem

    package init(_ key: TransferKey, in folder: Path, fileSystem: any FileSystem) {
        self.key = key
        path = folder.appending(key)
        self.fileSystem = fileSystem
    }

    /// The outcome of reading a plan.
    package enum FoundPlan: Sendable {
        case absent
        case plan(TransferPlan)
        /// Damaged, hostile, or of a later version.
        case unreadable(String)

        package var plan: TransferPlan? { if case .plan(let plan) = self { plan } else { nil } }
    }

    private var planPath: Path { path.appending("plan.json") }

    /// The folders below `folder`, sorted by name.
    package static func all(in folder: Path, fileSystem: any FileSystem) throws -> [TransferFolder] {
        let names: [String]
        do {
            names = try fileSystem.contents(of: folder)
        } catch let error as FileError where error.code == .notFound {
            return []
        }
        return try names.compactMap { name in
            guard let key = TransferKey(name) else { return nil }
            let found = TransferFolder(key, in: folder, fileSystem: fileSystem)
            return try fileSystem.status(at: found.path, followLinks: false)?.kind == .folder ? found : nil
        }
    }

    /// Whether the folder exists.
    func exists() throws -> Bool { try fileSystem.status(at: path, followLinks: false)?.kind == .folder }

    /// Reads the plan.
    package func plan() throws -> FoundPlan {
        guard let status = try fileSystem.status(at: planPath, followLinks: false) else { return .absent }
        guard status.kind == .file else { return .unreadable("it is no file") }
        guard status.size <= UInt64(TransferPlan.sizeLimit) else { return .unreadable("it is too large") }
        do {
            let data = try fileSystem.contents(ofFile: planPath, limit: TransferPlan.sizeLimit)
            return .plan(try TransferPlan(data: data))
        } catch let error as FileError where error.code == .notFound {
            return .absent
        } catch let error as FileError {
            throw error
        } catch {
            return .unreadable("\(error)")
        }
    }

    /// A mark that changes with every change of the plan; cheap to read.
    func planMark() throws -> FileIdentity? { try fileSystem.status(at: planPath, followLinks: false)?.identity }

    /// Writes the plan of a transfer that begins or continues into its locked folder. An earlier plan's date stays.
    package func begin(_ plan: TransferPlan, isSynced: Bool = true) throws {
        var plan = plan
        if case .plan(let earlier) = try self.plan(), earlier.digest == plan.digest { plan.created = earlier.created }
        try fileSystem.replaceContents(of: planPath, with: try plan.data(), isSynced: isSynced)
    }

    /// Pauses or resumes the transfer for the process that runs it, now or later.
    /// - Returns: whether there is a plan to write that into.
    func setPaused(_ isPaused: Bool) throws -> Bool {
        guard case .plan(var plan) = try plan() else { return false }
        if plan.isPaused == isPaused { return true }
        plan.isPaused = isPaused
        try fileSystem.replaceContents(of: planPath, with: try plan.data())
        return true
    }

    /// Records that the last attempt brought wrong bytes. Does nothing without a readable plan.
    func setCorrupted() throws {
        guard case .plan(var plan) = try plan() else { return }
        plan.isCorrupted = true
        try fileSystem.replaceContents(of: planPath, with: try plan.data())
    }

    /// Removes the plan: the process that runs the transfer, if any, then ends it.
    func removePlan() throws {
        guard try fileSystem.status(at: planPath, followLinks: false)?.kind != .folder else { return }
        try fileSystem.removeFile(planPath)
    }

    /// The bytes of a transfer on the disk.
    package struct Bytes: Sendable, Hashable {
        /// The bytes that a later attempt does not fetch again.
        var recorded: UInt64 = 0
        /// The space that they occupy on the disk, reservations and records included.
        var allocated: UInt64 = 0
        /// The length of the file, if it is known.
        package var total: UInt64?
        /// The last change.
        package var changed: Date?
    }

    /// Counts the transfer's bytes by its own record.
    package func bytes(_ plan: TransferPlan?) throws -> Bytes {
        var bytes = Bytes(total: plan?.size)
        do {
            for name in try fileSystem.contents(of: path) {
                guard let status = try fileSystem.status(at: path.joined(name), followLinks: false) else {
                    continue
                }
                bytes.allocated += status.allocatedSize
                if !name.hasPrefix("lease") && name != "lock" {
                    bytes.changed = max(bytes.changed ?? .distantPast, status.modified)
                }
            }
        } catch let error as FileError where error.code == .notFound {
            return bytes
        }
        guard let part = try fileSystem.status(at: path.appending("data.part"), followLinks: false),
            let journal = try TransferJournal.read(path.appending("journal"), in: fileSystem)
        else { return bytes }
        bytes.total = journal.size ?? bytes.total
        let recorded = journal.extents.reduce(0) { $0 + ($1.end - $1.start) }
        bytes.recorded = min(recorded, part.size)
        return bytes
    }

    /// Removes the folder, under its lock. It is renamed first, so that no process begins in a half-empty one.
    /// - Parameter isSynced: whether a power cut must not bring the transfer back.
    package func remove(isSynced: Bool = true) throws {
        let parent = path.parent
        let aside = parent.appendingTemporary(besides: Self.removedName)
        do {
            try fileSystem.rename(path, to: aside)
        } catch let error as FileError where error.code == .notFound {
            return
        }
        if isSynced { try fileSystem.synchronizeFolder(parent) }
        do {
            try fileSystem.removeTree(aside)
        } catch let error as FileError where error.code == .notFound {
            // A process that starts clears up such folders too.
        }
    }

    /// The beginning of the name of a folder that is being removed.
    static let removedName = "removed"
}
