import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthServer

/// The process that serves a home, from its claim to its end.
struct ServingProcess: Sendable {
    let context: CommandContext
    let order: Serve

    func run() async throws {
        let place = ResidentPlace(home: try context.home, environment: context.environment)
        let time = context.time
        let claim = try await blocking {
            try place.prepare()
            guard let claim = try place.claim(time: time) else {
                throw ServerError.alreadyServing(try place.holder(time: time))
            }
            return claim
        }
        let renewal = ClaimRenewal(time: time) { _ = try claim.renew(at: $0) }
        do {
            try await serve(at: place)
        } catch {
            renewal.stop()
            await release(claim)
            throw error
        }
        renewal.stop()
        await release(claim)
    }

    private func release(_ claim: HeldClaim) async {
        // The release itself throws nothing.
        try? await blocking { claim.release() }
    }

    private func serve(at place: ResidentPlace) async throws {
        let manager = ServiceManager(environment: context.environment)
        let identity = try await identity()
        let (settings, keys) = try await settings(place)
        let sockets = try await blocking { [order] in
            var sockets = try manager.sockets()
            if sockets.isEmpty {
                let port = order.port ?? settings.server.port ?? ServerConfiguration.defaultPort
                sockets.append(try ListeningSocket(host: order.host, port: port))
            }
            for address in sockets.compactMap(\.address) where !address.isLoopback {
                try check(address, keys: keys, hasTLS: identity != nil)
            }
            return sockets + [try ListeningSocket(unix: place.socket)]
        }
        let models = try await ServedModels(context: context)
        let stop = StopRequest()
        let page = try await ServedPage(models, context)
        let server = ResidentServer(
            rules: rules(settings), keys: keys, usesTLS: identity != nil, time: context.time,
            sessions: try await blocking { SessionFile.load(home: place.home) },
            parts: parts(models, page, at: place, stop: stop))
        let listener: HTTPListener
        do {
            listener = try await blocking { try server.listen(on: sockets, identity: identity) }
        } catch {
            await page.close()
            await models.close()
            throw error
        }
        let address = listener.addresses.first.map { address in
            (identity == nil ? "http" : "https") + address.reachable.url.dropFirst(4)
        }
        models.reloads { await reload(server, models, place) }
        models.setAddress(address)
        manager.tell("READY=1", "STATUS=Serving at \(address ?? place.socket.string)")
        do {
            if let address {
                try context.console.print(address)
                // A code is for a person, not for a log: `hearth serve --detach` prints another.
                if context.console.errors.isTerminal {
                    context.console.say("Open once in a browser: \(address)\(server.oneTimePath())")
                }
            }
        } catch {
            await end(server, models, page, manager)
            throw error
        }
        // Unfinished transfers of earlier processes go on.
        _ = server.jobs.start(["restore"]) { job in
            let work = Task { await models.restoreTransfers() }
            job.onCancel { work.cancel() }
            return await work.value
        }
        await waitForEnd(stop) { await reload(server, models, place) }
        context.console.say("Ending.")
        await end(server, models, page, manager)
    }

    private func end(
        _ server: ResidentServer, _ models: ServedModels, _ page: ServedPage, _ manager: ServiceManager
    ) async {
        manager.tell("STOPPING=1")
        // A task of its own: the command is cancelled, and the end still takes its time.
        await Task {
            // Streams of events have no end of their own.
            page.service.log.finish()
            await server.stop()
            await page.close()
            await models.close()
        }.value
    }

    /// Returns when the command is cancelled or a client asks for the end.
    private func waitForEnd(_ stop: StopRequest, reload: @escaping @Sendable () async -> Void) async {
        guard !Self.hasControllingTerminal else { return await stop.wait() }
        await context.interruptions.handlingHangUps(with: { Task { await reload() } }) { await stop.wait() }
    }

    private static var hasControllingTerminal: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        Foundation.close(descriptor)
        return true
    }

    // MARK: Settings

    private func settings(_ place: ResidentPlace) async throws -> (Configuration, AccessKeys) {
        let configuration = try await context.configuration
        return (configuration, try await blocking { try AccessKeys.load(home: place.home) })
    }

    private func rules(_ settings: Configuration) -> RequestGuard.Rules {
        var rules = RequestGuard.Rules()
        rules.hosts = Set(settings.server.hosts)
        rules.allowedOrigins = Set(settings.server.origins)
        rules.user = getuid()
        return rules
    }

    private func reload(_ server: ResidentServer, _ models: ServedModels, _ place: ResidentPlace) async {
        do {
            let (settings, keys) = try await settings(place)
            server.reload(rules: rules(settings), keys: keys)
            try await models.reload()
            context.console.say("The settings and keys were read again.")
        } catch {
            context.console.complain("The old settings stay: \(error)")
        }
    }

    private func identity() async throws -> ServerIdentity? {
        guard let certificate = order.certificate, let key = order.key else { return nil }
        return try await blocking {
            let texts = try [certificate, key].map { path in
                String(decoding: try LocalFileSystem().contents(ofFile: path, limit: 1 << 20), as: UTF8.self)
            }
            return ServerIdentity(certificate: texts[0], key: texts[1])
        }
    }

    /// Refuses an address of the network without a key, or without TLS.
    private func check(_ address: ListeningAddress, keys: AccessKeys, hasTLS: Bool) throws {
        let remedy: String
        if keys.keys.isEmpty {
            remedy = "Create one first: hearth keys create NAME."
        } else if !hasTLS, !order.isInsecure {
            remedy = "Give --tls-cert and --tls-key, or --insecure in a network you trust."
        } else {
            return
        }
        throw ServerError(
            .keyRequired,
            "other machines would reach \(address.url) without \(keys.keys.isEmpty ? "a key" : "TLS")",
            context: ErrorContext(url: address.url, remedy: remedy))
    }

    // MARK: Parts

    private func parts(
        _ models: ServedModels, _ page: ServedPage, at place: ResidentPlace, stop: StopRequest
    ) -> ResidentServer.Parts {
        let console = context.console
        var parts = ResidentServer.Parts(
            models: { request in await models.reply(to: request) },
            scope: { method, path in models.scope(method, path) })
        parts.version = HearthCommand.version
        parts.status = { await models.status() }
        parts.metrics = { models.metrics }
        parts.health = { await models.health() }
        parts.run = { job, order in await RemoteConsole.run(job, order, in: models.context) }
        parts.pull = { name in Self.pullWords(name) }
        parts.stop = { stop.request() }
        parts.reload = { await models.reloadNow() }
        parts.native = { await page.service.reply(to: $0) }
        parts.page = { await page.files.reply(to: $0) }
        let time = context.time
        parts.keepSessions = { sessions in
            // Saving throws nothing.
            try? await blocking { SessionFile.save(sessions, home: place.home, at: time.now) }
        }
        if order.logsAccess { parts.log = { line in console.complain(line) } }
        return parts
    }
}

extension ServingProcess {
    /// The words of a pull that another program asks for. It names no paths: only models of the origins and the Hub.
    fileprivate static func pullWords(_ name: String) -> [String]? {
        // A text that is no reference names no model.
        switch try? ModelReference(parsing: name) {
        case .family, .hub: return ["pull", name, "--format", "json", "--metered", "deny"]
        case .file, .manifest, nil: return nil
        }
    }
}

/// The request of a client that the process ends.
final class StopRequest: Sendable {
    private let stream: AsyncStream<Never>
    private let source: AsyncStream<Never>.Continuation

    init() { (stream, source) = AsyncStream.makeStream() }

    func request() { source.finish() }

    /// Returns after ``request()``, or when the task is cancelled.
    func wait() async { for await _ in stream {} }
}
