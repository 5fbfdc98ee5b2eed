import Foundation
import HearthBackground
import HearthBase

/// The session of a played service of the system: a process that listens at a socket, `scripts/background/daemon.py`.
///
/// Both sides send lines of JSON. The service sends the report of a task again until this process has said `took`.
final class DaemonSession: OutsideSession {
    private struct State {
        var socket: Int32?
        /// The questions without a reply: they are asked again after the service has restarted.
        var questions = 0
    }

    /// A line to the service.
    private struct Command: Encodable {
        var begin: String?
        var resume: Data?
        var cancel: String?
        var list: Bool?
        var took: Int?
    }

    /// A line from the service.
    private struct Message: Decodable {
        var report: Int?
        var landed: String?
        var status: Int?
        var file: String?
        var failed: String?
        var code: Int?
        var resume: Data?
        var progress: String?
        var count: UInt64?
        var tasks: [String]?
        var delivered: Bool?
    }

    private let path: String
    private let landing: Landing
    private let report: @Sendable (PieceReport) -> Void
    private let reconnected: @Sendable () -> Void
    private let state = Locked(State())

    /// - Parameter reconnected: called after the service has restarted: it may have lost commands.
    init(
        _ path: String, landing: Landing, reconnected: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (PieceReport) -> Void
    ) {
        self.path = path
        self.landing = landing
        self.report = report
        self.reconnected = reconnected
        signal(SIGPIPE, SIG_IGN)
        let thread = Thread { self.run() }
        thread.name = "daemon"
        thread.start()
    }

    func begin(_ order: PieceOrder, headers: [String: String], resumeData: Data?) {
        guard let text = try? order.description else { return report(.failed(order, .cannotKeep)) }
        send(Command(begin: text, resume: resumeData))
    }

    func cancel(_ order: PieceOrder) { send(Command(cancel: order.id)) }

    func list() {
        state.withLock { $0.questions += 1 }
        send(Command(list: true))
    }

    // MARK: - The socket

    private func send(_ command: Command) {
        guard let data = try? JSONEncoder().encode(command) + Data("\n".utf8) else { return }
        state.withLock { state in
            guard let socket = state.socket else { return }
            data.withUnsafeBytes { bytes in
                var sent = 0
                while sent < bytes.count {
                    let count = write(socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
                    // The reading thread finds the end of the service.
                    guard count > 0 else { return }
                    sent += count
                }
            }
        }
    }

    private func run() {
        var isFirst = true
        while true {
            guard let socket = connected() else {
                // The service is about to start again.
                poll(nil, 0, 10)
                continue
            }
            let questions = state.withLock { state in
                state.socket = socket
                return state.questions
            }
            for _ in 0..<questions { send(Command(list: true)) }
            if !isFirst { reconnected() }
            isFirst = false
            read(from: socket)
            state.withLock { $0.socket = nil }
            close(socket)
        }
    }

    private func connected() -> Int32? {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let socket = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return socket }
        close(socket)
        return nil
    }

    private func read(from socket: Int32) {
        var waiting = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Foundation.read(socket, &buffer, buffer.count)
            guard count > 0 else { return }
            waiting += buffer[..<count]
            while let end = waiting.firstIndex(of: 10) {
                if let message = try? JSONDecoder().decode(Message.self, from: Data(waiting[..<end])) { take(message) }
                waiting = Data(waiting[(end + 1)...])
            }
        }
    }

    private func take(_ message: Message) {
        if let order = PieceOrder(description: message.landed), let file = message.file {
            report(landing.take(Path(file), of: order, status: message.status ?? 0))
        }
        if let order = PieceOrder(description: message.failed) {
            report(.failed(order, PieceFailure(code: message.code ?? 0, resumeData: message.resume)))
        }
        if let order = PieceOrder(description: message.progress) { report(.progress(order, message.count ?? 0)) }
        if let tasks = message.tasks {
            state.withLock { $0.questions = max(0, $0.questions - 1) }
            report(.tasks(tasks.compactMap { PieceOrder(description: $0) }))
        }
        if message.delivered == true { report(.delivered) }
        if let number = message.report { send(Command(took: number)) }
    }
}
