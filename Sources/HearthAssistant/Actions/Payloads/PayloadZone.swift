import Foundation

extension PayloadTime {
    /// The zone with an IANA name.
    /// - Throws: `unusable-payload` for an unknown name.
    package static func zone(named name: String?, or own: TimeZone) throws -> TimeZone {
        guard let name else { return own }
        let isName = name.utf8.allSatisfy {
            (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
                || [0x5F, 0x2F, 0x2B, 0x2D].contains($0)
        }
        guard isName, name.contains("/") || ["UTC", "GMT"].contains(name), let zone = TimeZone(identifier: name) else {
            throw PayloadDecoder.unusable("timeZone is no zone such as Europe/Berlin", field: "timeZone")
        }
        return zone
    }
}
