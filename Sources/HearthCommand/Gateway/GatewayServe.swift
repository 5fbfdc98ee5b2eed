import Foundation
import HearthBase
import HearthHTTP
import HearthRouting
import HearthServer

/// `hearth gateway serve`
struct GatewayServe: Command {
    @Option("bucket", "URL", .serverAddress, "The bucket or a folder in it: https://HOST/BUCKET[/FOLDER].")
    var bucket: URL?
    @Option(
        "region", "NAME", .word, default: "AWS_REGION, else us-east-1; Cloudflare R2 has auto",
        "The bucket's region.") var region: String?
    @Option(
        "files", "URL", .serverAddress, default: "the bucket's address",
        "The beginning of the files' addresses in the catalog.") var files: URL?
    @Option("lifetime", "SECONDS", .integer(1...AddressSigner.longestLife), "How long a signed address works.")
    var lifetime = 900
    @Option("cloud-model", "NAME", .word, default: CloudKind.gemini.defaultModel, "The Gemini model that answers.")
    var cloudModel: String = CloudKind.gemini.defaultModel
    @Option(
        "cloud-key-file", "FILE", .absolutePath, default: "the variable GEMINI_API_KEY",
        "A file with Gemini's key, permissions 0600.") var cloudKey: Path?
    @Option("cloud-url", "URL", .serverAddress, default: "Google's", "The server of the cloud model.")
    var cloudURL: URL?
    @Option(.gatewayDatabase) var database: String?
    @Option(
        "audit", "FILE", .word, default: "gateway/audit.log in the home",
        "A line of JSON for each decision is added here; - for stderr.") var audit: String?
    @Option("port", "N", .port, "The port to listen on; 0 takes a free one.") var port: UInt16 = 4328
    @Option("host", "ADDRESS", .word, "The address to listen on; 0.0.0.0 for all that this machine has.") var host =
        "127.0.0.1"
    let tls = TLSFiles()
    @Flag("insecure", "Let other machines in without TLS, behind a balancer that has it.") var isInsecure
    @Flag("access-log", "Write a line on stderr for every request: who, path, status, bytes, time.") var logsAccess

    static let declaration = CommandDeclaration(
        "gateway", "serve", summary: "Serve signed addresses and the cloud model to devices",
        """
        POST /models/address exchanges a device's key for an address of a file in the bucket that works for a while.
        POST /ai/chat forwards to Gemini with this server's key and counts the credits of the device's. GET
        /agent/health is for balancers and devices.

        The keys of the bucket are in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Give --bucket, a
        key of Gemini, or both. hearth gateway keys create makes the keys of devices. With one --database, any number of
        gateways may run behind a balancer.

        A key runs at most 64 requests at once and 1,200 a minute, in each gateway.

        0: It was told to end.
        1: It cannot listen, or cannot use its records.

        hearth gateway serve --bucket https://ACCOUNT.r2.cloudflarestorage.com/models --region auto
        # Signed addresses of a bucket.
        hearth gateway serve --cloud-key-file /etc/hearth/gemini --host 0.0.0.0 --insecure
        # The cloud model, behind a balancer with TLS.
        """)

    func run(in context: CommandContext) async throws {
        let signer = try signer(context.environment)
        let relay = try await relay(context.environment)
        guard signer != nil || relay != nil else {
            throw UsageError(
                "the gateway has nothing to give", hint: "Give --bucket, or a key of Gemini, or both.")
        }
        let identity = try await identity()
        let socket = try await blocking { [host, port] in try ListeningSocket(host: host, port: port) }
        if let address = socket.address, !address.isLoopback, identity == nil, !isInsecure {
            throw ServerError(
                .keyRequired, "other machines would reach \(address.url) without TLS",
                context: ErrorContext(
                    url: address.url,
                    remedy: "Give --tls-cert and --tls-key, or --insecure behind a balancer with TLS."))
        }
        let store = try await context.openGateway(database)
        var file: Path? = try context.gatewayFolder.appending("audit.log")
        if let audit { file = audit == "-" ? nil : Path(audit).absolute }
        let auditLog = AuditLog(file, time: context.time)
        let console = context.console
        let complain: @Sendable (String) -> Void = { console.complain($0) }
        let log = logsAccess ? complain : nil
        let gateway = Gateway(
            store: store, signer: signer, relay: relay, audit: auditLog, time: context.time)
        let server: GatewayServer
        do {
            try await auditLog.check()
            server = try await blocking {
                try GatewayServer(gateway, on: [socket], identity: identity, log: log)
            }
            let address = server.addresses.first?.reachable.url ?? ""
            try console.print((identity == nil ? "http" : "https") + address.dropFirst(4))
            console.say("Ctrl-C ends it.")
        } catch {
            await store.close()
            throw error
        }
        // Wait until the task is cancelled.
        await untilCancelled()
        // A task of its own: the command is cancelled, and the end still takes its time.
        await Task { await server.stop() }.value
    }

    /// The signer of the bucket; `nil` without a bucket.
    private func signer(_ environment: [String: String]) throws -> AddressSigner? {
        guard let bucket else { return nil }
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let id = value("AWS_ACCESS_KEY_ID"),
            let secret = value("AWS_SECRET_ACCESS_KEY").flatMap({ Secret($0) })
        else {
            throw UsageError(
                "the keys of the bucket are not set", hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
        }
        let signing = SigV4(
            accessKey: id, secretKey: secret, sessionToken: value("AWS_SESSION_TOKEN").flatMap { Secret($0) },
            region: region ?? value("AWS_REGION") ?? "us-east-1")
        return AddressSigner(bucket: bucket, published: files ?? bucket, lifetime: lifetime) { url, seconds, date in
            try signing.presign(url: url, method: "GET", expires: seconds, at: date)
        }
    }

    /// The relay of the cloud model; `nil` without a key of it.
    private func relay(_ environment: [String: String]) async throws -> ChatRelay? {
        let secret = try await blocking { [cloudKey] in
            try cloudKey.map(CloudKey.read) ?? environment["GEMINI_API_KEY"].flatMap { Secret($0) }
        }
        guard let secret, let url = cloudURL ?? CloudKind.gemini.defaultURL else { return nil }
        return ChatRelay(url: url, model: cloudModel, key: secret)
    }

    private func identity() async throws -> ServerIdentity? {
        guard let files = tls.files else { return nil }
        return try await blocking { try ServerIdentity(certificate: files.certificate, key: files.key) }
    }
}
