import HearthBase

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Decides which users of this machine a process trusts: its own user, and root, who may do everything anyway.
enum LocalUser {
    static func isTrusted(_ user: UInt32, by own: UInt32 = getuid()) -> Bool { user == own || user == 0 }

    /// The user at the other end of a unix socket (`SO_PEERCRED`): of a listening socket, the user that began to listen.
    /// `nil` if the system does not tell.
    static func peer(of socket: Int32) -> UInt32? {
        #if canImport(Darwin)
        var (user, group) = (uid_t(), gid_t())
        return getpeereid(socket, &user, &group) == 0 ? user : nil
        #else
        // `struct ucred`: process, user and group, 4 bytes each.
        var credentials = (UInt32(0), UInt32.max, UInt32.max)
        let size = socklen_t(MemoryLayout.size(ofValue: credentials))
        var length = size
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == size else {
            return nil
        }
        return credentials.1
        #endif
    }

    /// The reason not to use a socket in a folder with these facts (`lstat`): another user could have put it there.
    /// `nil` for a folder of this user that no other user changes.
    static func problem(mode: UInt32, owner: UInt32, own: UInt32 = getuid()) -> String? {
        switch mode & UInt32(S_IFMT) {
        case UInt32(S_IFDIR): break
        case UInt32(S_IFLNK): return "is a symbolic link"
        default: return "is no folder"
        }
        if !isTrusted(owner, by: own) { return "belongs to user \(owner)" }
        return mode & 0o022 == 0 ? nil : "can be changed by other users"
    }
}
