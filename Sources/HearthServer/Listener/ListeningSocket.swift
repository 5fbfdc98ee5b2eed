#if Server
    import Foundation
    import HearthBase

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// Where a server can be reached.
    public struct ListeningAddress: Sendable, Hashable {
        /// An IPv4 or IPv6 literal.
        public let host: String
        public let port: UInt16

        /// `http://host:port`, without a slash at the end.
        public var url: String { host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)" }
    }

    /// A bound TCP socket, closed with its last reference.
    final class ListeningSocket: Sendable {
        let descriptor: Int32
        let address: ListeningAddress

        /// Binds and listens; port 0 takes a free one.
        /// - Throws: ``ServerError`` with `port-in-use`, `permission`, `address-unavailable` or `cannot-listen`.
        init(host: String, port: UInt16) throws {
            let literal = host == "localhost" ? "127.0.0.1" : host
            guard let family = Self.family(of: literal) else { throw ServerError.notAnAddress(host) }
            #if canImport(Darwin)
                let descriptor = socket(family, SOCK_STREAM, 0)
            #else
                let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Self.closeOnExec, 0)
            #endif
            guard descriptor >= 0 else { throw ServerError.cannotListen(errno, host: host, port: port) }
            do {
                // A server that ended a moment ago leaves connections in TIME_WAIT; they must not keep the port.
                var on: Int32 = 1
                let size = socklen_t(MemoryLayout<Int32>.size)
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
                _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
                try Self.bind(descriptor, family: family, literal: literal, port: port)
                guard listen(descriptor, 512) == 0 else {
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

        #if !canImport(Darwin)
            private static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
        #endif

        private static func family(of literal: String) -> Int32? {
            var four = in_addr()
            var six = in6_addr()
            if inet_pton(AF_INET, literal, &four) == 1 { return AF_INET }
            if inet_pton(AF_INET6, literal, &six) == 1 { return AF_INET6 }
            return nil
        }

        private static func bind(_ descriptor: Int32, family: Int32, literal: String, port: UInt16) throws {
            let result: Int32
            if family == AF_INET {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                inet_pton(AF_INET, literal, &address.sin_addr)
                result = bindAddress(descriptor, &address)
            } else {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = port.bigEndian
                inet_pton(AF_INET6, literal, &address.sin6_addr)
                result = bindAddress(descriptor, &address)
            }
            guard result == 0 else { throw ServerError.cannotListen(errno, host: literal, port: port) }
        }

        private static func bindAddress<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
            withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    #if canImport(Darwin)
                        Darwin.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
                    #else
                        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
                    #endif
                }
            }
        }

        private static func port(of descriptor: Int32) throws -> UInt16 {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let result = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            guard result == 0 else { throw ServerError.cannotListen(errno, host: "?", port: 0) }
            return withUnsafeBytes(of: &storage) { bytes in
                // The port stands behind the family in both kinds of address, in network order.
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
