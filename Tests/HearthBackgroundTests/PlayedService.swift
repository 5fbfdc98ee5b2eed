import Foundation
import HearthBase
import HearthTestSupport

@testable import HearthBackground

/// A service of the system in this process, which does what a test says. Its tasks outlive the app that began them, and
/// their ends are reported to the next one.
final class PlayedService: Sendable {
    private enum End: Sendable {
        case landed(PieceOrder, status: Int, Data?)
        case failed(PieceOrder, code: Int, Data?)
    }

    private struct State {
        var tasks: [PieceOrder] = []
        var begun: [(order: PieceOrder, resumeData: Data?)] = []
        var cancelled: [PieceOrder] = []
        var ends: [End] = []
        var app: Session?
        var files = 0
    }

    private let state = Locked(State())
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder) { self.folder = folder }

    /// The orders of running tasks, by their bytes.
    var tasks: [PieceOrder] { state.withLock { $0.tasks.sorted { $0.range.lowerBound < $1.range.lowerBound } } }
    /// Every order that came, with its resume data.
    var begun: [(order: PieceOrder, resumeData: Data?)] { state.withLock { $0.begun } }
    var cancelled: [PieceOrder] { state.withLock { $0.cancelled } }

    /// Connects an app, and reports what ended while there was none.
    func session(_ landing: Landing, _ report: @escaping @Sendable (PieceReport) -> Void) -> any OutsideSession {
        let session = Session(service: self, landing: landing, report: report)
        let ends = state.withLock { state in
            state.app = session
            defer { state.ends = [] }
            return state.ends
        }
        for end in ends { deliver(end, to: session) }
        report(.delivered)
        return session
    }

    /// The app ends.
    func disconnect() { state.withLock { $0.app = nil } }

    /// Forgets a task.
    func lose(_ order: PieceOrder) { state.withLock { $0.tasks.removeAll { $0.id == order.id } } }

    /// A task has its bytes; `nil` if their file is gone before the app moves it.
    func land(_ order: PieceOrder, _ bytes: Data?, status: Int = 206) {
        end(order, .landed(order, status: status, bytes))
    }

    func fail(_ order: PieceOrder, code: Int, resumeData: Data? = nil) {
        end(order, .failed(order, code: code, resumeData))
    }

    private func end(_ order: PieceOrder, _ end: End) {
        let app = state.withLock { state in
            state.tasks.removeAll { $0.id == order.id }
            if state.app == nil { state.ends.append(end) }
            return state.app
        }
        if let app { deliver(end, to: app) }
    }

    private func deliver(_ end: End, to session: Session) {
        switch end {
        case .failed(let order, let code, let data):
            session.report(.failed(order, PieceFailure(code: code, resumeData: data)))
        case .landed(let order, let status, let bytes):
            let number = state.withLock { state in
                state.files += 1
                return state.files
            }
            let path = folder.path("service-\(number)")
            if let bytes { _ = try? folder.write("service-\(number)", bytes) }
            session.report(session.landing.take(path, of: order, status: status))
        }
    }

    private struct Session: OutsideSession {
        let service: PlayedService
        let landing: Landing
        let report: @Sendable (PieceReport) -> Void

        func begin(_ order: PieceOrder, headers: [String: String], resumeData: Data?) {
            service.state.withLock { state in
                state.tasks.append(order)
                state.begun.append((order, resumeData))
            }
        }

        func cancel(_ order: PieceOrder) {
            service.state.withLock { state in
                state.tasks.removeAll { $0.id == order.id }
                state.cancelled.append(order)
            }
        }

        func list() { report(.tasks(service.tasks)) }
    }
}
