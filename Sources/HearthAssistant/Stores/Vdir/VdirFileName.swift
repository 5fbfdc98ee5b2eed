import Foundation
import HearthBase

/// The names of files in a vdir folder.
package enum VdirFileName {
    /// The name of a new file for a record: its UID if that is a safe and plain name, otherwise a digest of it.
    package static func name(ofRecord id: String, suffix: String) -> String {
        isPlain(id) ? id + suffix : digestName(ofRecord: id, suffix: suffix)
    }

    /// The name that a digest of the UID makes, for UIDs that are no plain names and for names that are taken.
    package static func digestName(ofRecord id: String, suffix: String) -> String {
        "record-" + String(SHA256Digest(hashing: Data(id.utf8)).hex.prefix(40)) + suffix
    }

    /// The name of a temporary file beside a file. Other programs skip it: it ends in `.tmp` and begins with a point.
    package static func temporary(besides name: String) -> String {
        ".\(String(name.prefix(80)))-\(String(UInt64.random(in: 0 ... .max), radix: 36)).tmp"
    }

    private static func isPlain(_ id: String) -> Bool {
        guard (1...150).contains(id.utf8.count), id.first != "." else { return false }
        return id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "@"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
    }
}
