import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// Finds the key of a cloud model.
package enum CloudKey {
    /// The key in the environment, else in a file; `nil` without either. Blocks.
    /// - Throws: ``LLMError`` with `cloud-key-unusable`: a file that cannot be read, that other users can read, or that holds no
    ///   key; a variable that holds none.
    package static func find(
        _ kind: CloudKind, environment: [String: String], file: Path?
    ) throws -> Secret? {
        for name in kind.keyVariables {
            guard let text = environment[name], !text.isEmpty else { continue }
            return try secret(text, from: "the variable \(name)")
        }
        return try file.map(read)
    }

    /// The key in a text.
    /// - Parameter origin: where the text is from, for the error's message.
    static func secret(_ text: String, from origin: String, file: Path? = nil) throws -> Secret {
        guard let secret = Secret(text) else {
            throw unusable("\(origin) holds no key", file: file, remedy: "A key is one line without spaces.")
        }
        return secret
    }

    /// Reads a key's file, which only its owner may read.
    package static func read(_ file: Path) throws -> Secret {
        var bytes = [UInt8](repeating: 0, count: 8 << 10)
        let count: Int
        do {
            let fileSystem = LocalFileSystem()
            let opened = try fileSystem.open(file, .read)
            // Of the opened file, so that no other file can take its name in between.
            var status = stat()
            guard fstat(opened.descriptor, &status) == 0, status.st_mode & 0o077 == 0 else {
                throw unusable(
                    "other users may read the key file \(file)", file: file,
                    remedy: "Allow its owner only, with permissions 0600, and consider a new key.")
            }
            count = try bytes.withUnsafeMutableBytes { try fileSystem.read(opened, into: $0, at: 0) }
        } catch let error as FileError {
            throw unusable(
                "the key file \(file) cannot be read", file: file,
                remedy: "Check that the file exists and belongs to this user.", underlying: error)
        }
        return try secret(String(decoding: bytes[..<count], as: UTF8.self), from: "the key file \(file)", file: file)
    }

    private static func unusable(
        _ message: String, file: Path? = nil, remedy: String? = nil, underlying: (any Error)? = nil
    ) -> LLMError {
        LLMError(
            .cloudKeyUnusable, message, context: ErrorContext(file: file?.string, remedy: remedy), disposition: .usage,
            underlying: underlying)
    }
}
