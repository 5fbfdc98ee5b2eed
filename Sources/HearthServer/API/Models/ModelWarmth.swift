import Foundation
import HearthBase
import HearthInference

/// Decides when an idle model leaves memory.
final class ModelWarmth: Sendable {
    private struct Entry {
        var number: UInt64
        var expires: Date?
        var task: Task<Void, Never>?
    }

    private let time: TimeSource
    private let entries = Locked<(last: UInt64, models: [String: Entry])>((0, [:]))

    init(time: TimeSource) { self.time = time }

    /// The time at which a model leaves; `nil` if it stays.
    func expiry(of model: String) -> Date? { entries.withLock { $0.models[model]?.expires } }

    /// Records the end of a request. Later uses replace the time.
    /// - Parameters:
    ///   - limit: the time that the model stays when it is idle; `nil` for no limit.
    ///   - mayShorten: whether the model may leave earlier than after its last use.
    ///   - unload: called when the model has been idle for that time.
    func used(
        _ model: String, keepAlive limit: Duration?, mayShorten: Bool = true,
        unload: @escaping @Sendable () async -> Void
    ) {
        entries.withLock { entries in
            let expires = limit.flatMap { $0 < KeepAlive.longest ? Date(timeIntervalSinceNow: $0.seconds) : nil }
            if !mayShorten, let before = entries.models[model] {
                guard let known = before.expires, expires.map({ $0 > known }) ?? true else { return }
            }
            entries.models[model]?.task?.cancel()
            entries.last += 1
            var entry = Entry(number: entries.last)
            if let limit, expires != nil {
                entry.expires = expires
                let number = entry.number
                entry.task = Task { [weak self, time] in
                    do { try await time.sleep(for: limit) } catch { return }
                    guard self?.isLatest(number, of: model) ?? false else { return }
                    self?.forget(model)
                    await unload()
                }
            }
            entries.models[model] = entry
        }
    }

    func forget(_ model: String) { entries.withLock { $0.models[model] = nil } }

    private func isLatest(_ number: UInt64, of model: String) -> Bool {
        entries.withLock { $0.models[model]?.number == number }
    }
}
