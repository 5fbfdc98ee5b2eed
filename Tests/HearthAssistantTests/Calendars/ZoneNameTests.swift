import Foundation
import HearthBase
import Testing

@testable import HearthAssistant

/// The names that other programs give time zones, with and without a definition.
struct ZoneNameTests {
    /// A definition of a clock that is always as far from UTC.
    private static func definition(_ name: String, _ offset: String) -> String {
        """
        BEGIN:VTIMEZONE
        TZID:\(name)
        BEGIN:STANDARD
        DTSTART:19700101T000000
        TZOFFSETFROM:\(offset)
        TZOFFSETTO:\(offset)
        END:STANDARD
        END:VTIMEZONE

        """.replacing("\n", with: "\r\n")
    }

    /// The minutes east of UTC of a name in April 2026; `nil` for one that is not known.
    private static func minutes(_ name: String, _ definitions: String = "") async throws -> Int? {
        try await CalendarThreadRunner().run {
            let zones = ZoneDefinitions(try ContentParser().parse(Data(definitions.utf8)))
            let moment = WallTime(year: 2026, month: 4, day: 1, hour: 9).seconds
            return ZoneTable().find(name, zones).map { $0.zone.offset(at: moment) / 60 }
        }
    }

    @Test(arguments: [
        // The zone database, in any case, with blanks, and behind the prefixes of programs.
        ("Europe/Berlin", 120), ("europe/berlin", 120), ("EUROPE/BERLIN", 120), ("\"Europe/Berlin\"", 120),
        (" Europe/Berlin ", 120), ("America/New York", -240), ("US/Eastern", -240), ("us/eastern", -240),
        ("/freeassociation.sourceforge.net/Europe/Berlin", 120), ("/mozilla.org/20050126_1/Europe/Berlin", 120),
        ("/citadel.org/20190914_1/America/Argentina/Buenos_Aires", -180),
        ("/softwarestudio.org/Tzfile/Asia/Tokyo", 540),
        ("mozilla.org/20050126_1/Asia/Tokyo", 540), ("tzone://Microsoft/UTC", 0), ("Etc/GMT+7", -420), ("UTC", 0),
        ("Z", 0),
        // Windows.
        ("W. Europe Standard Time", 120), ("w. europe standard time", 120), ("Eastern Standard Time", -240),
        ("India Standard Time", 330), ("UTC-11", -660), ("Pacific Standard Time (Mexico)", -420),
        // Offsets.
        ("GMT+0100", 60), ("GMT-05:00", -300), ("UTC+02:00", 120), ("+0545", 345), ("+05:45", 345), ("-3", -180),
        ("UTC+5", 300), ("GMT+530", 330), ("gmt\u{2212}0800", -480), ("+014500", 105),
        // What Outlook shows.
        ("(UTC+09:00) Osaka, Sapporo, Tokyo", 540), ("(UTC+01:00) Amsterdam, Berlin, Bern", 120),
        ("(UTC+01:00) Amsterdam\\, Berlin\\, Bern", 120), ("(UTC-05:00) Eastern Time (US & Canada)", -240),
        ("(UTC) Dublin, Edinburgh, Lisbon, London", 60), ("(UTC+04:30) Nowhere", 270),
    ])
    func namesHaveZones(name: String, minutes: Int) async throws {
        #expect(try await Self.minutes(name) == minutes, "\(name)")
    }

    @Test(arguments: [
        "Mars/Olympus", "", "Customized Time Zone", "GMT+99", "+1:75", "+", "UTC+", "(UTC+01:00", "../../etc/passwd",
        "/etc/passwd", "Europe", String(repeating: "x", count: 100_000), "GMT+01:00:00:00", "+12345", "a\u{0}b",
    ])
    func otherNamesHaveNone(name: String) async throws { #expect(try await Self.minutes(name) == nil, "\(name)") }

    /// The file's own definition comes first, under any spelling of its name.
    @Test(arguments: [
        ("Home", "Home"), ("home", "HOME"), ("\"Home\"", "Home"), ("A, B; C", "A\\, B\\; C"),
        ("A\\, B\\; C", "A, B; C"),
        ("Europe/Berlin", "Europe/Berlin"), ("W. Europe Standard Time", "w. europe standard time"),
    ])
    func aDefinitionComesFirst(name: String, defined: String) async throws {
        #expect(try await Self.minutes(name, Self.definition(defined, "+0230")) == 150)
        // Wherever it stands, also in a calendar of its own.
        let wrapped = "BEGIN:VCALENDAR\r\n" + Self.definition(defined, "+0230") + "END:VCALENDAR\r\n"
        #expect(try await Self.minutes(name, wrapped) == 150)
    }

    /// A definition that says nothing leaves the name to the database.
    @Test(arguments: ["", "0230", "+2:30", "+24:00", "east"])
    func aBrokenDefinitionIsNone(offset: String) async throws {
        #expect(try await Self.minutes("Europe/Berlin", Self.definition("Europe/Berlin", offset)) == 120)
        #expect(try await Self.minutes("Home", Self.definition("Home", offset)) == nil)
    }

    /// The database counts for what Hearth has copied from it.
    @Test func aCopyOfTheDatabaseIsNotTheLaw() async throws {
        let copy = Self.definition("Europe/Berlin\r\nX-HEARTH-ZONE:Europe/Berlin", "+0230")
        #expect(try await Self.minutes("Europe/Berlin", copy) == 120)
    }

    /// More definitions than are kept.
    @Test func manyDefinitions() async throws {
        let text = (0..<1200).map { Self.definition("Z\($0)", $0.isMultiple(of: 2) ? "+0100" : "-0200") }.joined()
        let offsets = try await CalendarThreadRunner().run {
            let zones = ZoneDefinitions(try ContentParser().parse(Data(text.utf8)))
            let table = ZoneTable()
            return (0..<1200).compactMap { table.find("Z\($0)", zones)?.zone.offset(at: 0) }
        }
        #expect(offsets == (0..<1200).map { $0.isMultiple(of: 2) ? 3600 : -7200 })
    }

    @Test func windowsNamesAreZonesOfTheSystem() {
        for name in ["W. Europe Standard Time", "Tokyo Standard Time", "Samoa Standard Time", "UTC+12"] {
            let zone = WindowsZones.zone(name)
            #expect(zone.flatMap { SystemZone(named: $0) } != nil, "\(name)")
        }
        #expect(WindowsZones.zone("Berlin Standard Time") == nil)
    }

    /// Programs get a name that they know, or none.
    @Test(
        arguments: [
            ("GMT+0100", "Etc/GMT-1"), ("+0545", nil), ("W. Europe Standard Time", "Europe/Berlin"),
            ("europe/berlin", "Europe/Berlin"), ("(UTC+09:00) Osaka, Sapporo, Tokyo", "Asia/Tokyo"),
        ] as [(String, String?)])
    func identifiers(name: String, identifier: String?) async throws {
        let found = await CalendarThreadRunner().run { ZoneTable().find(name)?.identifier }
        #expect(found == identifier)
    }
}
