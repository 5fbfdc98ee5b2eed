import Foundation
import HearthBase

/// The limits and deadlines of a listener.
package struct ListenerLimits: Sendable, Hashable {
    /// The most connections of one address; further ones wait in the system's queue.
    package var connections = 4096
    /// The most connections of one peer (``ServerPeer/network``); further ones replace its oldest idle one.
    package var connectionsPerPeer = Int.max
    /// The most connections of one peer on which no request has shown a key.
    package var connectionsWithoutKey = Int.max
    /// The memory of a connection: a request's line and headers, and the headers of its reply.
    package var connectionMemory = 32 << 10
    /// The most header fields of a request.
    package var headerFields = 100
    /// The most bytes of a request's target.
    package var targetBytes = 8 << 10
    /// The most bytes of a request's body; 0 refuses every body.
    package var bodyBytes: UInt64 = 64 << 20
    /// The most bytes of bodies at paths whose routes write them to the disk.
    package var largeBodies: [String: UInt64] = [:]
    /// From the start of a connection, or of a request, to the end of the header.
    package var headerTime = Duration.seconds(20)
    /// The time in which a body must arrive, besides a second for each ``slowestBody`` bytes.
    package var bodyTime = Duration.seconds(60)
    /// The lowest rate of a body in bytes per second.
    package var slowestBody: UInt64 = 16 << 10
    /// The longest time between two requests of a connection.
    package var idleTime = Duration.seconds(75)
    /// The longest time without any byte in either direction, while the server does not compute.
    package var silence = Duration.seconds(60)

    package init() {}

    /// The most connections of one peer, for servers of the network.
    static let manyOfOnePeer = 256

    /// Those of the resident process.
    package static let resident = {
        var limits = Self()
        limits.connectionsPerPeer = manyOfOnePeer
        limits.connectionsWithoutKey = 64
        return limits
    }()

    /// Those of a model origin.
    package static let origin = {
        var limits = Self()
        limits.connections = 512
        limits.connectionsPerPeer = manyOfOnePeer
        limits.connectionMemory = 16 << 10
        limits.bodyBytes = 0
        return limits
    }()

    /// The most bytes of a body at a path.
    func bodyBytes(at path: String) -> UInt64 { largeBodies[path] ?? bodyBytes }

    /// Raises the process's limit of open files to what these connections need, as far as the system permits.
    func raiseOpenFiles() {
        var limit = rlimit()
        #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        #else
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        // A request holds its socket twice, and a file may be open for its reply.
        let wanted = min(rlim_t(connections) * 3 + 1024, limit.rlim_max)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        if setrlimit(resource, &limit) != 0 {
            Log.write(.info, "the limit of open files stays", [.count("limit", UInt64(limit.rlim_cur))])
        }
    }
}
