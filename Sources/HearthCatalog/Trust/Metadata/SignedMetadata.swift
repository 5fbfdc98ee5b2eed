import Foundation
import HearthBase

/// A metadata file: its signed part as JSON with unknown fields kept, and its signatures.
///
/// Parsing checks only this envelope. The signed part is read after ``verify(by:)``.
package struct SignedMetadata: Sendable, Hashable {
    /// One signature, as the file gives it.
    package struct Signature: Sendable, Hashable {
        package var keyID: String
        /// The signature in hexadecimal digits; other text is a signature that no key accepts.
        package var text: String
        /// All members, so that unknown ones are kept.
        var members: JSONMembers
    }

    package let role: MetadataRole
    package var signed: JSONValue
    package var signatures: [Signature]
    /// Members beside the two that are known.
    private var others: JSONMembers = [:]

    /// The most signatures of a file.
    static let signatureLimit = 256

    /// A file that is not signed yet.
    package init(_ role: MetadataRole, signed: JSONValue) {
        self.role = role
        self.signed = signed
        signatures = []
    }

    /// Reads the envelope of a file.
    /// - Throws: ``TrustError`` with `metadata-too-large` or `metadata-invalid`.
    package init(parsing data: Data, _ role: MetadataRole) throws(TrustError) {
        let file = role.description
        guard data.count <= role.sizeLimit else { throw .tooLarge(file, limit: role.sizeLimit) }
        let document: JSONValue
        do {
            document = try JSONValue(parsing: data)
        } catch {
            throw .invalid(file, "\(error)")
        }
        let reader = try MetadataReader(document, file: file)
        let signed = try reader.object("signed")
        var signatures: [Signature] = []
        var seen: Set<String> = []
        for item in try reader.list("signatures", limit: Self.signatureLimit) {
            let entry = try MetadataReader(item, place: "signatures", file: file)
            let keyID = try entry.text("keyid", limit: MetadataKeys.maximumIDLength)
            // Two signatures of one key could pass for two keys.
            guard seen.insert(keyID).inserted else { throw .invalid(file, "one key signs twice", field: "signatures") }
            let text = try entry.text("sig", limit: 2 * SignatureScheme.maximumSignatureLength)
            signatures.append(Signature(keyID: keyID, text: text, members: entry.members))
        }
        self.role = role
        self.signed = .object(signed.members)
        self.signatures = signatures
        others = reader.members
        others["signed"] = nil
        others["signatures"] = nil
    }

    /// Checks that as many keys of a role signed the file as the role needs.
    /// - Throws: ``TrustError`` with `too-few-signatures` or `metadata-invalid`.
    package func verify(by keys: RoleKeys) throws(TrustError) {
        let count = try signatureCount(by: keys)
        guard count >= keys.threshold else {
            throw .tooFewSignatures(role.description, found: count, needed: keys.threshold)
        }
    }

    /// The number of a role's keys that signed the file, counted until the role needs no more.
    /// - Throws: ``TrustError`` with `metadata-invalid`.
    package func signatureCount(by keys: RoleKeys) throws(TrustError) -> Int {
        let message = try message()
        // Counts keys, not their names: one key under two names counts once.
        var accepted: Set<VerifyingKey> = []
        for signature in signatures where accepted.count < keys.threshold {
            guard let key = keys.keys[signature.keyID], !accepted.contains(key),
                let bytes = [UInt8](hexadecimal: signature.text), key.accepts(bytes, of: message)
            else { continue }
            accepted.insert(key)
        }
        return accepted.count
    }

    /// The bytes that are signed.
    package func message() throws(TrustError) -> Data {
        guard let message = signed.canonicalData else {
            throw .invalid(role.description, "a number that is not whole")
        }
        return message
    }

    /// Adds the signature of a key, in place of an earlier one.
    /// - Throws: ``TrustError`` with `bad-key` if the signer gives no signature of its key.
    package mutating func sign(with signer: any MetadataSigner) throws(TrustError) {
        let message = try message()
        let key = try signer.key
        let bytes = try signer.signature(of: message)
        guard key.verifying.accepts(bytes, of: message) else {
            throw TrustError(
                .badKey, "the signature for \(role) is not one of the key \(key.id.prefix(8))",
                context: ErrorContext(
                    file: "\(role)", found: key.id, remedy: "Check that key and signing command belong together."))
        }
        let keyID = key.id
        signatures.removeAll { $0.keyID == keyID }
        let text = bytes.hexadecimal
        signatures.append(
            Signature(keyID: keyID, text: text, members: ["keyid": .string(keyID), "sig": .string(text)]))
    }

    /// The bytes of the file.
    package var data: Data {
        var members = others
        members["signed"] = signed
        members["signatures"] = .array(signatures.map { .object($0.members) })
        return JSONValue.object(members).data
    }
}
