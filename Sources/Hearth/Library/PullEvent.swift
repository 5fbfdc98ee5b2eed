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
    case failed(FailureBody)

    /// The code of a pull whose task was cancelled; its bytes are kept.
    package static let interruptedCode = "interrupted"

    /// The failure of a pull; a cancelled one was interrupted.
    package init(_ error: any Error) {
        if let failure = error as? any HearthFailure {
            self = .failed(FailureBody(failure))
        } else if error is CancellationError {
            self = .failed(
                FailureBody(code: Self.interruptedCode, message: "interrupted", disposition: .interrupted))
        } else {
            Log.write(.error, "a pull failed", [.error(error)])
            self = .failed(FailureBody(code: "internal-error", message: "an unexpected error: \(error)"))
        }
    }

    /// The event on a line.
    package var line: [UInt8] {
        // Values of these types always encode.
        ((try? JSON.data(self)).map { Array($0) } ?? []) + [UInt8(ascii: "\n")]
    }

    /// Reads a line; `nil` for an event of a later version.
    package init?(line: String) {
        guard let event = try? JSON.value(Self.self, Data(line.utf8)) else { return nil }
        self = event
    }
}

/// The installed release at the end of a pull.
package struct PulledRelease: Sendable, Hashable {
    package let row: ReleaseRow
    package let fetchedBytes: UInt64
    /// Whether the release was installed before the pull.
    package let wasInstalled: Bool

    package init(_ outcome: PullOutcome) {
        row = ReleaseRow(outcome.release)
        switch outcome {
        case .installed(_, let bytes): (fetchedBytes, wasInstalled) = (bytes, false)
        case .alreadyInstalled: (fetchedBytes, wasInstalled) = (0, true)
        }
    }
}

// MARK: JSON

extension PullEvent: Codable {
    private enum CodingKeys: CodingKey { case event, text }
    private enum Kind: String, Codable { case note, progress, done, error }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch try values.decode(Kind.self, forKey: .event) {
        case .note: self = .note(try values.decode(String.self, forKey: .text))
        case .progress: self = .progress(try TransferProgress(from: decoder))
        case .done: self = .done(try PulledRelease(from: decoder))
        case .error: self = .failed(try FailureBody(from: decoder))
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
            try reading.encode(to: encoder)
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
    private enum CodingKeys: CodingKey { case fetchedBytes, wasInstalled }

    package init(from decoder: any Decoder) throws {
        row = try ReleaseRow(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        fetchedBytes = try values.decode(UInt64.self, forKey: .fetchedBytes)
        wasInstalled = try values.decodeIfPresent(Bool.self, forKey: .wasInstalled) ?? false
    }

    package func encode(to encoder: any Encoder) throws {
        try row.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(fetchedBytes, forKey: .fetchedBytes)
        if wasInstalled { try values.encode(true, forKey: .wasInstalled) }
    }
}
