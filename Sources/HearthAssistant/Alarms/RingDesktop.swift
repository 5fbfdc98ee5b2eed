import Foundation

/// Shows rings outside the page, on the desktop of the session.
package protocol RingDesktop: Sendable {
    /// Shows a ring, in place of an earlier one with the same id. Returns at once.
    func show(_ note: DesktopNote)

    /// Removes a ring that was answered elsewhere.
    func withdraw(_ id: String)

    /// The answers that people gave on the desktop.
    var answers: AsyncStream<DesktopAnswer> { get }

    /// Ends the answers.
    func close()
}

/// The desktop of the user's session.
package enum SessionDesktop {
    /// The desktop that the environment leads to; `nil` for none.
    package static func find(_ environment: [String: String]) -> (any RingDesktop)? {
        #if canImport(CGio)
        BusDesktop(environment: environment)
        #else
        nil
        #endif
    }
}

/// The texts of a ring on the desktop.
package struct DesktopNote: Sendable, Hashable {
    /// The id of the ring.
    package var id: String
    package var title: String
    package var body: String
    /// The buttons, by the names of ``RingAnswer/init(name:)``.
    package var actions: [Button]

    package struct Button: Sendable, Hashable {
        package var name: String
        package var label: String
    }

    package init(id: String, title: String, body: String, actions: [Button] = []) {
        self.id = id
        self.title = title
        self.body = body
        self.actions = actions
    }

    /// The note of a ring, with buttons.
    package init(_ ring: Ring, _ words: RingWords, now: Date) {
        let snoozes = RingSnooze.allCases.map { Button(name: $0.rawValue, label: words.snooze($0)) }
        self.init(
            id: ring.id, title: words.title(ring), body: words.body(ring, now: now),
            actions: [Button(name: "done", label: words.done)] + snoozes)
    }
}

/// An answer that a person gave on the desktop.
package struct DesktopAnswer: Sendable, Hashable {
    /// The id of the ring.
    package var id: String
    package var answer: RingAnswer
}

extension RingAnswer {
    /// Reads `done`, `close`, or a name of ``RingSnooze``; `nil` for other words.
    package init?(name: String) {
        switch name {
        case "done": self = .done
        case "close": self = .close
        default:
            guard let snooze = RingSnooze(rawValue: name) else { return nil }
            self = .snooze(snooze)
        }
    }
}
