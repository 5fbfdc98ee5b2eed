import Foundation
import HearthBase

#if Server
import CMicrohttpd
#endif

/// The address of a server.
package struct ListeningAddress: Sendable, Hashable {
    /// An IPv4 or IPv6 literal.
    package let host: String
    package let port: UInt16

    /// Whether only this machine reaches it.
    package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    /// The same with this machine's own address in place of all addresses, for programs on it.
    package var reachable: ListeningAddress {
        switch host {
        case "0.0.0.0": ListeningAddress(host: "127.0.0.1", port: port)
        case "::": ListeningAddress(host: "::1", port: port)
        default: self
        }
    }

    /// `http://host:port`, without a final slash.
    package var url: String { host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)" }
}

/// A bound socket that listens, closed with its last reference at the latest.
package final class ListeningSocket: Sendable {
    let descriptor: Int32
    /// `nil` for a unix socket.
    package let address: ListeningAddress?
    private let isOpen = Locked(true)

    /// Binds a TCP address and listens; port 0 takes a free one.
    /// - Parameter isIPv6Only: whether `::` leaves the addresses of IPv4 to another socket.
    /// - Throws: ``ServerError`` with `port-in-use`, `permission`, `address-unavailable` or `cannot-listen`.
    package init(host: String, port: UInt16, isIPv6Only: Bool = false) throws {
        let literal = host == "localhost" ? "127.0.0.1" : host
        var wanted = addrinfo()
        wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(literal, String(port), &wanted, &list) == 0, let found = list?.pointee else {
            throw ServerError.notAnAddress(host)
        }
        defer { freeaddrinfo(list) }
        let descriptor = Self.makeSocket(found.ai_family)
        guard descriptor >= 0 else { throw ServerError.cannotListen(errno, host: host, port: port) }
        do {
            // Connections of a server that just ended stay in TIME_WAIT; they must not block the port.
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
            if isIPv6Only { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size) }
            guard bind(descriptor, found.ai_addr, found.ai_addrlen) == 0, listen(descriptor, 512) == 0 else {
                throw ServerError.cannotListen(errno, host: host, port: port)
            }
            address = ListeningAddress(host: literal, port: try Self.port(of: descriptor))
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Binds a unix socket that only this user may open. Replaces a socket at `path`: the caller holds a claim that no
    /// other process listens there.
    /// - Throws: ``ServerError`` with `cannot-listen` or `permission`.
    package init(unix path: Path) throws {
        let descriptor = Self.makeSocket(AF_UNIX)
        guard descriptor >= 0 else { throw ServerError.cannotListen(errno, at: path) }
        let temporary = path.withSuffix(".new")
        do {
            unlink(temporary.string)
            let result = try withUnixAddress(temporary) { bind(descriptor, $0, $1) }
            // Other users may not connect to the new name: that needs the right to write, which the usual mask denies.
            guard result == 0, chmod(temporary.string, 0o600) == 0, listen(descriptor, 128) == 0,
                rename(temporary.string, path.string) == 0
            else { throw ServerError.cannotListen(errno, at: path) }
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        address = nil
    }

    /// Takes a listening socket that another process opened, such as systemd.
    /// - Throws: ``ServerError`` with `cannot-listen` for another kind of descriptor.
    package init(inherited descriptor: Int32) throws {
        let (storage, length) = try Self.name(of: descriptor)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if Int32(storage.ss_family) == AF_UNIX {
            address = nil
        } else {
            let host = withUnsafePointer(to: storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { numericHost($0, length) }
            }
            guard let host else { throw ServerError.cannotListen(errno, host: "?", port: 0) }
            address = ListeningAddress(host: host, port: try Self.port(of: descriptor))
        }
        self.descriptor = descriptor
    }

    deinit { stopListening() }

    /// Refuses further connections, unless another process has the socket too. The descriptor is not used after it.
    func stopListening() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { close(descriptor) }
    }

    private static func makeSocket(_ family: Int32) -> Int32 {
        let descriptor = openSocket(family)
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        return descriptor
    }

    /// The address that a socket is bound to.
    static func name(of descriptor: Int32) throws -> (sockaddr_storage, socklen_t) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw ServerError.cannotListen(errno, host: "?", port: 0) }
        return (storage, length)
    }

    private static func port(of descriptor: Int32) throws -> UInt16 {
        let (storage, _) = try name(of: descriptor)
        return withUnsafeBytes(of: storage) { bytes in
            // The port follows the family in both kinds of address, in network order.
            UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }
}

/// A new socket that other programs do not inherit; negative if it failed.
func openSocket(_ family: Int32, isStream: Bool = true) -> Int32 {
    let type = isStream ? SOCK_STREAM : SOCK_DGRAM
    #if canImport(Darwin)
    return socket(family, type, 0)
    #else
    return socket(family, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #endif
}

/// The host of an address in digits.
func numericHost(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String? {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
    return String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Calls `body` with the address of a unix socket.
/// - Throws: ``ServerError`` with `cannot-listen` if the path is longer than the system permits.
func withUnixAddress<Result>(
    _ path: Path, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
) throws -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(path.string.utf8)
    // One byte stays zero.
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
        throw ServerError.cannotListen(ENAMETOOLONG, at: path)
    }
    var length = MemoryLayout<sockaddr_un>.size
    if name.first == UInt8(ascii: "@") {
        // An abstract name begins with a zero byte, and has no end but its length.
        name[0] = 0
        length = (MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2) + name.count
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    return try withUnsafePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            try body($0, socklen_t(length))
        }
    }
}

extension HearthError where Domain == ServerErrorDomain {
    /// The error for a failed `socket`, `bind` or `listen`.
    static func cannotListen(_ number: Int32, host: String, port: UInt16) -> Self {
        let context = { (remedy: String) in
            ErrorContext(url: "http://\(host):\(port)", found: "errno \(number)", remedy: remedy)
        }
        return switch number {
        case EADDRINUSE:
            portInUse(PortHolder.find(port: port), host: host, port: port)
        case EACCES, EPERM:
            Self(
                .permission, "this user may not listen on port \(port)",
                context: context("Choose a port of 1024 or above, or leave it out to take a free one."))
        case EADDRNOTAVAIL:
            Self(
                .addressUnavailable, "\(host) is not an address of this machine",
                context: context("Use 127.0.0.1 for this machine only, or 0.0.0.0 for every address it has."))
        default:
            Self(
                .cannotListen, "cannot listen on \(host), port \(port): \(String(cString: strerror(number)))",
                context: context("Try another address or port."))
        }
    }

    /// The error for a port on which another program listens.
    package static func portInUse(_ holder: PortHolder?, host: String, port: UInt16) -> Self {
        Self(
            .portInUse, "port \(port) is in use by \(holder?.words ?? "another program")",
            context: ErrorContext(
                file: holder?.home?.string, url: "http://\(host):\(port)",
                field: holder?.home == nil ? nil : "home", found: holder?.process.map { "process \($0)" },
                remedy: "End that program, or choose another port; 0 takes a free one."))
    }

    /// The error for a unix socket.
    static func cannotListen(_ number: Int32, at path: Path) -> Self {
        Self(
            number == EACCES || number == EPERM ? .permission : .cannotListen,
            "cannot listen at \(path): \(String(cString: strerror(number)))",
            context: ErrorContext(
                file: path.string, found: "errno \(number)", remedy: "Check the folder's owner and access rights."))
    }

    static func notAnAddress(_ host: String) -> Self {
        Self(
            .addressUnavailable, "\(host) is not an IP address",
            context: ErrorContext(
                found: host, remedy: "Give an IPv4 or IPv6 address of this machine, such as 127.0.0.1 or ::1."))
    }
}
