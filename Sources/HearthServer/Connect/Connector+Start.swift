import Foundation
import HearthBase

/// A program with its arguments and its environment.
package struct ProgramStart: Sendable, Hashable {
    package var program: Path
    package var arguments: [String]
    package var environment: [String: String]
}

extension Connector {
    /// The start of an app with an environment that leads it to the server. No file of the app is changed.
    /// - Parameter words: the user's arguments.
    /// - Throws: ``ConnectError`` with `app-not-startable` or `app-program-missing`; `ServerError`, `FileError`.
    package func start(
        _ app: ConnectedApp, _ target: ConnectTarget, _ words: [String]
    ) async throws -> ProgramStart {
        let plan = await blocking { app.plan(target, in: places) }
        guard plan.start != nil else {
            throw ConnectError(
                .notStartable, "\(app.title) takes no address from its environment",
                context: ErrorContext(found: app.rawValue, remedy: "Connect it instead."))
        }
        guard let program = await blocking({ places.program(app.programs) }) else {
            throw ConnectError(
                .programMissing, "the program \(app.programs[0]) is not on this machine",
                context: ErrorContext(expected: app.programs[0], remedy: "Install it, or name its folder in PATH."))
        }
        var target = target
        if target.needsKey, target.key == nil {
            target.key = try await ConnectKey.make(app, home: places.home, time: time).key.text
        }
        let start = try await blocking { [target] in
            let start = app.plan(target, in: places).start
            if let file = start?.file {
                let path = places.home.joined(file.name)
                try LocalFileSystem().makeFolders(path.parent, permissions: 0o700)
                try LocalFileSystem().replaceContents(of: path, with: Data(file.text.utf8), permissions: 0o600)
            }
            return start
        }
        var environment = places.environment
        for name in start?.removed ?? [] { environment[name] = nil }
        environment.merge(start?.variables ?? [:]) { $1 }
        return ProgramStart(program: program, arguments: (start?.arguments ?? []) + words, environment: environment)
    }

    /// The values to enter by hand.
    package func values(_ app: ConnectedApp, _ target: ConnectTarget) -> [ConnectPlan.Value] {
        var target = target
        if target.needsKey, target.key == nil { target.key = "KEY" }
        return app.plan(target, in: places).values
    }
}
