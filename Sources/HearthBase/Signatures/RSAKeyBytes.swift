/// The parts of an RSA public key in DER form (`SubjectPublicKeyInfo`, RFC 5280 and RFC 8017).
///
/// Apple's Security takes the inner structure alone. Only the one form is read that an encoder of DER writes: no other length
/// forms, no bytes after the end, and numbers without superfluous zeros.
struct RSAKeyBytes: Equatable {
    /// `RSAPublicKey`: modulus and exponent.
    let inner: [UInt8]
    /// The bits of the modulus.
    let bits: Int

    /// `SEQUENCE { OBJECT IDENTIFIER rsaEncryption, NULL }`.
    private static let algorithm: [UInt8] = [
        0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    private enum Tag { static let (integer, bits, sequence): (UInt8, UInt8, UInt8) = (0x02, 0x03, 0x30) }

    /// `nil` for any other bytes.
    init?(_ bytes: [UInt8]) {
        var outer = bytes[...]
        guard var whole = Self.value(Tag.sequence, &outer), outer.isEmpty, whole.starts(with: Self.algorithm) else {
            return nil
        }
        whole = whole.dropFirst(Self.algorithm.count)
        guard let string = Self.value(Tag.bits, &whole), whole.isEmpty, string.first == 0 else { return nil }
        let inner = string.dropFirst()
        var rest = inner
        guard var numbers = Self.value(Tag.sequence, &rest), rest.isEmpty,
            let modulus = Self.number(&numbers), let exponent = Self.number(&numbers), numbers.isEmpty,
            let first = modulus.first, !exponent.isEmpty
        else { return nil }
        self.inner = Array(inner)
        bits = modulus.count * 8 - first.leadingZeroBitCount
    }

    /// The significant bytes of a positive number.
    private static func number(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let value = value(Tag.integer, &bytes), let first = value.first, first < 0x80 else { return nil }
        guard first == 0 else { return value }
        let rest = value.dropFirst()
        // The zero may only keep the number from being negative.
        guard let next = rest.first, next >= 0x80 else { return nil }
        return rest
    }

    /// The value of the first element, which must have this tag; the bytes after it stay.
    private static func value(_ tag: UInt8, _ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7f)
            guard (1...2).contains(count), bytes.count >= count, bytes.first != 0 else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            guard length >= 0x80 else { return nil }
            bytes = bytes.dropFirst(count)
        }
        guard bytes.count >= length else { return nil }
        defer { bytes = bytes.dropFirst(length) }
        return bytes.prefix(length)
    }
}
