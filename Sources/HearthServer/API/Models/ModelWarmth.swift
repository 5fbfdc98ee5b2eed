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
    ///   - unload: called when the model has been idle for that time.
    func used(_ model: String, keepAlive limit: Duration?, unload: @escaping @Sendable () async -> Void) {
        entries.withLock { entries in
            entries.models[model]?.task?.cancel()
            entries.last += 1
            var entry = Entry(number: entries.last)
            if let limit, limit < KeepAlive.longest {
                entry.expires = Date(timeIntervalSinceNow: limit.seconds)
                let number = entry.number
                entry.task = Task { [weak self, time] in
                    do { try await time.sleep(for: limit) } catch { return }
                    guard self?.isLatest(number, of: model) ?? false else { return }
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
