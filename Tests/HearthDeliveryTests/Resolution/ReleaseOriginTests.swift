import Foundation
import HearthBase
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTestSupport
@testable import HearthTransfer

/// Whom the updates of an installed family come from.
@Suite struct ReleaseOriginTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        /// The origin of the receipt, `nil` for none.
        let origin: String?
        /// The name of that origin when the release came.
        var name = "own"
        /// What the configured origins list: a name, an address, and whether the family is there; `nil` for no answer.
        let configured: [(name: String, address: String, lists: Bool?)]
        /// `follow NAME`, `silent NAME`, or the code of why it stays.
        let answer: String

        var testDescription: String { what }
    }

    private static let own = "https://own.example/models.json"
    private static let other = "https://other.example/models.json"

    static let rows: [Row] = [
        Row(what: "its own", origin: own, configured: [("own", own, true)], answer: "follow own"),
        Row(
            what: "its own, though another is listed first", origin: own,
            configured: [("other", other, true), ("own", own, true)], answer: "follow own"),
        Row(
            what: "its own is silent", origin: own, configured: [("other", other, true), ("own", own, nil)],
            answer: "silent own"),
        Row(
            what: "its own no longer lists it", origin: own, configured: [("own", own, false), ("other", other, true)],
            answer: "other-origin"),
        Row(
            what: "nobody lists it", origin: own, configured: [("own", own, false), ("other", other, false)],
            answer: "not-offered"),
        Row(
            what: "its own moved, or is not configured", origin: own, configured: [("other", other, true)],
            answer: "other-origin"),
        Row(
            what: "its own is not configured, and another is silent", origin: own,
            configured: [("a", "https://a.example/m.json", nil), ("other", other, false)], answer: "silent a"),
        Row(
            what: "another token in the address", origin: own + "?token=old",
            configured: [("own", own + "?token=new", true)], answer: "follow own"),
        Row(
            what: "a password in the settings, none in the receipt", origin: own,
            configured: [("own", "https://me:secret@own.example/models.json", true), ("other", other, true)],
            answer: "follow own"),
        Row(
            what: "channels of one host", origin: own + "?channel=b", name: "b",
            configured: [("a", own + "?channel=a", true), ("b", own + "?channel=b", true)], answer: "follow b"),
        Row(
            what: "a channel that is not configured", origin: own + "?channel=c", name: "c",
            configured: [("a", own + "?channel=a", true), ("b", own + "?channel=b", true)], answer: "other-origin"),
        Row(
            what: "another token in the address of one of two", origin: own + "?token=old", name: "b",
            configured: [("a", own + "?token=a", true), ("b", own + "?token=new", true)], answer: "follow b"),
        Row(
            what: "another file of its host", origin: own,
            configured: [("own", "https://own.example/other.json", true)], answer: "other-origin"),
        Row(what: "no origin, one lists it", origin: nil, configured: [("other", other, true)], answer: "follow other"),
        Row(
            what: "no origin, several list it", origin: nil, configured: [("own", own, true), ("other", other, true)],
            answer: "several-origins"),
        Row(
            what: "no origin, one of two lists it", origin: nil,
            configured: [("own", own, false), ("other", other, true)], answer: "follow other"),
        Row(
            what: "no origin, and a silent one", origin: nil, configured: [("own", own, false), ("other", other, nil)],
            answer: "silent other"),
        Row(what: "no origin at all", origin: nil, configured: [], answer: "not-offered"),
        Row(
            what: "shipped with the app", origin: "file:///app/models.json", configured: [("other", other, true)],
            answer: "follow other"),
        Row(
            what: "an origin in a folder", origin: "file:///srv/models.json",
            configured: [("other", other, true), ("here", "file:///srv/models.json", true)], answer: "follow here"),
    ]

    @Test(arguments: rows) func itFollowsWhereItCameFrom(_ row: Row) throws {
        let family = try #require(Family("toy"))
        let reports = try row.configured.map { name, address, lists in
            let origin = Origin(name: name, manifestURL: try #require(URL(string: address)))
            guard let lists else {
                return SourceReport(
                    source: name, origin: origin, outcome: .failure(CatalogError(.originUnreachable, "silent \(name)")))
            }
            let listed = try StoreFixture.release(
                try StoreFixture.identity("2.0.0", family: lists ? "toy" : "another"))
            return SourceReport(
                source: name, origin: origin,
                outcome: .success(
                    CatalogListing(
                        catalog: Catalog(releases: [listed]), source: name, location: origin.manifestURL,
                        freshness: .fetched)))
        }
        let source: ReleaseOrigin =
            if let url = try row.origin.map({ try #require(URL(string: $0)) }) {
                .manifest(try #require(url.withoutSecrets), key: Origin(name: row.name, manifestURL: url).key)
            } else {
                .nobody
            }
        let answer: String =
            switch source.answer(for: family, in: reports) {
            case .listing(.success(let listing)): "follow \(listing.source)"
            case .listing(.failure(let error)): (error as? CatalogError)?.message ?? "\(error)"
            case .stays(let reason): reason.code
            }
        #expect(answer == row.answer)
    }

    @Test func whyItStaysNamesBothSides() throws {
        let reason = NoUpdate.otherOrigin(cameFrom: "https://own.example/models.json", offeredBy: ["other", "third"])
        #expect(reason.reason.contains("https://own.example/models.json"))
        #expect(reason.reason.contains("other, third"))
        #expect(NoUpdate.severalOrigins(["a", "b"]).reason.contains("a, b"))
    }
}
