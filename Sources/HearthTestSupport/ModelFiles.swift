import Foundation
import HearthBase

/// Files with a valid model header and any bytes after it: for tests that move files and load none.
package enum ModelFiles {
    /// A GGUF file without tensors.
    /// - Parameters:
    ///   - texts: metadata such as `general.name`.
    ///   - numbers: metadata such as `llama.context_length`.
    ///   - payload: the bytes after the header, where the weights would be.
    package static func gguf(
        texts: [(String, String)] = [], numbers: [(String, UInt32)] = [], payload: [UInt8] = [1, 2, 3]
    ) -> Data {
        let entries: [(key: String, value: GGUFValue)] =
            texts.map { ($0.0, .string($0.1)) } + numbers.map { ($0.0, .uint32($0.1)) }
        var data = GGUFBuilder(entries: entries).header()
        // The offset of the weights is aligned.
        data.append(contentsOf: [UInt8](repeating: 0, count: (32 - data.count % 32) % 32))
        data.append(contentsOf: payload)
        return data
    }
}
