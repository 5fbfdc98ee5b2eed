import Foundation

/// The contents of a claim's file.
package enum FoundClaim: Sendable, Hashable {
    case claim(Claim)
    /// Unreadable contents, last changed at `modified`: a claim that is being written, or damage.
    case unreadable(FileIdentity, modified: Date)

    /// Reads the file at `path`, `nil` if there is none. Follows no link. Blocks.
    package static func read(_ path: Path, in fileSystem: any FileSystem) throws -> FoundClaim? {
        guard let status = try fileSystem.status(at: path, followLinks: false) else { return nil }
        let unreadable = FoundClaim.unreadable(status.identity, modified: status.modified)
        guard status.kind == .file, status.size <= UInt64(Claim.sizeLimit) else { return unreadable }
        do {
            let data = try fileSystem.contents(ofFile: path, limit: Claim.sizeLimit)
            return .claim(try Claim(data: data))
        } catch let error as FileError where error.code == .notFound {
            return nil
        } catch is DecodingError {
            return unreadable
        }
    }

    /// The claim, `nil` for other contents.
    package var claim: Claim? {
        if case .claim(let claim) = self { claim } else { nil }
    }

    /// Whether no process holds the claim.
    /// - Parameters:
    ///   - lifetime: how long a claim is valid without a renewal if this process cannot look up its holder.
    ///   - damageLifetime: how long unreadable contents must stay unchanged before they count as damage.
    package func isStale(at now: Date, lifetime: Duration, damageLifetime: Duration) -> Bool {
        switch self {
        case .claim(let claim): claim.isStale(at: now, lifetime: lifetime)
        case .unreadable(_, let modified): Swift.abs(now.timeIntervalSince(modified)) > damageLifetime.seconds
        }
    }

    /// A name that differs from that of every other claim.
    package var name: String {
        switch self {
        case .claim(let claim): claim.token
        case .unreadable(let identity, _): "file-\(identity.device)-\(identity.inode)"
        }
    }
}

extension Claim {
    /// Rewrites a claim in place, if the file still holds the claim with this token. Blocks.
    ///
    /// If the file is removed or replaced during the call, only the opened file is written.
    /// - Returns: whether the file holds that claim.
    package static func rewrite(
        _ path: Path, token: String, in fileSystem: any FileSystem, _ change: (inout Claim) -> Void
    ) throws -> Bool {
        let file: OpenFile
        do {
            file = try fileSystem.open(path, .update)
        } catch let error as FileError where error.code == .notFound || error.isSystemError(ELOOP, EISDIR) {
            return false
        }
        let status = try fileSystem.status(of: file)
        guard status.kind == .file, status.size <= UInt64(sizeLimit) else { return false }
        var data = Data(count: Int(status.size))
        let count = try data.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: 0) }
        guard var claim = try? Claim(data: data.prefix(count)), claim.token == token else {
            return false  // unreadable contents are not this claim
        }
        change(&claim)
        try claim.padded(to: count).withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
        return true
    }
}
