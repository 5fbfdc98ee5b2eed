import Foundation
import HearthBase

/// The files of a home's resident process.
///
/// ```
/// <home>/server/claim       held while a process serves this home
/// <home>/server/socket      where the command line asks it; elsewhere if the path is too long
/// <home>/server/keys.json   the keys of other machines
/// <home>/server/log         the output of a detached process
/// ```
package struct ResidentPlace: Sendable, Hashable {
    package let home: Path
    package let folder: Path
    /// The unix socket.
    package let socket: Path

    /// The longest path of a socket, with room for its temporary name; the system permits 107 bytes, Apple's 103.
    private static let longestSocket = 96

    package init(home: Path, environment: [String: String]) {
        self.home = home.absolute
        folder = self.home.appending("server")
        let usual = folder.appending("socket")
        guard usual.string.utf8.count > Self.longestSocket else {
            socket = usual
            return
        }
        let name = "hearth-\(SHA256Digest(hashing: Data(self.home.string.utf8)).hex.prefix(16))"
        let runtime = environment["XDG_RUNTIME_DIR"].map { Path($0).joined(name) }
        let isUsable = runtime.map { $0.string.hasPrefix("/") && $0.string.utf8.count <= Self.longestSocket }
        if let runtime, isUsable == true {
            socket = runtime
        } else {
            socket = Path("/tmp/hearth-\(getuid())").joined(name)
        }
    }

    package var claimFile: Path { folder.appending("claim") }
    package var log: Path { folder.appending("log") }

    /// Makes the folders, which only this user may enter.
    /// - Throws: `FileError`; ``ServerError`` with `foreign-socket` if another user could change the socket's folder.
    package func prepare() throws {
        let fileSystem = LocalFileSystem()
        try fileSystem.makeFolders(folder, permissions: 0o700)
        // A link of another user leads to no folder that is made here.
        _ = try hasOwnFolder()
        if socket.parent != folder { try fileSystem.makeFolders(socket.parent, permissions: 0o700) }
        guard try hasOwnFolder() else { throw ServerError.cannotListen(ENOENT, at: socket) }
    }

    /// Checks that no other user can put a socket in the place of this one. Blocks.
    /// - Returns: whether the socket's folder exists.
    /// - Throws: ``ServerError`` with `foreign-socket`.
    package func hasOwnFolder() throws -> Bool {
        var facts = stat()
        guard lstat(socket.parent.string, &facts) == 0 else { return false }
        if let problem = LocalUser.problem(mode: UInt32(facts.st_mode), owner: facts.st_uid) {
            throw ServerError.foreignSocket("the folder \(socket.parent) \(problem)", at: socket.parent)
        }
        return true
    }

    /// Takes the claim to serve this home; `nil` if another process has it.
    /// - Throws: `FileError`.
    package func claim(time: TimeSource) throws -> HeldClaim? {
        try ExclusiveClaim.take(
            claimFile, in: LocalFileSystem(), at: time.now, lifetime: .seconds(3600), damageLifetime: .seconds(60))
    }

    /// The process that serves this home, as far as its claim tells.
    /// - Throws: `FileError`.
    package func holder(time: TimeSource) throws -> ProcessIdentity? {
        guard let found = try FoundClaim.read(claimFile, in: LocalFileSystem()),
            !found.isStale(at: time.now, lifetime: .seconds(3600), damageLifetime: .seconds(60))
        else { return nil }
        return found.claim?.holder
    }
}

extension HearthError where Domain == ServerErrorDomain {
    /// The error for a socket that another user may have made.
    static func foreignSocket(_ problem: String, at path: Path) -> Self {
        Self(
            .foreignSocket, "\(problem), so the socket of this home is not used",
            context: ErrorContext(
                file: path.string, remedy: "Remove it, or let only this user change it, and start the server anew."))
    }

    package static func alreadyServing(_ process: ProcessIdentity?) -> Self {
        Self(
            .alreadyServing,
            "process \(process.map { "\($0.number)" } ?? "of another name") serves this home already",
            context: ErrorContext(
                found: process.map { "\($0.number)" }, remedy: "Use it, or end it first."),
            disposition: .tryLater)
    }
}
