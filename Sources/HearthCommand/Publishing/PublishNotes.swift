import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing

/// Options that describe a release; facts without an option stay as published before.
struct PublishNotes: ParameterGroup {
    @Option("name", "TEXT", .line, "The name people see.") var name: String?
    @Option("summary", "TEXT", .line, "What it is, for its card.") var summary: String?
    @Option(
        "notes", "TEXT", ValueKind("a text of at most 65536 bytes") { (1...65536).contains($0.utf8.count) ? $0 : nil },
        "What is new in it.")
    var notes: String?
    @Option("license", "TEXT", .line, "The license, best as an SPDX identifier.") var license: String?
    @Option(
        "role", "ROLE", ValueKind("text, vision or classifier") { ModelRole(rawValue: $0) },
        default: "from the files", "What it is for.")
    var role: ModelRole?
    @Option(
        "min-app-version", "V", ValueKind("a version such as 1.2.0") { SemanticVersion($0) },
        "The oldest version of an app that may have it.")
    var appVersion: SemanticVersion?
    @Option("memory", "SIZE", .byteCount, default: "estimated", "The memory a device has to have.") var memory: UInt64?
    @Option(
        "recommended", "yes|no", ValueKind("yes or no") { ["yes": true, "no": false][$0] }, default: "no",
        "Whether devices recommend it before the origin's other models.")
    var isRecommended: Bool?
    @Option(
        "current", "WHEN",
        ValueKind("always, never or if-newer") { ["always": true, "never": false, "if-newer": Bool?.none][$0] },
        default: "if-newer", "Whether devices take this version unless they ask for another.")
    var isCurrent: Bool??
    @Option(
        "rollout", "PERCENT[:SEED]", ValueKind("a percentage, 0 to 100, and perhaps ':' and a word") { share($0) },
        "Offer it to so many devices only; the same seed chooses the same ones.")
    var rollout: Rollout?
    @Option(
        "classes", "FILE", .path,
        "A classifier's classes, one to a line; its name, such as v1.txt, tells the list's version.")
    var classes: Path?
    @Option(
        "trained-on", "DATE",
        ValueKind("a date such as 2026-03-27") { word in
            word.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) == nil ? nil : word
        }, "The date of its training data.")
    var trainedOn: String?

    /// Whether there are facts that only the list of an origin tells.
    var needsList: Bool {
        notes != nil || role != nil || appVersion != nil || memory != nil || isRecommended != nil || isCurrent != nil
            || rollout != nil || classes != nil || trainedOn != nil
    }

    /// Applies the options to a request.
    func apply(to request: inout PublishRequest) {
        (request.name, request.summary, request.notes) = (name, summary, notes)
        (request.trainedOn, request.classes, request.license) = (trainedOn, classes, license)
        (request.role, request.minimumAppVersion, request.memoryBytes) = (role, appVersion, memory)
        (request.isCurrent, request.rollout, request.isRecommended) = (isCurrent ?? nil, rollout, isRecommended)
    }

    private static func share(_ word: String) -> Rollout? {
        let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let percent = parts.first.flatMap({ Int($0) }), (0...100).contains(percent) else { return nil }
        guard parts.count == 2 else { return Rollout(percent: percent, seed: Rollout.defaultSeed) }
        guard (1...64).contains(parts[1].utf8.count), parts[1].allSatisfy({ $0.isASCII && !$0.isWhitespace }) else {
            return nil
        }
        return Rollout(percent: percent, seed: String(parts[1]))
    }
}

extension ValueKind where Value == String {
    /// A line of at most 200 bytes.
    fileprivate static var line: Self {
        ValueKind("a line of at most 200 bytes") { word in
            (1...200).contains(word.utf8.count) && !word.contains(where: \.isNewline) ? word : nil
        }
    }
}
