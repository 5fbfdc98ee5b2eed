import CVision
import HearthBase

/// The reason of a failure in one of the C libraries.
struct VisionFailure: Error, Hashable {
    enum Kind: Hashable { case missing, unreadable, unsupported, failed }

    let kind: Kind
    /// The library's own words on one line, without the places in its source, at most 300 characters.
    let text: String

    /// Reads the reason that a C function wrote.
    init(_ error: hearth_vision_error) {
        kind =
            switch error.kind {
            case HEARTH_VISION_MISSING: .missing
            case HEARTH_VISION_UNREADABLE: .unreadable
            case HEARTH_VISION_UNSUPPORTED: .unsupported
            default: .failed
            }
        let bytes = withUnsafeBytes(of: error.text) { Array($0.prefix { $0 != 0 }) }
        let words = String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace || $0.isNewline }
            .joined(separator: " ").filter { !$0.isControl }
        text = String(words.replacing(/Exception from \S+:\d+: ?/, with: "").suffix(300))
    }

    /// Calls a C function that writes a reason if it returns `nil`.
    static func check<Result>(
        _ call: (UnsafeMutablePointer<hearth_vision_error>) -> Result?
    ) throws(VisionFailure) -> Result {
        var error = hearth_vision_error()
        guard let result = call(&error) else { throw VisionFailure(error) }
        return result
    }

    /// The error of a library that is not on this machine.
    func missing(_ library: String) -> ClassificationError {
        ClassificationError(
            .visionMissing, "\(library) cannot be loaded, which classifiers need: \(text)",
            context: ErrorContext(
                expected: library, remedy: "Run scripts/setup.sh where Hearth is built, or install the library."))
    }
}

extension Character {
    fileprivate var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
