import HearthBase
import HearthServer

/// What `hearth connect` did to each app, for people and for programs.
struct ConnectReport {
    let console: Console
    let isDry: Bool
    let isJSON: Bool
    private var apps: [JSONValue] = []
    private var failure: (any Error)?
    /// Lines for people.
    private var lines: [String] = []
    private var notes: [String] = []

    init(console: Console, isDry: Bool, isJSON: Bool) {
        (self.console, self.isDry, self.isJSON) = (console, isDry, isJSON)
    }

    /// Adds an app with what its work changed. A failure is reported at the end; other apps go on.
    /// - Parameters:
    ///   - valuesOnFailure: the values to enter by hand instead.
    ///   - work: `nil` if there was nothing to do.
    mutating func adding(
        _ app: ConnectedApp, valuesOnFailure: () -> [ConnectPlan.Value] = { [] },
        _ work: () async throws -> (plan: ConnectPlan?, changes: [Connector.Change])?
    ) async {
        do {
            guard let (plan, changes) = try await work() else {
                notes.append("\(app.title) is not connected.")
                return
            }
            add(app, plan, changes)
        } catch {
            if let failure { for line in FailureRenderer(failure).lines { console.complain(line) } }
            failure = error
            let values = valuesOnFailure()
            if !values.isEmpty {
                lines.append("\(app.title): enter these values where the app has its settings:")
                lines += values.map { "  \($0.name): \($0.value)" }
            }
            var entry = entry(app, [], values, [])
            if let failure = error as? any HearthFailure { entry["code"] = .string(failure.codeText) }
            apps.append(entry)
        }
    }

    private mutating func add(_ app: ConnectedApp, _ plan: ConnectPlan?, _ changes: [Connector.Change]) {
        let hasFile = !changes.isEmpty
        let values = hasFile ? [] : plan?.values ?? []
        if plan != nil, !hasFile { lines.append("\(app.title):") }
        lines += values.map { "  \($0.name): \($0.value)" }
        for change in changes {
            lines.append("\(app.title): \(change.path) \(words(change.kind))")
            if isDry {
                lines += change.edits.map { edit in
                    let path = edit.path.map(\.description).joined(separator: ".")
                    return "  \(path)" + (edit.value.map { " = \($0.line)" } ?? " is removed")
                }
            }
            for path in change.left { notes.append("\(path) in \(change.path) was changed since, and stays.") }
        }
        notes += plan?.notes ?? []
        if plan != nil, hasFile, !isDry { notes.append("To take it back: hearth connect \(app.rawValue) --undo") }
        apps.append(entry(app, changes, values, plan?.notes ?? []))
    }

    private func words(_ kind: Connector.Change.Kind) -> String {
        switch kind {
        case .unchanged: "is as it should be"
        case .made: isDry ? "would be made" : "was made"
        case .changed: isDry ? "would be changed" : "was changed"
        case .restored: isDry ? "would be as it was" : "is as it was"
        case .removed: isDry ? "would be removed" : "was removed"
        }
    }

    private func entry(
        _ app: ConnectedApp, _ changes: [Connector.Change], _ values: [ConnectPlan.Value], _ notes: [String]
    ) -> JSONValue {
        [
            "app": .string(app.rawValue),
            "files": .array(
                changes.map { change in
                    [
                        "path": .string(change.path.string), "change": .string(change.kind.rawValue),
                        "left": .array(change.left.map { .string($0) }),
                    ]
                }),
            "values": .object(JSONMembers(values.map { ($0.name, .string($0.value)) })),
            "notes": .array(notes.map { .string($0) }),
        ]
    }

    /// Prints the report.
    /// - Throws: the last failure.
    func finish(isUndone: Bool) throws {
        if isJSON {
            let report: JSONValue = ["apps": .array(apps)]
            try console.print(report.text)
        } else {
            for line in lines { try console.print(line) }
            for note in notes { console.say(note) }
            if apps.isEmpty, notes.isEmpty, failure == nil {
                console.say(isUndone ? "No app is connected." : "None of the apps is on this machine.")
            }
        }
        if let failure { throw failure }
    }
}
