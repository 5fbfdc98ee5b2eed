import Foundation

/// Times in the form of RFC 3339.
enum APITime {
    static func text(_ date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
    }
}
