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
            facts.append(Fact(name: "free space", value: ByteCount(try fileSystem.freeSpace(at: existing)).description))
            if existing != home {
                facts.append(Fact(name: "state", value: "not made yet; the first pull makes it"))
            } else {
                facts.append(Fact(name: "layout", value: try layout() ?? "none yet"))
                facts.append(Fact(name: "transfers", value: try transfers()))
            }
            try checkWritable(existing)
            try checkConfigurationAccess(&findings)
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

    /// Finds settings that other users of the machine can read.
    private func checkConfigurationAccess(_ findings: inout [Finding]) throws {
        let path = Configuration.path(home: home)
        var status = stat()
        guard lstat(path.string, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        findings.append(
            Finding(
                severity: .note, code: "configuration-readable", message: "\(path) can be read by others",
                cure: "Run `chmod 600 \(path)`."))
    }
}
