import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthHTTP

/// The server of a home: the page, the APIs of OpenAI, Anthropic, Ollama and llama.cpp, and the downloads of other processes.
///
/// ```swift
/// let hearth = try Hearth()
/// var options = HearthServer.Options()
/// options.port = 8080
/// try await HearthServer(hearth, options).run()
/// ```
public final class HearthServer: Sendable {
    /// The certificate and the key of a server, as PEM files.
    public struct TLS: Sendable, Hashable {
        public var certificate: Path
        public var key: Path

        public init(certificate: Path, key: Path) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Where a server listens, and for whom.
    public struct Options: Sendable {
        /// The port, 0 for a free one; `nil` for the setting `serve.port`.
        public var port: UInt16?
        /// The address to listen on; `0.0.0.0` for all that this machine has.
        public var host = "127.0.0.1"
        /// Listening sockets that another process opened; they replace host and port.
        public var sockets: [Int32] = []
        public var tls: TLS?
        /// Whether other machines are let in without TLS.
        public var isInsecure = false
        /// The version of the program, as clients see it.
        public var version = "0"
        /// Takes a line for each request, without its texts; `nil` for no log.
        public var log: (@Sendable (String) -> Void)?
        /// Takes what happens to the server.
        public var report: @Sendable (ServerEvent) -> Void = { _ in }
        /// Whether the end of the server closes the models that it began with.
        package var ownsModels = false
        /// Prints an address that signs a browser in; the page names it to a browser without a session.
        package var signInCommand = "hearth serve"
        /// Whether other machines may open the page with a code, without TLS and before there is a key. Replaces ``host``.
        package var isOnNetwork = false
        /// Takes the address with a code for other machines, if they reach the server.
        package var invite: (@Sendable (PageInvitation) -> Void)?

        public init() {}
    }

    private let hearth: Hearth
    private let options: Options
    private let home = Locked<ServedHome?>(nil)

    /// A server of the models of an app.
    public init(_ hearth: Hearth, _ options: Options = Options()) {
        self.hearth = hearth
        self.options = options
    }

    /// Serves until the task is cancelled or a client asks for the end; answers on their way end with a reason, and downloads
    /// keep their bytes.
    /// - Throws: ``ServerError``, ``ConfigurationError``, `FileError`, `DatabaseError`.
    public func run() async throws {
        let environment = hearth.surroundings.environment
        let place = ResidentPlace(home: hearth.home, environment: environment)
        let time = hearth.surroundings.time
        let claim = try await blocking {
            try place.prepare()
            guard let claim = try place.claim(time: time) else {
                throw ServerError.alreadyServing(try place.holder(time: time))
            }
            return claim
        }
        let renewal = ClaimRenewal(time: time) { _ = try claim.renew(at: $0) }
        let end = {
            renewal.stop()
            await blocking { claim.release() }
        }
        try await withEnding(end) {
            try await serve(at: place, ServiceManager(environment: environment))
        }
    }

    /// Reads the settings and the keys again.
    public func reload() async { await home.withLock { $0 }?.reload() }

    private func serve(at place: ResidentPlace, _ manager: ServiceManager) async throws {
        let (hearth, options) = (hearth, options)
        let identity = try await blocking {
            try options.tls.map { try ServerIdentity(certificate: $0.certificate, key: $0.key) }
        }
        let home = try await blocking {
            try ServedHome(hearth, version: options.version, isOwned: options.ownsModels, report: options.report)
        }
        self.home.withLock { $0 = home }
        defer { self.home.withLock { $0 = nil } }
        let page: NativeService
        let sockets: [ListeningSocket]
        do {
            sockets = try await blocking { try Self.sockets(options, home, hearth.configuration, place) }
            page = try await NativeService(home)
        } catch {
            await home.close()
            throw error
        }
        let server = ResidentServer(
            home, page: page, files: PageFiles(hearth.surroundings.environment, command: options.signInCommand),
            usesTLS: identity != nil, log: options.log)
        do {
            let listener = try await blocking { try server.listen(on: sockets, identity: identity) }
            home.setListening(listener.addresses, usesTLS: identity != nil)
            began(server, listener.addresses.first, hasTLS: identity != nil, manager)
            if options.isOnNetwork, let take = options.invite, let invitation = await home.invite(.printed) {
                take(invitation)
            }
        } catch {
            await end(server)
            throw error
        }
        let following = Task { await home.followSettings() }
        await server.stopping.wait()
        following.cancel()
        options.report(.ending)
        manager.tell("STOPPING=1")
        // A task of its own: the caller is cancelled, and the end still takes its time.
        await Task { await drain(server, home.draining) }.value
    }

    /// Ends at once, or lets balancers notice first, and then answers on their way end.
    private func drain(_ server: ResidentServer, _ draining: (delay: Duration, limit: Duration)?) async {
        guard let draining else { return await end(server) }
        server.beginEnding()
        try? await hearth.surroundings.time.sleep(for: draining.delay)
        await end(server, grace: draining.limit)
    }

    private func began(
        _ server: ResidentServer, _ address: ListeningAddress?, hasTLS: Bool, _ manager: ServiceManager
    ) {
        let address = address.map { (hasTLS ? "https" : "http") + $0.reachable.url.dropFirst(4) }
        server.home.setAddress(address)
        manager.tell("READY=1", "STATUS=Serving at \(address ?? server.home.path.string)")
        if let address, let url = URL(address: address),
            let signIn = URL(address: address + server.home.sessions.oneTimePath())
        {
            options.report(.ready(url, signIn: signIn))
        }
        server.beginWork(options.report)
    }

    /// Answers on their way have `grace`, and the rest half a second more: a worker that is slower is ended.
    private func end(_ server: ResidentServer, grace: Duration = .milliseconds(750)) async {
        let late = endingWorkers(after: grace + .milliseconds(250))
        // Streams of events have no end of their own.
        server.page.log.finish()
        await server.stop(grace: grace)
        let slow = endingWorkers(after: .milliseconds(250))
        await server.page.close()
        await server.home.close()
        late.cancel()
        slow.cancel()
    }

    private func endingWorkers(after limit: Duration) -> Task<Void, any Error> {
        Task { [time = hearth.surroundings.time] in
            try await time.sleep(for: limit)
            LivingWorkers.end()
        }
    }

    /// Opens the sockets.
    /// - Throws: ``ServerError`` with `key-required` for an address of the network without a key, or without TLS.
    private static func sockets(
        _ options: Options, _ home: ServedHome, _ settings: Configuration, _ place: ResidentPlace
    ) throws -> [ListeningSocket] {
        try settings.require(.server)
        var sockets = try options.sockets.map { try ListeningSocket(inherited: $0) }
        if sockets.isEmpty {
            let port = options.port ?? settings.server.port
            sockets.append(try ListeningSocket(host: options.isOnNetwork ? "0.0.0.0" : options.host, port: port))
            if options.isOnNetwork, let port = sockets.first?.address?.port {
                do {
                    sockets.append(try ListeningSocket(host: "::", port: port, isIPv6Only: true))
                } catch {
                    Log.write(.info, "server", "the server does without IPv6", [.error(error)])
                }
            }
        }
        for address in sockets.compactMap(\.address) where !address.isLoopback && !options.isOnNetwork {
            guard home.hasKeys, options.tls != nil || options.isInsecure else {
                throw ServerError.keyRequired(address, hasKeys: home.hasKeys)
            }
        }
        return sockets + [try ListeningSocket(unix: place.socket)]
    }
}

extension PageFiles {
    /// The files of the program; in a debug build, those of the folder in `HEARTH_PAGE`.
    fileprivate convenience init(_ environment: [String: String], command: String) {
        #if DEBUG
        let folder = environment["HEARTH_PAGE"].map { Path($0) }
        #else
        let folder: Path? = nil
        #endif
        self.init(folder: folder, command: command)
    }
}

extension HearthError where Domain == ServerErrorDomain {
    fileprivate static func keyRequired(_ address: ListeningAddress, hasKeys: Bool) -> Self {
        Self(
            .keyRequired,
            "other machines would reach \(address.url) without \(hasKeys ? "TLS" : "a key")",
            context: ErrorContext(
                url: address.url, field: hasKeys ? "tls" : "keys",
                remedy: hasKeys
                    ? "Give a certificate and its key, or let other machines in without TLS in a network you trust."
                    : "Create a key first."))
    }
}
