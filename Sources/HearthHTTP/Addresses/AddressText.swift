import Foundation

/// An address as text, in the components of RFC 3986. Each component holds only the bytes that it may have.
///
/// Other bytes become triplets, once. Triplets stay as they are written, and so does everything else; a percent sign
/// without two digits becomes `%25`. So `a%2Fb c.gguf` becomes `a%2Fb%20c.gguf`.
struct AddressText: Sendable, Hashable {
    /// As written, without the colon.
    var scheme: String?
    /// User, host and port; a host with letters outside ASCII in its form for name servers (`xn--…`).
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// Reads an address or a relative reference.
    /// - Returns: `nil` for a text with control characters or backslashes, and for an authority that cannot be one.
    init?(_ text: some StringProtocol) {
        let isReadable = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "\\" }
        guard isReadable else { return nil }
        // RFC 3986, appendix B: each component ends at the first mark of the next.
        var rest = Array(text.utf8)[...]
        fragment = Self.cut(&rest, at: "#").map { AddressBytes.query.encoded($0) }
        query = Self.cut(&rest, at: "?").map { AddressBytes.query.encoded($0) }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = String(decoding: rest[..<colon], as: UTF8.self)
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            guard let authority = Self.authority(rest[..<end]) else { return nil }
            self.authority = authority
            rest = rest[end...]
        }
        path = AddressBytes.path.encoded(rest)
    }

    /// The address as one text (RFC 3986, section 5.3).
    var text: String {
        (scheme.map { "\($0):" } ?? "") + (authority.map { "//\($0)" } ?? "") + path
            + (query.map { "?\($0)" } ?? "") + (fragment.map { "#\($0)" } ?? "")
    }

    // MARK: - Relative references

    /// The address that a reference means in a document at `base` (RFC 3986, section 5.2.2).
    func resolved(against base: Self) -> Self {
        var target = self
        if scheme != nil || authority != nil {
            target.scheme = scheme ?? base.scheme
            target.path = Self.withoutDots(path)
            return target
        }
        (target.scheme, target.authority) = (base.scheme, base.authority)
        if path.isEmpty {
            (target.path, target.query) = (base.path, query ?? base.query)
        } else {
            target.path = Self.withoutDots(path.hasPrefix("/") ? path : base.folder + path)
        }
        return target
    }

    /// The path up to its last slash.
    private var folder: String {
        if path.isEmpty, authority != nil { return "/" }
        return path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// A path without the segments `.` and `..` (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            switch segment {
            case ".": break
            case "..": if kept.count > 1 { kept.removeLast() }
            default: kept.append(segment)
            }
            // The folder itself ends with a slash.
            if index == segments.count - 1, segment == "." || segment == ".." { kept.append("") }
        }
        return kept.joined(separator: "/")
    }

    // MARK: - Components

    /// Removes the part from the first such mark on, and returns it without the mark.
    private static func cut(_ bytes: inout ArraySlice<UInt8>, at mark: Unicode.Scalar) -> ArraySlice<UInt8>? {
        guard let index = bytes.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        defer { bytes = bytes[..<index] }
        return bytes[(index + 1)...]
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, AddressBytes.isLetter(first) else { return false }
        return bytes.allSatisfy { AddressBytes.isLetter($0) || (48...57).contains($0) || "+-.".utf8.contains($0) }
    }

    private static func authority(_ bytes: ArraySlice<UInt8>) -> String? {
        let at = bytes.lastIndex(of: UInt8(ascii: "@"))
        let place = bytes[(at.map { $0 + 1 } ?? bytes.startIndex)...]
        let isLiteral = place.first == UInt8(ascii: "[")
        // The colons of an IPv6 address stand before its closing bracket.
        let start = isLiteral ? place.firstIndex(of: UInt8(ascii: "]")) ?? place.endIndex : place.startIndex
        let colon = place[start...].firstIndex(of: UInt8(ascii: ":")) ?? place.endIndex
        let port = place[colon...]
        guard let host = isLiteral ? literal(place[..<colon]) : name(place[..<colon]),
            port.dropFirst().allSatisfy({ (48...57).contains($0) })
        else { return nil }
        let user = at.map { AddressBytes.user.encoded(bytes[..<$0]) + "@" } ?? ""
        return user + host + String(decoding: port, as: UTF8.self)
    }

    /// An IPv6 address in brackets.
    private static func literal(_ bytes: ArraySlice<UInt8>) -> String? {
        let inside = bytes.dropFirst().dropLast()
        guard bytes.last == UInt8(ascii: "]"), !inside.isEmpty,
            inside.allSatisfy({ AddressBytes.isHexadecimal($0) || ":.".utf8.contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name of a host without triplets and with ASCII letters only.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        let decoded = PercentText.decoded(String(decoding: bytes, as: UTF8.self))
        guard let name = String(bytes: decoded, encoding: .utf8),
            decoded.allSatisfy({ $0 >= 0x80 || AddressBytes.host.contains($0) })
        else { return nil }
        guard decoded.contains(where: { $0 >= 0x80 }) else { return name }
        // Foundation knows the rules for international names.
        guard let mapped = URL(string: "http://\(name)/")?.host(percentEncoded: false),
            mapped.utf8.allSatisfy(AddressBytes.host.contains)
        else { return nil }
        return mapped
    }
}

/// The bytes that RFC 3986 allows in a component.
struct AddressBytes: Sendable {
    private let allowed: Set<UInt8>

    /// `reg-name` of section 3.2.2, without triplets.
    static let host = Self("")
    /// `userinfo` of section 3.2.1.
    static let user = Self(":")
    /// `pchar` of section 3.3, and slashes.
    static let path = Self(":@/")
    /// `query` and `fragment` of sections 3.4 and 3.5.
    static let query = Self(":@/?")

    /// Letters, digits, `-._~`, and the sub-delimiters with some more marks.
    private init(_ marks: String) {
        allowed = Set((0...127).filter { Self.isLetter($0) || (48...57).contains($0) })
            .union("-._~!$&'()*+,;=".utf8).union(marks.utf8)
    }

    func contains(_ byte: UInt8) -> Bool { allowed.contains(byte) }

    /// The bytes as text, with triplets for those that are not allowed. Triplets stay.
    func encoded(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let percent = UInt8(ascii: "%")
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (index, byte) in zip(bytes.indices, bytes) {
            let next = bytes[(index + 1)...].prefix(2)
            if allowed.contains(byte) || (byte == percent && next.count == 2 && next.allSatisfy(Self.isHexadecimal)) {
                result.append(byte)
            } else {
                result += [percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }

    static func isHexadecimal(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }
}
