import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

/// Claims are read as if they came from outside, and renewed in place.
@Suite(.timeLimit(.minutes(10))) struct ClaimTests {
    private let disk = LocalFileSystem()
    private let folder: TemporaryFolder
    private let date = Date(timeIntervalSince1970: 1_800_000_000.7)

    init() throws { folder = try TemporaryFolder() }

    private var claims: ClaimFolder {
        ClaimFolder(folder.path("root/family/release"), in: folder.path("root"), fileSystem: disk)
    }

    /// A claim of a process that this one cannot ask about.
    private func distant() -> Claim {
        var claim = Claim(at: date)
        claim.holder = ProcessIdentity(number: 7, started: "", boot: "elsewhere", space: "")
        return claim
    }

    @Test func aWrittenClaimIsRead() throws {
        let claim = Claim(at: date, purpose: "rollback", details: ["target": "1.0.0", "reason": "bad"])
        #expect(claim.since.timeIntervalSince1970 == 1_800_000_000)
        #expect(try Claim(data: try claim.padded()) == claim)
        #expect(try claim.padded(to: 2000).count == 2000)
        #expect(Claim.isToken(claim.token))
        for text in ["", "../../../../../../../../etc/passw", String(repeating: "G", count: 32)] {
            #expect(!Claim.isToken(text))
        }
    }

    @Test(arguments: [
        ("\"format\" : 1", "\"format\" : 2"), ("\"number\" : 7", "\"number\" : -7"),
        ("\"number\" : 7", "\"number\" : 1e12"),
        ("2027-01-15T08:00:00Z", "yesterday"), ("\"token\" : \"", "\"token\" : \"../"), ("\"details\"", "\"other\""),
        ("\"boot\"", "\"shoe\""), ("{", "[["), ("}", ""),
    ])
    func aHostileClaimIsUnreadable(_ text: String, _ replacement: String) throws {
        let path = folder.path("claim")
        let sound = String(decoding: try distant().data(), as: UTF8.self)
        #expect(sound.contains(text))
        try Data(sound.replacingOccurrences(of: text, with: replacement).utf8).write(to: path.url)
        #expect(try FoundClaim.read(path, in: disk) != nil)
        #expect(try FoundClaim.read(path, in: disk)?.claim == nil)
    }

    /// Running and gone are facts; the date decides only where this process cannot ask.
    @Test func theDateDecidesOnlyWhereTheHolderCannotBeAsked() throws {
        let lifetime = Duration.seconds(60)
        let late = date.addingTimeInterval(1e6)
        let held = try claims.hold(Claim(at: date))
        let found = try #require(try claims.claim(held.token)?.claim)
        #expect(found.isHeld == true && !found.isStale(at: late, lifetime: lifetime))
        held.release()
        #expect(found.isHeld == false && found.isStale(at: date, lifetime: lifetime))
        #expect(try claims.tokens().isEmpty)

        #expect(distant().isHeld == nil)
        for (age, isStale) in [(59.0, false), (62, true), (-62, true)] {
            #expect(distant().isStale(at: date.addingTimeInterval(age), lifetime: lifetime) == isStale)
        }
    }

    @Test func aClaimEndsWithItsLastReference() throws {
        do {
            let held = try claims.hold(Claim(at: date))
            let found = try claims.claim(held.token)
            withExtendedLifetime(held) { #expect(found != nil) }
        }
        #expect(try claims.tokens().isEmpty)
    }

    @Test func aRenewalKeepsTheRestOfTheClaim() throws {
        let claim = Claim(at: date, purpose: "load", details: ["reason": String(repeating: "x", count: 600)])
        try claims.put(claim)
        let later = date.addingTimeInterval(600)
        #expect(try claims.renew(claim.token, at: later))
        var expected = claim
        expected.renew(at: later)
        #expect(try claims.claim(claim.token) == .claim(expected))
    }

    @Test func aRenewalNeitherCreatesNorReplacesAnything() throws {
        let (claim, other) = (Claim(at: date), Claim(at: date))
        try claims.put(claim)
        try claims.remove(claim.token)
        #expect(try !claims.renew(claim.token, at: date))
        try disk.makeFolders(claims.path)
        let file = claims.file(claim.token)
        // Another claim, damage, a link, and a folder in its place.
        for contents in [try other.padded(), Data("{}".utf8), Data(count: 5000)] {
            try disk.replaceContents(of: file, with: contents)
            #expect(try !claims.renew(claim.token, at: date.addingTimeInterval(600)))
            #expect(try disk.contents(ofFile: file, limit: 5000) == contents)
        }
        try disk.removeFile(file)
        try disk.replaceContents(of: folder.path("elsewhere"), with: try claim.padded())
        try disk.makeLink(at: file, to: folder.path("elsewhere").string)
        #expect(try !claims.renew(claim.token, at: date))
        try disk.removeFile(file)
        try disk.makeFolder(file, permissions: 0o755)
        #expect(try !claims.renew(claim.token, at: date))
    }

    @Test func workIsRenewedUntilItStops() async throws {
        let clock = ManualClock()
        let claim = Claim(at: clock.time.now)
        try claims.put(claim)
        let renewal = ClaimRenewal(time: clock.time) { [claims] in _ = try claims.renew(claim.token, at: $0) }
        for _ in 0..<3 {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: ClaimRenewal.interval)
        }
        await clock.sleepers(atLeast: 1)
        let renewed = try claims.claim(claim.token)?.claim?.renewed
        #expect(renewed == clock.time.now)
        renewal.stop()
    }

    @Test func aFolderIsNotReadThroughALink() throws {
        let claim = Claim(at: date)
        try claims.put(claim)
        try disk.rename(folder.path("root/family"), to: folder.path("moved"))
        try disk.makeLink(at: folder.path("root/family"), to: folder.path("moved").string)
        #expect(try !claims.exists)
        #expect(try claims.tokens().isEmpty)
        let error = #expect(throws: FileError.self) { try claims.hold(claim) }
        #expect(error?.code == .notADirectory)
    }
}
