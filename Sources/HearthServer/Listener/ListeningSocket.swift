#if Server
    import Foundation
    import HearthBase

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// The address of a server.
    package struct ListeningAddress: Sendable, Hashable {
        /// An IPv4 or IPv6 literal.
        package let host: String
        package let port: UInt16

        /// `http://host:port`, without a final slash.
        package var url: String { host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)" }
    }

    /// A bound TCP socket, closed with its last reference.
    final class ListeningSocket: Sendable {
        let descriptor: Int32
        let address: ListeningAddress

        /// Binds and listens; port 0 takes a free one.
        /// - Throws: ``ServerError`` with `port-in-use`, `permission`, `address-unavailable` or `cannot-listen`.
        init(host: String, port: UInt16) throws {
            let literal = host == "localhost" ? "127.0.0.1" : host
            var wanted = addrinfo()
            wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
            var list: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(literal, String(port), &wanted, &list) == 0, let found = list?.pointee else {
                throw ServerError.notAnAddress(host)
            }
            defer { freeaddrinfo(list) }
            #if canImport(Darwin)
                let descriptor = socket(found.ai_family, SOCK_STREAM, 0)
            #else
                let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
                let descriptor = socket(found.ai_family, type, 0)
            #endif
            guard descriptor >= 0 else { throw ServerError.cannotListen(errno, host: host, port: port) }
            do {
                // Connections of a server that just ended stay in TIME_WAIT; they must not block the port.
                var on: Int32 = 1
                let size = socklen_t(MemoryLayout<Int32>.size)
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
                _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
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

        deinit { close(descriptor) }

        private static func port(of descriptor: Int32) throws -> UInt16 {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let result = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            guard result == 0 else { throw ServerError.cannotListen(errno, host: "?", port: 0) }
            return withUnsafeBytes(of: &storage) { bytes in
                // The port follows the family in both kinds of address, in network order.
                UInt16(bytes[2]) << 8 | UInt16(bytes[3])
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
                Self(
                    .portInUse, "port \(port) is in use by another program",
                    context: context("Leave the port out to take a free one, or choose another."))
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

        static func notAnAddress(_ host: String) -> Self {
            Self(
                .addressUnavailable, "\(host) is not an IP address",
                context: ErrorContext(
                    found: host, remedy: "Give an IPv4 or IPv6 address of this machine, such as 127.0.0.1 or ::1."))
        }
    }
#endif
