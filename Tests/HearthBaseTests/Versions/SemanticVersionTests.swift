import HearthBase
import Testing

struct SemanticVersionTests {
    /// semver.org section 11's chain, with neighbours that wrong comparisons put elsewhere.
    static let ascending = [
        "0.0.0-0", "0.0.0", "0.0.1", "0.1.0", "0.9.0", "0.10.0", "1.0.0-0", "1.0.0-2", "1.0.0-10",
        "1.0.0-99999999999999999998", "1.0.0-99999999999999999999", "1.0.0-100000000000000000000", "1.0.0--",
        "1.0.0-1a", "1.0.0-A", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.1.0", "1.0.0-alpha.beta", "1.0.0-beta",
        "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-beta.11a", "1.0.0-rc.1", "1.0.0", "1.0.1-rc", "1.0.1", "1.2.0",
        "1.10.0", "2.0.0", "2.1.0", "2.1.1", "10.0.0", "18446744073709551615.0.0",
    ]

    @Test func ordersAsTheSpecificationSays() throws {
        let versions = try Self.ascending.map { try #require(SemanticVersion($0), "\($0)") }
        for (index, left) in versions.enumerated() {
            for (otherIndex, right) in versions.enumerated() {
                #expect((left < right) == (index < otherIndex), "\(left) < \(right)")
                #expect((left == right) == (index == otherIndex), "\(left) == \(right)")
            }
        }
        #expect(versions.shuffled().sorted() == versions)
        #expect(Set(versions).count == versions.count)
    }

    @Test(arguments: [
        ("1.0.0+a", "1.0.0+b"), ("1.0.0+a", "1.0.0"), ("1.0.0-rc.1+exp.sha.5114f85", "1.0.0-rc.1+0.1-b"),
    ])
    func buildMetadataDoesNotCount(one: String, other: String) throws {
        let (left, right) = (try #require(SemanticVersion(one)), try #require(SemanticVersion(other)))
        #expect(left == right && !(left < right) && !(right < left))
        #expect(left.hashValue == right.hashValue)
        #expect(left.build != right.build)
    }

    /// The valid ones of the list that accompanies the specification's regular expression.
    @Test(arguments: [
        "0.0.4", "1.2.3", "10.20.30", "1.1.2-prerelease+meta", "1.1.2+meta", "1.1.2+meta-valid", "1.0.0-alpha",
        "1.0.0-alpha.beta.1", "1.0.0-alpha0.valid", "1.0.0-alpha.0valid",
        "1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay", "1.0.0-rc.1+build.123", "1.2.3-SNAPSHOT-123",
        "2.0.0+build.1848", "1.0.0-alpha+beta", "1.2.3----RC-SNAPSHOT.12.9.1--.12+788", "1.2.3----R-S.12.9.1--.12",
        "1.0.0+0.build.1-rc.10000aaa-kk-0.1", "1.0.0-0A.is.legal",
        "1.0.0-99999999999999999999999.999999999999999999.99999999999999999",
    ])
    func readsAndWritesValidVersions(text: String) throws {
        #expect(try #require(SemanticVersion(text)).description == text)
    }

    @Test(arguments: [
        "", "1", "1.2", "1.2.3.4", "1.2.3-", "1.2.3+", "1.2.3-+", "1.2.3-0123", "1.2.3-0123.0123", "1.1.2+.123",
        "+invalid", "-invalid", "-invalid+invalid", "alpha", "alpha.beta.1", "1.0.0-alpha_beta", "1.0.0-alpha..",
        "1.0.0-alpha..1", "01.1.1", "1.01.1", "1.1.01", "1.2.3.DEV", "1.2-SNAPSHOT", "1.2.31.2.3----RC..12--..12+788",
        "-1.0.3-gamma+b7718", "+justmeta", "9.8.7+meta+meta", "9.8.7-whatever+meta+meta", "v1.2.3", " 1.2.3", "1.2.3 ",
        "1.2.3\n", "1. 2.3", "1..3", "..", "1.2.", ".1.2", "١.٢.٣", "1.2.\u{FF13}", "1.2.3\u{301}", "1.2.3-é",
        "1.2.3-a\u{301}", "1.2.3\0", "+1.2.3", "1.+2.3", "1.2.18446744073709551616", "1e1.0.0", "0x1.0.0",
    ])
    func refusesInvalidVersions(text: String) {
        #expect(SemanticVersion(text) == nil)
    }
}
