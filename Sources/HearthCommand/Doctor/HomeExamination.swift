import Foundation
import Hearth
import HearthBase

/// Examines a home folder without the store, so that it works even if the store refuses the home.
struct HomeExamination: Sendable {
    let home: Path
    let fileSystem: any FileSystem

    private typealias Fact = DoctorReport.Fact
    private typealias Finding = DoctorReport.Finding

    /// The chapter on the home, and its findings. Blocks.
    func result() -> (DoctorReport.Chapter, [DoctorReport.Finding]) {
        var facts = [Fact(name: "folder", value: home.string)]
        var findings: [Finding] = []
        do {
            let existing = try nearestExisting()
            let free = try fileSystem.freeSpace(at: existing)
            facts.append(Fact(name: "free space", value: ByteCount(free).description))
            findings += Self.space(free, at: existing).map { [$0] } ?? []
            if existing != home {
                facts.append(Fact(name: "state", value: "not made yet; the first pull makes it"))
            } else {
                facts.append(Fact(name: "layout", value: try layout() ?? "none yet"))
                facts.append(Fact(name: "transfers", value: try transfers()))
            }
            if existing == home { findings += AccessExamination(home: home, fileSystem: fileSystem).findings() }
            try checkWritable(existing)
            findings += try Configuration.load(home: home).problems.map { Finding($0) }
        } catch {
            findings.append(Finding(error))
        }
        return (DoctorReport.Chapter(title: "Home", facts: facts), findings)
    }

    /// The home, or the nearest existing folder above it.
    private func nearestExisting() throws -> Path {
        var path = home
        while true {
            if let status = try fileSystem.status(at: path) {
                guard status.kind == .folder else {
                    throw FileError(errno: ENOTDIR, doing: "use", path: path)
                }
                return path
            }
            guard path.parent != path else { return path }
            path = path.parent
        }
    }

    private func layout() throws -> String? {
        let path = home.appending("layout")
        guard try fileSystem.status(at: path) != nil else { return nil }
        return String(decoding: try fileSystem.contents(ofFile: path, limit: 4096), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The disk space used by unfinished transfers.
    private func transfers() throws -> String {
        let folder = home.appending("transfers")
        guard try fileSystem.status(at: folder) != nil else { return "none" }
        let names = try fileSystem.contents(of: folder)
        let bytes = try names.reduce(UInt64(0)) { try $0 + size(of: Path(folder.string + "/" + $1), depth: 4) }
        return names.isEmpty ? "none" : "\(names.count) unfinished, \(ByteCount(bytes)) on the disk"
    }

    private func size(of path: Path, depth: Int) throws -> UInt64 {
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return 0 }
        guard status.kind == .folder, depth > 0 else { return status.allocatedSize }
        return try fileSystem.contents(of: path)
            .reduce(UInt64(0)) { try $0 + size(of: Path(path.string + "/" + $1), depth: depth - 1) }
    }

    private func checkWritable(_ folder: Path) throws {
        guard access(folder.string, W_OK | X_OK) != 0 else { return }
        throw FileError(errno: errno, doing: "write in", path: folder)
    }

    /// Below this many bytes notes and settings cannot be kept for long.
    private static let leastSpace: UInt64 = 64 << 20
    /// Below this many bytes few models fit.
    private static let littleSpace: UInt64 = 1 << 30

    private static func space(_ free: UInt64, at path: Path) -> DoctorReport.Finding? {
        if free < leastSpace {
            return Finding(
                severity: .problem, code: "disk-full", message: "\(ByteCount(free)) are free at \(path)",
                cure: "Free some space: `hearth prune --dry-run` shows what Hearth can do without.")
        }
        guard free < littleSpace else { return nil }
        return Finding(
            severity: .note, code: "disk-nearly-full", message: "\(ByteCount(free)) are free at \(path)",
            cure: "Most models need more: `hearth prune --dry-run` shows what Hearth can do without.")
    }
}
