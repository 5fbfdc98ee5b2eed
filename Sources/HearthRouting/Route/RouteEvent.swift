/// A change that the route has to know.
package enum RouteEvent: Sendable, Hashable {
    /// A time of ``Route/nextWake(after:)`` has come.
    case tick
    /// The network monitor reported a condition.
    case network(isOnline: Bool)
    /// Settings, tier or credits changed.
    case policy(RoutePolicy)
    /// A health check ended; an answer to an older check is ignored.
    case health(check: Int, isHealthy: Bool)
    /// The first visible token of a cloud answer arrived.
    case cloudToken
    /// A request that ``Route/begin(_:at:)`` sent to the cloud ended.
    case cloudEnded(CloudOutcome)
    /// A local model begins or ends an answer.
    case localBegan
    case localEnded
}

/// An action that the owner of the route performs.
package enum RouteEffect: Sendable, Hashable {
    /// Asks the cloud whether it works, then reports ``RouteEvent/health(check:isHealthy:)``.
    case checkHealth(Int)
    /// Frees the memory of idle local models.
    case evictLocalModels
    /// Requests without needs of their own go to another engine from now on.
    case switched(RouteDecision)
}

/// The connection of the device.
package enum RouteLink: Sendable, Hashable {
    case offline
    /// Online since a moment; the cloud waits for the end of the window.
    case settling(since: Duration, window: Duration, isReconnect: Bool)
    case stable
}

/// The knowledge about the cloud's health.
package struct RouteHealth: Sendable, Hashable {
    /// The last answer: of a check, or of a request.
    package struct Answer: Sendable, Hashable {
        package var time: Duration
        package var isHealthy: Bool
    }

    package internal(set) var last: Answer?
    /// Whether the cloud is used only after a healthy answer.
    package internal(set) var isRequired = false
    /// The number of the running check; `nil` if none runs.
    package internal(set) var running: Int?
    /// The number of the last check.
    var number = 0
    /// The start of the schedule, and the checks begun since.
    var began: Duration = .zero
    var tries = 0
    /// Whether a check of this schedule failed.
    var hasFailed = false
    /// The time of the next check; `nil` if none is due.
    package internal(set) var nextCheck: Duration?

    /// Starts the schedule.
    mutating func require(at now: Duration) {
        isRequired = true
        (began, tries, hasFailed) = (now, 0, false)
        (running, nextCheck) = (nil, now)
    }

    /// Begins a check.
    /// - Returns: its number.
    mutating func begin() -> Int {
        number += 1
        tries += 1
        (running, nextCheck) = (number, nil)
        return number
    }

    /// Notes the answer of the running check.
    mutating func take(isHealthy: Bool, at now: Duration) {
        running = nil
        last = Answer(time: now, isHealthy: isHealthy)
        isRequired = !isHealthy
        guard !isHealthy else { return }
        hasFailed = true
        let schedule = Route.healthSchedule
        let offset =
            tries < schedule.count
            ? schedule[tries]
            : (schedule.last ?? .zero) + Route.healthInterval * (tries - schedule.count + 1)
        nextCheck = max(now, began + offset)
    }

    /// Notes an answer to a request, which proves more than a check.
    mutating func confirm(at now: Duration) {
        last = Answer(time: now, isHealthy: true)
        (isRequired, running, nextCheck, hasFailed) = (false, nil, nil, false)
    }
}
