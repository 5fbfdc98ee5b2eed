import Foundation
import HearthBase
import Testing

@testable import HearthAssistant

/// Runs bodies on the thread of libical.
actor CalendarThreadRunner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { CalendarThread.executor.asUnownedSerialExecutor() }

    func run<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }
}

/// Zones of the system, and the definitions that Hearth writes of them.
struct ZoneTests {
    @Test(arguments: [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kolkata",
        "Europe/Dublin",
        "Pacific/Auckland", "Africa/Johannesburg",
    ])
    func agreesWithFoundation(name: String) throws {
        let system = try #require(SystemZone(named: name))
        let foundation = try #require(TimeZone(identifier: name))
        for moment in stride(from: 0, to: 2_500_000_000, by: 611_111) {
            let wanted = foundation.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment)))
            #expect(system.offset(at: moment) == wanted, "\(moment)")
        }
    }

    /// libical reads each definition, and has the system's offsets for years.
    @Test func definitionsSayWhatTheSystemSays() async throws {
        let names = TimeZone.knownTimeZoneIdentifiers.enumerated().filter { $0.offset.isMultiple(of: 9) }.map(\.element)
        let compared = try await CalendarThreadRunner().run {
            let table = ZoneTable()
            var compared = 0
            for name in names + ["Asia/Gaza", "Africa/Casablanca", "America/Nuuk", "Europe/Dublin"] {
                for year in [1996, 2014, 2026] {
                    let start = WallTime(year: year, month: 6, day: 15)
                    guard let system = SystemZone(named: name), let text = table.definition(name, from: start) else {
                        continue
                    }
                    let zone = try #require(DefinedZone(text.bytes))
                    for day in stride(from: 0, to: 4000, by: 3) {
                        let moment = start.seconds + day * WallTime.daySeconds
                        let isEqual = zone.offset(at: moment) == system.offset(at: moment)
                        #expect(isEqual, "\(name) from \(year) at \(moment): \(zone.offset(at: moment))")
                        if !isEqual { break }
                        compared += 1
                    }
                    #expect(text.bytes.count < 20_000)
                }
            }
            return compared
        }
        #expect(compared > 50_000)
    }

    @Test func aDefinitionIsShort() async throws {
        let text = try await CalendarThreadRunner().run {
            String(
                decoding: try #require(
                    ZoneTable().definition("Europe/Berlin", from: WallTime(year: 2026, month: 11, day: 24))
                )
                .bytes, as: UTF8.self)
        }
        #expect(
            text
                == """
                BEGIN:VTIMEZONE
                TZID:Europe/Berlin
                X-HEARTH-ZONE:Europe/Berlin
                BEGIN:DAYLIGHT
                DTSTART:20250330T020000
                RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
                TZOFFSETFROM:+0100
                TZOFFSETTO:+0200
                TZNAME:CEST
                END:DAYLIGHT
                BEGIN:STANDARD
                DTSTART:20251026T030000
                RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
                TZOFFSETFROM:+0200
                TZOFFSETTO:+0100
                TZNAME:CET
                END:STANDARD
                END:VTIMEZONE

                """.replacing("\n", with: "\r\n"))
    }

    @Test func readsRulesOfYears() throws {
        for (text, winter, summer) in [
            ("CET-1CEST,M3.5.0,M10.5.0/3", 3600, 7200), ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 39600, 37800),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", 0, 3600), ("<+0530>-5:30", 19800, 19800),
            ("EST5EDT,M3.2.0,M11.1.0", -18000, -14400),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, -3600), ("EET-2EEST,M3.4.4/50,M10.4.4/50", 7200, 10800),
        ] {
            let rule = try #require(YearlyZoneRule(text), "\(text)")
            #expect(rule.offset(at: WallTime(year: 2060, month: 1, day: 15).seconds) == winter, "\(text)")
            #expect(rule.offset(at: WallTime(year: 2060, month: 7, day: 15).seconds) == summer, "\(text)")
        }
        for text in [
            "", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,J60,J300", "CET-1CEST,M13.5.0,M1.1.1", "<+1-1",
            "CET-999",
        ] {
            #expect(YearlyZoneRule(text) == nil, "\(text)")
        }
    }

    @Test func refusesNamesAndFilesThatAreNoZones() {
        for name in [
            "", "/etc/passwd", "../zoneinfo/Europe/Berlin", "Europe", "Nowhere/City", "a\u{0}b",
            String(repeating: "a/", count: 200),
        ] {
            #expect(SystemZone(named: name) == nil, "\(name)")
        }
        for bytes in [
            [], Array("TZif2".utf8), Array("TZif2".utf8) + [UInt8](repeating: 255, count: 200),
            [UInt8](repeating: 0, count: 100),
        ] {
            #expect(SystemZone(Data(bytes)) == nil)
        }
    }
}
