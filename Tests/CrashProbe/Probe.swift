import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer

/// A child process of the crash tests: it fetches as the product does, over a disk that may end it with `SIGKILL`.
///
/// ```
/// HearthCrashProbe pull  HOME REFERENCE
/// HearthCrashProbe live  HOME [beside FOLDER] activate|answer|repair RELEASE, pull REFERENCE, rollback FAMILY, prune or recover
/// HearthCrashProbe fetch FOLDER ADDRESS SIZE SHA256 [INDEX-FILE]
/// HearthCrashProbe hold  HOME FAMILY
/// HearthCrashProbe terminal [forgotten] abort|null|trap|handled|end|wait
/// ```
/// `beside` names the folder of the models that came with the app.
/// `hold` takes a lease on the live release, maps its weights, prints `holding`, and then again and again `read SHA256` of what it
/// sees there, until it is killed.
/// `fetch` takes small pieces over four connections and records every 2 MiB. `HEARTH_CRASH="after 2 rename journal"` ends it
/// after the second rename to `journal`. It prints `step …` for everything it did to the disk, `wrote START END` for bytes of the
/// file, and at its end `fetched BYTES`, or `error CODE` with status 1.
@main struct Probe {
    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            let fetched: UInt64? =
                switch words.first {
                case "pull" where words.count == 3: try await pull(Path(words[1]), words[2])
                case "fetch" where words.count == 5 || words.count == 6: try await fetch(Array(words.dropFirst()))
                case "live" where words.count >= 3:
                    try await live(Path(words[1]), Array(words.dropFirst(2))) ? 0 : nil
                case "terminal" where words.count >= 2: try terminal(Array(words.dropFirst()))
                case "hold" where words.count == 3: try await hold(Path(words[1]), words[2])
                default: nil
                }
            guard let fetched else {
                say("error usage")
                exit(64)
            }
            say("fetched \(fetched)")
        } catch {
            say("error \((error as? any HearthFailure)?.codeText ?? "\(error)")")
            exit(1)
        }
    }

    /// One call of the system for each line: what was said before the end is heard.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
    }

    /// The disk of this process, with the end that the environment asks for.
    private static func disk(reporting: String?) -> KillingFileSystem {
        let words = ProcessInfo.processInfo.environment["HEARTH_CRASH"]?.split(separator: " ", maxSplits: 2) ?? []
        var kill: KillingFileSystem.Kill?
        if words.count == 3, let moment = KillingFileSystem.Moment(rawValue: String(words[0])),
            let occurrence = Int(words[1]), let step = KillingFileSystem.Step(words[2])
        {
            kill = KillingFileSystem.Kill(step, occurrence: occurrence, moment)
        }
        return KillingFileSystem(kill: kill) { step, bytes in
            if let bytes, step.name == reporting { say("wrote \(bytes.lowerBound) \(bytes.upperBound)") }
            say("step \(step)")
        }
    }

    private static func live(_ home: Path, _ words: [String]) async throws -> Bool {
        let isBeside = words.first == "beside" && words.count > 2
        return try await ActivationModes(
            home: home, bundled: isBeside ? Path(words[1]) : nil, disk: disk(reporting: nil)
        ).run(Array(words.dropFirst(isBeside ? 2 : 0)))
    }

    private static func pull(_ home: Path, _ reference: String) async throws -> UInt64 {
        let manager = ModelManager(
            home: home, origins: [], fileSystem: disk(reporting: nil), network: UnmonitoredNetwork(),
            deviceMemory: 1 << 40)
        switch try await manager.pull(ModelReference(parsing: reference)) {
        case .installed(_, let fetched): return fetched
        case .alreadyInstalled: return 0
        }
    }

    private static func fetch(_ words: [String]) async throws -> UInt64? {
        guard let url = URL(string: words[1]), let size = UInt64(words[2]), let digest = SHA256Digest(hex: words[3])
        else { return nil }
        var request = TransferRequest(label: "model", locations: [url], size: .exact(size), digest: digest)
        if words.count == 5 { request.index = try ChunkIndex(encoded: Data(contentsOf: URL(filePath: words[4]))) }
        var tuning = TransferTuning()
        tuning.pieceLength = 1 << 20
        tuning.maximumConnections = 4
        tuning.stragglerInterval = nil
        tuning.recordBytes = 2 << 20
        let transfer = FileTransfer(
            http: DefaultHTTPClient(), fileSystem: disk(reporting: "data.part"), time: .system, folder: Path(words[0]),
            tuning: tuning)
        return try await transfer.fetch(request) { _ in }.fetchedBytes
    }

    private static func hold(_ home: Path, _ name: String) async throws -> UInt64? {
        let store = ModelStore(home: home)
        guard let family = Family(name), let release = try await store.active(family), let weights = release.weights
        else { return nil }
        let lease = try await store.lease(release.identity)
        let mapped = try Data(contentsOf: weights.url, options: .alwaysMapped)
        say("holding")
        while true {
            say("read \(SHA256Digest(hashing: mapped).hex)")
            // A real pause: this program is watched by another one, which ends it.
            try await Task.sleep(for: .milliseconds(20))
            guard lease.isOnDisk else { return nil }
        }
    }
}
