import Foundation
import HearthBase

/// The name of a quantization, as quantizers write it into file names: `Q4_K_M`, `UD-Q4_K_XL`, `MXFP4`, `BF16`.
package struct QuantizationLabel: Sendable, Hashable, CustomStringConvertible {
    /// Upper-case letters, digits and `_`, after `UD-` for weights that were measured one by one.
    package let name: String
    /// The bits of one weight on average, about.
    package let bitsPerWeight: Double

    package var description: String { name }

    /// Parses a whole text, in any letter case; `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        guard (2...16).contains(text.utf8.count) else { return nil }
        let upper = text.uppercased()
        let base = upper.hasPrefix("UD-") ? upper.dropFirst(3) : upper[...]
        guard let bits = Self.bits(of: String(base)) else { return nil }
        name = ["FP16": "F16", "FP32": "F32"][upper] ?? upper
        bitsPerWeight = bits
    }

    /// Finds the label of a weights file: the last one in its name, else that of its folder.
    ///
    /// Quantizers write `Name-Q4_K_M.gguf`, `Name.Q4_K_M.gguf`, `name-q4_k_m.gguf` and `ggml-model-Q4_K_M.gguf`; the parts of
    /// a split model often lie in a folder with the label's name.
    package init?(file path: RelativePath) {
        for component in path.components.suffix(2).reversed() {
            guard let label = Self.last(in: component.name) else { continue }
            self = label
            return
        }
        return nil
    }

    /// Whether no present engine loads such files.
    package var isRetired: Bool { name.hasPrefix("Q4_0_") }

    /// The variant of a release with this label.
    package var variant: Variant? { Variant(name.lowercased().withCharacters(allowed: "._", others: "_")) }

    /// The last label in the name of a file or folder.
    private static func last(in name: String) -> QuantizationLabel? {
        let words = name.prefix(512).split { "-. ".contains($0) }
        for (index, word) in words.enumerated().reversed() {
            guard let label = atEnd(of: word) else { continue }
            let isMeasured = index > 0 && words[index - 1].uppercased() == "UD"
            return isMeasured ? QuantizationLabel("UD-" + label.name) ?? label : label
        }
        return nil
    }

    /// The longest label that a word ends in, after its beginning or a `_`.
    private static func atEnd(of word: Substring) -> QuantizationLabel? {
        var rest = word
        while true {
            if let label = QuantizationLabel(rest) { return label }
            guard let mark = rest.firstIndex(of: "_") else { return nil }
            rest = rest[rest.index(after: mark)...]
        }
    }

    /// The bits per weight of a name in capitals; `nil` for a name that is no label.
    private static func bits(of name: String) -> Double? {
        if let known = known[name] { return known }
        guard let parts = name.wholeMatch(of: /(I?Q|TQ)([1-8])(_[A-Z0-9]{1,3}){1,3}/), let digit = Int(parts.2) else {
            return nil
        }
        return Double(digit) + 0.7
    }

    private static let known: [String: Double] = [
        "F32": 32, "FP32": 32, "F16": 16, "FP16": 16, "BF16": 16, "MXFP4": 4.25, "MXFP4_MOE": 4.6, "NVFP4": 4.5,
        "Q8_0": 8.5, "Q8_K_XL": 9.5, "Q6_K": 6.56, "Q6_K_L": 6.7, "Q6_K_XL": 6.9,
        "Q5_K_M": 5.7, "Q5_K_S": 5.54, "Q5_K_L": 5.85, "Q5_K_XL": 5.75, "Q5_0": 5.5, "Q5_1": 6,
        "Q4_K_M": 4.85, "Q4_K_S": 4.58, "Q4_K_L": 5.05, "Q4_K_XL": 4.95, "Q4_0": 4.55, "Q4_1": 5,
        "Q4_0_4_4": 4.55, "Q4_0_4_8": 4.55, "Q4_0_8_8": 4.55, "IQ4_NL": 4.5, "IQ4_XS": 4.3,
        "Q3_K_M": 3.9, "Q3_K_S": 3.5, "Q3_K_L": 4.2, "Q3_K_XL": 4.1, "IQ3_M": 3.7, "IQ3_S": 3.44, "IQ3_XS": 3.3,
        "IQ3_XXS": 3.1, "Q2_K": 3.2, "Q2_K_S": 3, "Q2_K_L": 3.3, "Q2_K_XL": 3.3, "IQ2_M": 2.7, "IQ2_S": 2.5,
        "IQ2_XS": 2.3, "IQ2_XXS": 2.1, "IQ1_S": 1.6, "IQ1_M": 1.75, "TQ1_0": 1.7, "TQ2_0": 2.1, "Q1_0": 1.1,
    ]
}

extension Release {
    /// The quantization of the weights by the name of their file; `nil` if it names none, and for other formats.
    package var quantization: QuantizationLabel? { format == .gguf ? QuantizationLabel(file: file.name) : nil }
}
