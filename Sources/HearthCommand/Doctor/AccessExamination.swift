import Foundation
import HearthBase

/// Finds files of a home that their owner cannot use, that belong to another user, or that others can read or change.
///
/// The modes decide, not the rights of this process: root may do everything and would find nothing.
struct AccessExamination: Sendable {
    let home: Path
    let fileSystem: any FileSystem
    var user = geteuid()

    private typealias Finding = DoctorReport.Finding

    /// Files that hold what a person said, or secrets.
    private static let secret: Set<String> = [
        "config.json", "hearth.db", "hearth.db-wal", "chat-history", "server", "facts.txt",
    ]
    /// The most findings of one kind.
    private static let most = 5

    /// The findings of the home and of what is directly in it. Blocks.
    func findings() -> [DoctorReport.Finding] {
        let names = (try? fileSystem.contents(of: home)) ?? []
        let paths = [home] + names.filter { !$0.contains(Path.temporaryMark) }.map(home.joined)
        var findings: [DoctorReport.Finding] = []
        for path in paths {
            // A file may vanish while it is looked at.
            guard let facts = Self.facts(of: path) else { continue }
            findings += finding(facts, path).map { [$0] } ?? []
        }
        return Array(findings.prefix(Self.most))
    }

    private static func facts(of path: Path) -> stat? {
        var facts = stat()
        return lstat(path.string, &facts) == 0 ? facts : nil
    }

    private func finding(_ facts: stat, _ path: Path) -> DoctorReport.Finding? {
        let kind = facts.st_mode & S_IFMT
        guard kind == S_IFDIR || kind == S_IFREG else { return nil }
        let needed: mode_t = kind == S_IFDIR ? 0o700 : 0o600
        if facts.st_uid != user, user != 0 {
            return Finding(
                severity: .problem, code: "permission-denied", message: "\(path) belongs to the user \(facts.st_uid)",
                cure: "Give it back: `sudo chown -R \(user) \(path)`.")
        }
        if facts.st_mode & needed != needed {
            return Finding(
                severity: .problem, code: "permission-denied",
                message: "\(path) cannot be \(facts.st_mode & 0o400 == 0 ? "read" : "changed") by its owner",
                cure: "Run `chmod u+\(kind == S_IFDIR ? "rwx" : "rw") \(path)`.")
        }
        if facts.st_mode & 0o002 != 0 {
            return Finding(
                severity: .note, code: "changeable-by-others", message: "\(path) can be changed by all users",
                cure: "Run `chmod o-w \(path)`.")
        }
        if Self.secret.contains(path.lastComponent), path != home, facts.st_mode & 0o077 != 0 {
            return Finding(
                severity: .note, code: "readable-by-others", message: "\(path) can be read by others",
                cure: "Run `chmod go-rwx \(path)`.")
        }
        return nil
    }
}
