import Foundation
import HearthBase

/// A certificate with its chain, and its key, as PEM.
package struct ServerIdentity: Sendable {
    let certificate: String
    let key: String
}

extension ServerIdentity {
    /// Reads the files. Blocks.
    /// - Throws: `FileError`
    package init(certificate: Path, key: Path) throws {
        let texts = try [certificate, key].map { path in
            String(decoding: try LocalFileSystem().contents(ofFile: path, limit: 1 << 20), as: UTF8.self)
        }
        self.init(certificate: texts[0], key: texts[1])
    }
}
