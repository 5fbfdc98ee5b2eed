import Hearth
import HearthBase

/// Counts of the listener for Prometheus.
package final class ServerMetrics: Sendable {
    private struct State {
        var requests: [String: UInt64] = [:]
        var sent: UInt64 = 0
        var broken: UInt64 = 0
        var refused: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Counts an exchange at its end.
    package func count(_ exchange: FinishedExchange) {
        state.withLock { state in
            state.requests["\(exchange.status / 100)xx", default: 0] += 1
            state.sent &+= exchange.bodyBytes
            if !exchange.isComplete { state.broken += 1 }
            if exchange.status == 401 || exchange.status == 403 || exchange.status == 421 || exchange.status == 429 {
                state.refused += 1
            }
        }
    }

    /// The counts as text of Prometheus.
    package func text(connections: Int, running: Int, jobs: Int) -> String {
        let state = state.withLock { $0 }
        var lines = [
            "# HELP hearth_http_requests_total Requests by class of status.",
            "# TYPE hearth_http_requests_total counter",
        ]
        lines += state.requests.sorted { $0.key < $1.key }.map {
            "hearth_http_requests_total{status=\"\($0.key)\"} \($0.value)"
        }
        func add(_ name: String, _ type: String, _ help: String, _ value: some BinaryInteger) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(type)", "\(name) \(value)"]
        }
        add("hearth_http_sent_bytes_total", "counter", "Bytes of bodies sent.", state.sent)
        add("hearth_http_broken_total", "counter", "Replies whose client left before their end.", state.broken)
        add(
            "hearth_http_refused_total", "counter", "Requests refused for key, origin, host or rate.", state.refused
        )
        add("hearth_http_connections", "gauge", "Open connections.", connections)
        add("hearth_http_requests_running", "gauge", "Requests in progress.", running)
        add("hearth_jobs_running", "gauge", "Pulls and other jobs in progress.", jobs)
        if let bytes = SystemMemory.residentBytes {
            add("hearth_process_resident_bytes", "gauge", "Memory of the process and its workers.", bytes)
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension SystemMemory {
    /// The memory of this process and its workers in bytes, `nil` if the system does not tell it. The mapped weights of a
    /// model count once for each process that uses them.
    package static var residentBytes: UInt64? {
        guard let own = residentBytes(of: "self") else { return nil }
        return LivingWorkers.all.reduce(own) { $0 + (residentBytes(of: "\($1)") ?? 0) }
    }

    private static func residentBytes(of process: String) -> UInt64? {
        guard let text = SystemFile.contents("/proc/\(process)/status") else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("VmRSS:") {
            return line.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }.map { $0 * 1024 }
        }
        return nil
    }
}
