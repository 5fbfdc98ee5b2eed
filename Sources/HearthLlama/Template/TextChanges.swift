#if Llama
import CLlama
import CLlamaShim
import Foundation
import HearthBase
import HearthInference

/// The changes of a text that a file's metadata asks for and llama.cpp does not make (`GGUFOwnKeys`).
struct TextChanges {
    /// Characters are composed: Unicode's normalization form C.
    private let composes: Bool
    /// The text is cut between digits, and before an apostrophe behind a letter.
    private let cuts: Bool
    private let addsFirstBlank: Bool

    /// - Throws: `cannot-load-model` for a change of a later version.
    init(model: OpaquePointer, of path: Path) throws(LLMError) {
        composes = try Self.flag(GGUFOwnKeys.normalizer, "nfc", model, path)
        cuts = try Self.flag(GGUFOwnKeys.cuts, "digits", model, path)
        addsFirstBlank = try Self.flag(GGUFOwnKeys.firstBlank, "true", model, path)
    }

    /// The changes as the shim takes them.
    var forShim: hearth_text_changes {
        hearth_text_changes(letters: Self.changed, composes: composes, cuts: cuts, first_blank: addsFirstBlank)
    }

    /// The text with composed characters, if they are composed.
    func composed(_ text: String) -> String { composes ? ComposedText.of(text) : text }

    /// Changes letters between control tokens; `nil` for no change.
    private static let changed:
        @convention(c) (
            UnsafePointer<hearth_text_changes>?, UnsafePointer<CChar>?, Int, UnsafeMutablePointer<Int>?
        ) -> UnsafeMutablePointer<CChar>? = { changes, text, length, count in
            guard let changes, let text, let count else { return nil }
            let bytes = UnsafeRawBufferPointer(start: text, count: length)
            // A text that is not UTF-8 is cut as it is.
            guard let given = String(validating: bytes, as: UTF8.self) else { return nil }
            let composed = changes.pointee.composes ? ComposedText.of(given) : given
            let result = changes.pointee.cuts ? TextCuts.marked(composed) : Array(composed.utf8)
            guard !result.elementsEqual(bytes), let copy = malloc(max(1, result.count)) else { return nil }
            result.withUnsafeBytes {
                copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: $0.count)
            }
            count.pointee = result.count
            return copy.assumingMemoryBound(to: CChar.self)
        }

    /// Whether a key has its only known value.
    private static func flag(
        _ key: String, _ known: String, _ model: OpaquePointer, _ path: Path
    ) throws(LLMError) -> Bool {
        guard let value = text(key, of: model), value != "false" else { return false }
        guard value == known else {
            throw ModelFile.failure(
                path, "it wants a change of texts that this version does not know", expected: known, found: value,
                remedy: "Use a later version, or import the model again.")
        }
        return true
    }

    private static func text(_ key: String, of model: OpaquePointer) -> String? {
        var buffer = [CChar](repeating: 0, count: 64)
        let length = Int(llama_model_meta_val_str(model, key, &buffer, buffer.count))
        guard length >= 0 else { return nil }
        return String(
            decoding: buffer.prefix(min(length, buffer.count - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
#endif
