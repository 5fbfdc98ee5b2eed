import Foundation
import HearthBase
import HearthDelivery
import HearthTransfer

/// An event of a pull, as a line of JSON for programs: `note`, `progress`, and at the end `done` or `error`.
package enum PullEvent: Sendable {
    /// A sentence for people.
    case note(String)
    case progress(TransferProgress)
    case done(PulledRelease)
    case failed(PullFailure)

    /// The failure of a pull; a cancelled one was interrupted.
    package init(_ error: any Error) {
        if let failure = error as? any HearthFailure {
            self = .failed(PullFailure(failure))
        } else if error is CancellationError {
            self = .failed(.interrupted)
        } else {
            Log.write(.error, "a pull failed", [.error(error)])
            self = .failed(PullFailure(code: "internal-error", message: "an unexpected error: \(error)"))
        }
    }

    /// The event on a line.
    package var line: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        } catch {
            // Values of these types always encode.
            return []
        }
    }

    /// Reads a line; `nil` for an event of a later version.
    package init?(line: String) {
        guard let event = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)) else { return nil }
        self = event
    }
}

/// The installed release at the end of a pull.
package struct PulledRelease: Sendable, Hashable {
    package let family: String
    package let version: String
    package let variant: String?
    let isActive: Bool
    let isVerified: Bool
    let path: String
    let sizeBytes: UInt64
    package let fetchedBytes: UInt64
    /// Whether the release was installed before the pull.
    package let wasInstalled: Bool

    package init(_ outcome: PullOutcome) {
        let release = outcome.release
        family = release.identity.family.name
        version = release.identity.versionName
        variant = release.identity.variant?.name
        isActive = release.isActive
        isVerified = release.receipt.isVerified
        path = release.folder.string
        sizeBytes = release.receipt.totalSize
        switch outcome {
        case .installed(_, let bytes): (fetchedBytes, wasInstalled) = (bytes, false)
        case .alreadyInstalled: (fetchedBytes, wasInstalled) = (0, true)
        }
    }
}

/// A failure that another process reports.
package struct PullFailure: HearthFailure, Hashable {
    package let codeText: String
    package let message: String
    package let context: ErrorContext
    package let disposition: ErrorDisposition
    package var underlying: (any Error)? { nil }

    init(
        code: String, message: String, context: ErrorContext = ErrorContext(), disposition: ErrorDisposition = .failed
    ) {
        codeText = code
        self.message = message
        self.context = context
        self.disposition = disposition
    }

    /// The facts of an error.
    init(_ error: any HearthFailure) {
        self.init(
            code: error.codeText, message: error.message, context: error.context, disposition: error.disposition)
    }

    /// The end of a cancelled pull, whose bytes are kept.
    static let interrupted = PullFailure(
        code: "interrupted", message: "interrupted", disposition: .interrupted)
}

// MARK: JSON

extension PullEvent: Codable {
    private enum CodingKeys: CodingKey { case event, text }
    private enum Kind: String, Codable { case note, progress, done, error }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch try values.decode(Kind.self, forKey: .event) {
        case .note: self = .note(try values.decode(String.self, forKey: .text))
        case .progress: self = .progress(try TransferProgress(event: decoder))
        case .done: self = .done(try PulledRelease(from: decoder))
        case .error: self = .failed(try PullFailure(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .note(let text):
            try container.encode(Kind.note, forKey: .event)
            try container.encode(text, forKey: .text)
        case .progress(let reading):
            try container.encode(Kind.progress, forKey: .event)
            try reading.encode(event: encoder)
        case .done(let release):
            try container.encode(Kind.done, forKey: .event)
            try release.encode(to: encoder)
        case .failed(let failure):
            try container.encode(Kind.error, forKey: .event)
            try failure.encode(to: encoder)
        }
    }
}

extension PulledRelease: Codable {
    private enum CodingKeys: String, CodingKey {
        case family, version, variant, state, active, verified, path, sizeBytes, fetchedBytes, wasInstalled
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        family = try values.decode(String.self, forKey: .family)
        version = try values.decode(String.self, forKey: .version)
        variant = try values.decodeIfPresent(String.self, forKey: .variant)
        isActive = try values.decode(Bool.self, forKey: .active)
        isVerified = try values.decode(Bool.self, forKey: .verified)
        path = try values.decode(String.self, forKey: .path)
        sizeBytes = try values.decode(UInt64.self, forKey: .sizeBytes)
        fetchedBytes = try values.decode(UInt64.self, forKey: .fetchedBytes)
        wasInstalled = try values.decodeIfPresent(Bool.self, forKey: .wasInstalled) ?? false
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(family, forKey: .family)
        try values.encode(version, forKey: .version)
        try values.encode(variant, forKey: .variant)
        try values.encode("installed", forKey: .state)
        try values.encode(isActive, forKey: .active)
        try values.encode(isVerified, forKey: .verified)
        try values.encode(path, forKey: .path)
        try values.encode(sizeBytes, forKey: .sizeBytes)
        try values.encode(fetchedBytes, forKey: .fetchedBytes)
        if wasInstalled { try values.encode(true, forKey: .wasInstalled) }
    }
}

extension PullFailure: Codable {
    private enum CodingKeys: CodingKey {
        case code, message, remedy, model, file, url, field, expected, found, status
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try values.decodeIfPresent(String.self, forKey: key) }
        let status = try values.decodeIfPresent(Int32.self, forKey: .status)
        self.init(
            code: try values.decode(String.self, forKey: .code),
            message: try values.decode(String.self, forKey: .message),
            context: ErrorContext(
                model: try text(.model), file: try text(.file), url: try text(.url), field: try text(.field),
                expected: try text(.expected), found: try text(.found), remedy: try text(.remedy)),
            disposition: [.usage, .tryLater, .interrupted].first { $0.exitStatus == status } ?? .failed)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(codeText, forKey: .code)
        try values.encode(message, forKey: .message)
        try values.encodeIfPresent(context.remedy, forKey: .remedy)
        try values.encodeIfPresent(context.model, forKey: .model)
        try values.encodeIfPresent(context.file, forKey: .file)
        try values.encodeIfPresent(context.url, forKey: .url)
        try values.encodeIfPresent(context.field, forKey: .field)
        try values.encodeIfPresent(context.expected, forKey: .expected)
        try values.encodeIfPresent(context.found, forKey: .found)
        try values.encode(disposition.exitStatus, forKey: .status)
    }
}

extension TransferProgress {
    private enum EventKeys: CodingKey {
        case phase, completedBytes, totalBytes, bytesPerSecond, secondsLeft, connections, source, waitingFor, attempt,
            attempts, repeatedBytes
    }

    /// Reads a reading of an event.
    fileprivate init(event decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: EventKeys.self)
        let state: TransferState =
            switch try values.decode(String.self, forKey: .phase) {
            case "queued": .queued
            case "connecting": .connecting
            case "verifying": .verifying
            case "paused": .waiting(.paused)
            case "waiting":
                .waiting(
                    try values.decodeIfPresent(String.self, forKey: .waitingFor) == "metered" ? .metered : .offline)
            case "retrying":
                .retrying(
                    attempt: try values.decodeIfPresent(Int.self, forKey: .attempt) ?? 1,
                    limit: try values.decodeIfPresent(Int.self, forKey: .attempts) ?? 1)
            case "extracting": .extracting
            case "installing": .installing
            case "preparing": .preparing
            case "probing": .probing
            default: .downloading
            }
        self.init(
            state: state, completedBytes: try values.decode(UInt64.self, forKey: .completedBytes),
            totalBytes: try values.decodeIfPresent(UInt64.self, forKey: .totalBytes),
            bytesPerSecond: try values.decodeIfPresent(Double.self, forKey: .bytesPerSecond),
            connections: try values.decodeIfPresent(Int.self, forKey: .connections) ?? 0,
            source: try values.decodeIfPresent(String.self, forKey: .source),
            repeatedBytes: try values.decodeIfPresent(UInt64.self, forKey: .repeatedBytes) ?? 0)
    }

    fileprivate func encode(event encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: EventKeys.self)
        try values.encode(state.word, forKey: .phase)
        try values.encode(completedBytes, forKey: .completedBytes)
        try values.encodeIfPresent(totalBytes, forKey: .totalBytes)
        // JSON has no infinity.
        try values.encodeIfPresent(bytesPerSecond.flatMap { $0.isFinite ? $0 : nil }, forKey: .bytesPerSecond)
        try values.encodeIfPresent(secondsLeft.flatMap { $0.isFinite ? $0 : nil }, forKey: .secondsLeft)
        try values.encode(connections, forKey: .connections)
        try values.encodeIfPresent(source, forKey: .source)
        try values.encodeIfPresent(state.hold.flatMap { $0 == .paused ? nil : "\($0)" }, forKey: .waitingFor)
        if case .retrying(let attempt, let limit) = state {
            try values.encode(attempt, forKey: .attempt)
            try values.encode(limit, forKey: .attempts)
        }
        if repeatedBytes > 0 { try values.encode(repeatedBytes, forKey: .repeatedBytes) }
    }
}
