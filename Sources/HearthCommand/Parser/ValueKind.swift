import Foundation
import HearthBase

/// Converts words of the command line to values.
struct ValueKind<Value: Sendable>: Sendable {
    /// A description of valid words, to complete "must be …".
    let expectation: String
    /// Words that a shell may offer.
    let completion: Completion
    /// Converts a word; `nil` if it is invalid, or a specific error that explains more.
    let parse: @Sendable (String) throws -> Value?

    init(
        _ expectation: String, completion: Completion = .none, _ parse: @escaping @Sendable (String) throws -> Value?
    ) {
        self.expectation = expectation
        self.completion = completion
        self.parse = parse
    }
}

/// Words that a shell may offer for a parameter.
enum Completion: Sendable, Hashable {
    case none, files, folders
    case words([String])
    /// The families of installed models.
    case installed
    /// The families of installed and of offered models, and model files.
    case models
    case settings
    /// The values of the setting in the word before.
    case settingValues
}

extension ValueKind where Value == String {
    /// Any text, including an empty one.
    static var text: Self { ValueKind("text") { $0 } }
    /// Any text except an empty one.
    static var word: Self { ValueKind("a text that is not empty") { $0.isEmpty ? nil : $0 } }
}

extension ValueKind where Value == Path {
    /// The path of a file or folder.
    static var path: Self { ValueKind("a text that is not empty") { $0.isEmpty ? nil : Path($0) } }
    /// The path of a file or folder, from the root.
    static var absolutePath: Self {
        ValueKind("a text that is not empty") { $0.isEmpty ? nil : Path($0).absolute }
    }
}

extension ValueKind where Value == Int {
    /// A whole number in a range.
    static func integer(_ range: ClosedRange<Int>) -> Self {
        let upper = range.upperBound == .max ? " or more" : " to \(range.upperBound)"
        return ValueKind("a whole number, \(range.lowerBound)\(upper)") { word in
            Int(word).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueKind where Value == UInt16 {
    /// A port to listen on; 0 takes a free one.
    static var port: Self { ValueKind("a whole number, 0 to 65535") { UInt16($0) } }
}

extension ValueKind where Value == UInt32 {
    /// The beginning of random numbers.
    static var seed: Self { ValueKind("a whole number, 0 to \(UInt32.max)") { UInt32($0) } }
}

extension ValueKind where Value == Float {
    /// A finite decimal number in a range.
    static func number(_ range: ClosedRange<Float>) -> Self {
        ValueKind("a number from \(range.lowerBound.plain) to \(range.upperBound.plain)") { word in
            Float(word).flatMap { $0.isFinite && range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of an enumeration.
    static var choice: Self {
        let words = Value.allCases.map(\.rawValue)
        return ValueKind("one of " + words.joined(separator: ", "), completion: .words(words)) { Value(rawValue: $0) }
    }
}

extension ValueKind where Value == UInt64 {
    /// A positive number of bytes: `500000`, `500K`, `1.5M`, `2GiB`. K, M and G are powers of 1000; KiB, MiB and GiB
    /// of 1024.
    static var byteCount: Self {
        ValueKind("a number of bytes such as 500000, 500K or 1.5M") { ByteCount(parsing: $0)?.bytes }
    }
}

extension ValueKind where Value == String {
    /// The name of a key.
    static var keyName: Self {
        ValueKind("a name of at most 64 characters") { (1...64).contains($0.count) && $0.isPlain() ? $0 : nil }
    }
}

extension ValueKind {
    /// Cases of an enumeration, separated by commas.
    static func several<Case>(_ expectation: String) -> Self
    where Value == Set<Case>, Case: RawRepresentable & Hashable & Sendable, Case.RawValue == String {
        ValueKind(expectation) { text in
            let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let cases = Set(names.compactMap(Case.init(rawValue:)))
            return cases.count == names.count && !cases.isEmpty ? cases : nil
        }
    }
}

extension Option where Value == ListingFormat {
    /// The option of commands that list something.
    static var listing: Self {
        Option(wrappedValue: .table, "format", "FORMAT", .choice, "table, or json for programs.")
    }
}

extension Option where Value == EventFormat {
    /// The option of commands that report progress.
    static var events: Self {
        Option(wrappedValue: .text, "format", "FORMAT", .choice, "text, or json: one event a line.")
    }

    /// The option of commands that print a report.
    static var report: Self {
        Option(wrappedValue: .text, "format", "FORMAT", .choice, "text, or json for programs.")
    }
}

extension Float {
    fileprivate var plain: String { self == rounded() && magnitude < 1e9 ? String(Int(self)) : String(self) }
}
