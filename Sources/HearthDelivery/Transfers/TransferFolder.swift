import Foundation
import HearthBase

/// One transfer's folder on the disk, seen from outside: what is in it, what it is for, and how it goes. Every call blocks.
struct TransferFolder: Sendable {
    let key: TransferKey
    let path: Path
    let fileSystem: any FileSystem

    init(_ key: TransferKey, in folder: Path, fileSystem: any FileSystem) {
        self.key = key
        path = folder.appending(key.component)
        self.fileSystem = fileSystem
    }

    /// What stands in the place of a plan.
    enum FoundPlan: Sendable {
        case absent
        case plan(TransferPlan)
        /// Damaged, hostile, or of a later version.
        case unreadable(String)

        var plan: TransferPlan? { if case .plan(let plan) = self { plan } else { nil } }
    }

    private var planPath: Path { path.appending("plan.json") }

    /// The folders below `folder`, sorted by name.
    static func all(in folder: Path, fileSystem: any FileSystem) throws -> [TransferFolder] {
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

    /// Whether it is there.
    func exists() throws -> Bool { try fileSystem.status(at: path, followLinks: false)?.kind == .folder }

    /// What the transfer is for.
    func plan() throws -> FoundPlan {
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

    /// A mark that changes with every change of the plan; cheap to look at.
    func planMark() throws -> FileIdentity? { try fileSystem.status(at: planPath, followLinks: false)?.identity }

    /// Writes the plan of a transfer that begins or goes on; it keeps the date of its first beginning.
    func begin(_ plan: TransferPlan) throws {
        var plan = plan
        if case .plan(let earlier) = try self.plan(), earlier.digest == plan.digest { plan.created = earlier.created }
        try fileSystem.makeFolders(path)
        try fileSystem.replaceContents(of: planPath, with: try plan.data())
    }

    /// Tells whoever runs the transfer, now or later, what is wanted of it.
    /// - Returns: whether there is a plan to write it into.
    func wish(_ wish: TransferPlan.Wish) throws -> Bool {
        guard case .plan(var plan) = try plan() else { return false }
        if plan.wish == wish { return true }
        plan.wish = wish
        try fileSystem.replaceContents(of: planPath, with: try plan.data())
        return true
    }

    /// Bytes that are here.
    struct Bytes: Sendable, Hashable {
        /// Those a later attempt does not fetch again.
        var recorded: UInt64 = 0
        /// What they occupy on the disk, reserved space and records included.
        var allocated: UInt64 = 0
        /// The length of the file, where it is known.
        var total: UInt64?
        /// The last change.
        var changed: Date?
    }

    /// How much is here, by the transfer's own record.
    func bytes(_ plan: TransferPlan?) throws -> Bytes {
        var bytes = Bytes(total: plan?.size)
        do {
            for name in try fileSystem.contents(of: path) {
                guard let status = try fileSystem.status(at: HomeLayout.join(path, name), followLinks: false) else {
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

    /// Takes the folder away, under its lock: first its name, so that nobody begins in a half-empty one.
    func remove() throws {
        let parent = path.parent
        let aside = parent.appendingTemporary(besides: Self.removedName)
        do {
            try fileSystem.rename(path, to: aside)
        } catch let error as FileError where error.code == .notFound {
            return
        }
        try fileSystem.synchronizeFolder(parent)
        do {
            try fileSystem.removeTree(aside)
        } catch let error as FileError where error.code == .notFound {
            // A process that starts clears up such folders too.
        }
    }

    /// The beginning of the name of a folder on its way out.
    static let removedName = "removed"
}
