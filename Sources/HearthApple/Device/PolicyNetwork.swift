import HearthHTTP

/// A network that counts as metered while the device saves power or cools down, so that downloads wait which no person asked
/// for.
final class PolicyNetwork: NetworkMonitor {
    private let base: any NetworkMonitor
    private let watch: DeviceWatch

    init(_ base: any NetworkMonitor, watch: DeviceWatch) { (self.base, self.watch) = (base, watch) }

    var condition: NetworkCondition { Self.condition(base.condition, watch.policy) }

    var source: String? {
        guard watch.policy.downloads == .onlyAsked else { return base.source }
        return [base.source, "saving power or cooling down"].compactMap(\.self).joined(separator: ", ")
    }

    func conditions() -> AsyncStream<NetworkCondition> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkCondition.self, bufferingPolicy: .bufferingNewest(1))
        let (base, watch) = (base, watch)
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                let last = LastCondition(continuation)
                group.addTask { for await condition in base.conditions() { await last.take(condition, watch.policy) } }
                group.addTask { for await policy in watch.policies() { await last.take(nil, policy) } }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    fileprivate static func condition(_ condition: NetworkCondition, _ policy: DevicePolicy) -> NetworkCondition {
        NetworkCondition(
            isOnline: condition.isOnline, isMetered: condition.isMetered || policy.downloads == .onlyAsked)
    }
}

/// Joins the changes of a network and of a policy; nothing is told before the network is known, and nothing twice.
private actor LastCondition {
    private let continuation: AsyncStream<NetworkCondition>.Continuation
    private var known: NetworkCondition?
    private var told: NetworkCondition?

    init(_ continuation: AsyncStream<NetworkCondition>.Continuation) { self.continuation = continuation }

    func take(_ condition: NetworkCondition?, _ policy: DevicePolicy) {
        known = condition ?? known
        guard let known else { return }
        let new = PolicyNetwork.condition(known, policy)
        guard new != told else { return }
        told = new
        continuation.yield(new)
    }
}
