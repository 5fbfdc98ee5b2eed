import Foundation
import HearthAssistant
import HearthBase

@testable import HearthApple

/// A permission that a test gives and withdraws.
final class Permission: Sendable {
    private struct Values {
        var state: AccessState
        var answer: AccessState
        var isUnlocked = true
        var questions = 0
        var failure: CocoaError?
    }

    private let values: Locked<Values>

    /// - Parameter answer: the state after the person was asked.
    init(_ state: AccessState = .full, answer: AccessState = .full) {
        values = Locked(Values(state: state, answer: answer))
    }

    var state: AccessState {
        get { values.withLock { $0.state } }
        set { values.withLock { $0.state = newValue } }
    }
    var isUnlocked: Bool {
        get { values.withLock { $0.isUnlocked } }
        set { values.withLock { $0.isUnlocked = newValue } }
    }
    var questions: Int { values.withLock { $0.questions } }

    func failQuestions() { values.withLock { $0.failure = CocoaError(.featureUnsupported) } }

    func access(_ kind: StoreKind) -> SystemAccess {
        SystemAccess(
            kind, status: { self.state },
            ask: {
                let failure = self.values.withLock { values in
                    values.questions += 1
                    if values.failure == nil { values.state = values.answer }
                    return values.failure
                }
                if let failure { throw failure }
                return self.state.mayRead
            },
            isUnlocked: { self.isUnlocked })
    }
}

/// The code of the error that a call throws; `nil` for none.
func code(_ body: () async throws -> Void) async -> String? {
    do {
        try await body()
        return nil
    } catch let error as any HearthFailure {
        return error.codeText
    } catch {
        return "\(type(of: error))"
    }
}
