import Foundation

@testable import Hearth
@testable import HearthBase
@testable import HearthServer

/// The routes of the native API over an empty home. Their bodies are read, and nothing is carried out.
private let router: NativeRouter? = {
    let made = Locked<NativeRouter?>(nil)
    let isDone = Locked(false)
    Task {
        do {
            let home = Path(NSTemporaryDirectory()).joined("native-\(UUID().uuidString)")
            var surroundings = Surroundings()
            surroundings.engines = EngineRegistry()
            let hearth = try Hearth(home: home, configuration: Configuration(), surroundings)
            let service = try await NativeService(try ServedHome(hearth, version: "1"))
            made.withLock { $0 = NativeRouter(service.routes) }
        } catch {
            FileHandle.standardError.write(Data("the native API cannot be opened: \(error)\n".utf8))
        }
        isDone.withLock { $0 = true }
    }
    // libFuzzer calls on the main thread, which the library of models needs meanwhile.
    while !isDone.withLock({ $0 }) {
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
    return made.withLock { $0 }
}()

/// Reads a request of the native API: a line with method and path, then the body. A body that is accepted has values that the
/// settings and records can hold; a refusal is a client's error with a sentence.
func fuzzNativeRequest(_ data: Data) {
    guard let router else { preconditionFailure("there are no routes") }
    let line = data.prefix { $0 != 10 }
    let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
    guard words.count == 2 else { return }
    let request = ServerRequest(method: words[0], target: words[1], caller: .owner)
    guard case .route(let route, let path) = router.match(words[0], request.target.path) else { return }
    let call = NativeCall(request: request, path: path)
    precondition(path.values.allSatisfy { !$0.isEmpty && $0.utf8.count <= 512 }, "a value of a path has no bound")
    accepted {
        for query in route.query where query.name == "limit" {
            let limit = try call.number(query.name, 1...500, default: 50)
            precondition((1...500).contains(limit), "a limit has no bound")
        }
    }
    guard let input = route.input else { return }
    let body = Array(data.dropFirst(line.count + 1))
    guard accepted({ try input.check(body) }), route.path == "/settings" else { return }
    // Accepted settings are set, or refused by name.
    var configuration = Configuration()
    for (key, value) in (try? NativeService.values(body)) ?? [:] {
        guard accepted({ try configuration.set(key, to: value) }) else { continue }
        let kept = (try? configuration.value(of: key)) ?? nil
        // A kind empties the settings of its cloud or search.
        guard !key.hasSuffix(".kind") else { continue }
        var again = configuration
        let isTaken = accepted { try again.set(key, to: kept) }
        precondition(isTaken && again == configuration, "\(key) is not what it says")
    }
}

/// Whether the work accepts its input; a refusal must be a client's error with a sentence.
@discardableResult
private func accepted(_ body: () throws -> Void) -> Bool {
    do {
        try body()
        return true
    } catch {
        let failure = NativeFailure(error)
        precondition(!failure.message.isEmpty && !failure.code.isEmpty, "a refusal says nothing")
        precondition((400..<500).contains(failure.status), "a refusal is no client's error: \(failure)")
        return false
    }
}
