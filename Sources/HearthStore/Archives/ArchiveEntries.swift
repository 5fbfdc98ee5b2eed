/// The header of an entry, as it stands in the archive.
struct ArchiveHeader: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case file, folder
        /// A link of either kind, a device or a pipe.
        case other
    }

    /// The name; `nil` if its bytes are not UTF-8.
    let name: String?
    let kind: Kind
    var isEncrypted = false
    /// Whether the entry leaves bytes out.
    var isSparse = false
    /// The permissions, with the bits for set-user-id and set-group-id.
    var permissions: UInt32 = 0
    /// The compression of the entry, if it is neither stored nor deflated.
    var compression: String?
    /// The length in bytes; `nil` if the header does not tell it.
    let size: UInt64?
}

/// The entries of an archive from front to back. Used on one thread.
protocol ArchiveEntries: AnyObject {
    /// The next entry, `nil` at the end. The contents of the entry before it were read or skipped.
    func nextHeader() throws -> ArchiveHeader?
    /// The next bytes of the current entry and their place in it, `nil` at its end; valid until the next call.
    func nextBlock() throws -> (bytes: UnsafeRawBufferPointer, offset: Int64)?
    func skipEntry() throws
    /// The bytes of the source up to the end of what was read.
    var consumed: UInt64 { get }
}

/// A damaged archive.
struct ArchiveFailure: Error, CustomStringConvertible {
    let text: String
    var description: String { text }

    static let cutOff = Self(text: "it is cut off")
}
