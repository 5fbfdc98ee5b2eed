import Hearth
import HearthBase
import HearthRouting

/// An upstream in `hearth ps` and on the page.
struct UpstreamRow: Codable, Sendable, Hashable {
    var name: String
    var kind: String
    /// The address without a user and a query.
    var address: String
    /// The requests under way.
    var running: Int
    /// The requests that wait for a slot.
    var waiting: Int
    /// The most requests at once; absent for any number.
    var slots: Int?
    /// Whether the last requests failed, so that other models of an alias take over.
    var isFailing: Bool
    /// Why its models are not known; absent if they are.
    var problem: String?
    /// The names under which its models are served.
    var models: [String]

    init(_ row: Upstreams.Row) {
        (name, kind, address) = (row.name, row.kind.rawValue, row.address)
        (running, waiting, slots) = (row.running, row.waiting, row.slots)
        (isFailing, problem, models) = (row.isFailing, row.problem, row.models)
    }

    /// The row in the status of the process.
    var json: JSONValue {
        var body: JSONValue = [
            "name": .string(name), "kind": .string(kind), "address": .string(address), "running": .integer(running),
            "waiting": .integer(waiting), "isFailing": .boolean(isFailing),
            "models": .array(models.map { .string($0) }),
        ]
        body["slots"] = slots.map { .integer($0) }
        body["problem"] = problem.map { .string($0) }
        return body
    }
}

struct UpstreamsBody: Codable, Sendable, Hashable { var upstreams: [UpstreamRow] }
