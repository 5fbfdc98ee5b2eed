import Foundation
import HearthBase

#if Server
import CMicrohttpd
#endif

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The service manager that started this process, such as systemd: the sockets it opened, and the news it wants.
package struct ServiceManager: Sendable {
    private let socket: String?
    /// The number of the first socket that a service manager hands over.
    private static let firstDescriptor: Int32 = 3
    private let count: Int32

    /// Reads `NOTIFY_SOCKET`, `LISTEN_PID` and `LISTEN_FDS`.
    package init(environment: [String: String], process: Int32 = getpid()) {
        socket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isOurs = environment["LISTEN_PID"].flatMap { Int32($0) } == process
        count = isOurs ? max(0, min(16, environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0)) : 0
    }

    /// The variables that must not reach a child process.
    package static let variables = ["NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

    /// The number of sockets that were opened for this process.
    package var socketCount: Int { Int(count) }

    /// The sockets that were opened for this process. A process takes them once.
    package var descriptors: [Int32] { (0..<count).map { Self.firstDescriptor + $0 } }

    /// Tells the manager the state, such as `READY=1`; does nothing without one.
    package func tell(_ lines: String...) {
        guard let socket else { return }
        let descriptor = openSocket(AF_UNIX, isStream: false)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(lines.joined(separator: "\n").utf8)
        let sent = try? withUnixAddress(Path(socket)) { sendto(descriptor, message, message.count, 0, $0, $1) }
        if sent ?? -1 < 0 { Log.write(.info, "the service manager was not told", [.count("errno", errno)]) }
    }
}
