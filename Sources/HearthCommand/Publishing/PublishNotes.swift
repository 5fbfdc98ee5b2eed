import HearthBase
import HearthCatalog
import HearthDelivery
import HearthPublishing

/// Options that describe a release; facts without an option stay as published before.
enum PublishNotes {
    private static let name = Option("name", "TEXT", .line, "The name people see.")
    private static let summary = Option("summary", "TEXT", .line, "What it is, for its card.")
    private static let trainedOn = Option(
        "trained-on", "DATE",
        ValueKind("a date such as 2026-03-27") { word in
            word.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}/) == nil ? nil : word
        }, "The date of its training data.")
    private static let classes = Option(
        "classes", "FILE", .word,
        "A classifier's classes, one to a line; its name, such as v1.txt, tells the list's version.")
    private static let notes = Option(
        "notes", "TEXT", ValueKind("a text of at most 65536 bytes") { (1...65536).contains($0.utf8.count) ? $0 : nil },
        "What is new in it.")
    private static let license = Option("license", "TEXT", .line, "The license, best as an SPDX identifier.")
    private static let role = Option(
        "role", "ROLE", ValueKind("text, vision or classifier") { ModelRole(rawValue: $0) },
        default: "from the files", "What it is for.")
    private static let appVersion = Option(
        "min-app-version", "V", ValueKind("a version such as 1.2.0") { SemanticVersion($0) },
        "The oldest version of an app that may have it.")
    private static let memory = Option(
        "memory", "SIZE", .byteCount, default: "estimated", "The memory a device has to have.")
    private static let current = Option(
        "current", "WHEN",
        ValueKind("always, never or if-newer") { ["always": true, "never": false, "if-newer": Bool?.none][$0] },
        default: "if-newer", "Whether devices take this version unless they ask for another.")
    private static let rollout = Option(
        "rollout", "PERCENT[:SEED]", ValueKind("a percentage, 0 to 100, and perhaps ':' and a word") { rollout($0) },
        "Offer it to so many devices only; the same seed chooses the same ones.")

    static let options: [any DeclaredOption] = [
        name, summary, notes, license, role, appVersion, memory, current, rollout, classes, trainedOn,
    ]

    /// Applies the options to a request.
    /// - Throws: ``UsageError``
    static func apply(_ values: ParsedArguments, to request: inout PublishRequest) throws {
        request.name = try values.value(name)
        request.summary = try values.value(summary)
        request.notes = try values.value(notes)
        request.trainedOn = try values.value(trainedOn)
        request.classes = try values.value(classes).map { Path($0) }
        request.license = try values.value(license)
        request.role = try values.value(role)
        request.minimumAppVersion = try values.value(appVersion)
        request.memoryBytes = try values.value(memory)
        request.isCurrent = try values.value(current) ?? nil
        request.rollout = try values.value(rollout)
    }

    private static func rollout(_ word: String) -> Rollout? {
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
