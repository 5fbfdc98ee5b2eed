import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog

/// A release in few words: `1.0.0:q4 app=2.0.0 memory=9 format=mlx rollout=25`.
func release(_ words: String, family: String = "m") throws -> Release {
    var parts = words.split(separator: " ").map(String.init)
    let name = parts.removeFirst().split(separator: ":").map(String.init)
    let identity = ReleaseIdentity(
        family: try #require(Family(family)), version: try #require(ReleaseVersion(name[0])),
        variant: name.count > 1 ? Variant(name[1]) : nil)
    var facts: [String: String] = [:]
    for part in parts {
        let pair = part.split(separator: "=").map(String.init)
        facts[pair[0]] = pair[1]
    }
    let size = UInt64(facts["size"] ?? "") ?? 1
    var release = Release(
        identity: identity, id: "\(identity)",
        file: RemoteFile(
            name: try #require(RelativePath("m.gguf")), size: .exact(size),
            digest: SHA256Digest(hashing: Array(words.utf8)), locations: []))
    release.minimumAppVersion = facts["app"].flatMap { SemanticVersion($0) }
    release.requirements.memoryBytes = facts["memory"].flatMap { UInt64($0) }
    release.format = facts["format"].flatMap { ModelFormat(rawValue: $0) } ?? .gguf
    release.yanked = facts["yanked"]
    release.rollout = facts["rollout"].flatMap { Int($0) }.map { Rollout(percent: $0, seed: "s") }
    return release
}

/// A device whose place in the rollout of seed `s` is 40.
func device(memory: UInt64 = 100, app: String? = "1.5.0", hasCohort: Bool = true) throws -> DeviceProfile {
    var profile = DeviceProfile(memory: memory, formats: [.gguf], appVersion: app.flatMap { SemanticVersion($0) })
    if hasCohort {
        let names = (0...).lazy.map { String(format: "%032x", $0) }
        profile.cohort = names.compactMap { RolloutCohort($0) }.first { $0.place(seed: "s") == 40 }
    }
    return profile
}

@Suite struct ResolverTests {
    private let family = Family("m")

    /// Files without a header that tells their memory are compared by their size, before a fetch.
    @Test(
        arguments: [
            ("1.0.0 format=onnx size=900000000000", true), ("1.0.0 format=onnx size=1000", false),
            // The publisher's figure counts before the estimate.
            ("1.0.0 format=onnx size=900000000000 memory=100", false),
            ("1.0.0 format=onnx size=1 memory=9000000000", true),
            // The header of a GGUF file tells more.
            ("1.0.0 size=900000000000", false),
        ])
    func modelsWithoutAHeaderAreComparedByTheirSize(_ words: String, isTooLarge: Bool) throws {
        let device = DeviceProfile(memory: 8_000_000_000)
        let objection = try release(words).ineligibility(on: device)
        if case .notEnoughMemory = objection { #expect(isTooLarge) } else { #expect(!isTooLarge && objection == nil) }
    }

    /// A figure that publishing estimated from the size is no figure of the publisher's own.
    @Test func anEstimateIsNoDeclaredMemory() throws {
        var release = try release("1.0.0 size=1000")
        #expect(release.declaredMemory == nil)
        release.requirements.memoryBytes = release.requiredMemory
        #expect(release.declaredMemory == nil)
        release.requirements.memoryBytes = 2_000_000_000
        #expect(release.declaredMemory == 2_000_000_000)
    }

    private func choose(
        _ offers: [String], current: String? = nil, version: String? = nil, variant: String? = nil,
        heldBack: [String] = [], memory: UInt64 = 100, afterPreparation: [String] = [], ignoresMemory: Bool = false
    ) throws -> Offer {
        var catalog = Catalog(releases: try offers.map { try release($0) })
        var device = try device(memory: memory)
        device.fitsAfterPreparation = Set(try afterPreparation.map { try release($0).identity })
        if let current { catalog.current = [try #require(family): try #require(ReleaseVersion(current))] }
        return try Resolver(
            catalog: catalog, device: device,
            heldBack: Set(try heldBack.map { try release($0).identity }), ignoresMemory: ignoresMemory
        ).offer(
            of: try #require(family), version: try version.map { try #require(ReleaseVersion($0)) },
            variant: try variant.map { try #require(Variant($0)) })
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var what: String
        var offers: [String]
        var current: String?
        var heldBack: [String] = []
        /// The version and variant chosen.
        var chosen: String
        /// What speaks against it.
        var objection: String?
        /// What was passed over, and why.
        var passed: [String] = []

        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(what: "the newest", offers: ["1.0.0", "1.2.0", "1.1.0"], chosen: "1.2.0"),
        Row(
            what: "the publisher's choice over the newest", offers: ["1.0.0", "2.0.0"], current: "1.0.0",
            chosen: "1.0.0"),
        Row(what: "no pre-release by itself", offers: ["1.0.0", "2.0.0-rc.1"], chosen: "1.0.0"),
        Row(
            what: "a pre-release the publisher chose", offers: ["1.0.0", "2.0.0-rc.1"], current: "2.0.0-rc.1",
            chosen: "2.0.0-rc.1"),
        Row(
            what: "no pre-release in the place of what is not for this app",
            offers: ["1.0.0", "1.5.0-rc.1", "2.0.0 app=9.0.0"], chosen: "1.0.0", passed: ["2.0.0 app-too-old"]),
        Row(
            what: "the newest this app may have", offers: ["1.0.0", "1.5.0 app=1.5.0", "2.0.0 app=1.5.1"],
            chosen: "1.5.0",
            passed: ["2.0.0 app-too-old"]),
        Row(
            what: "the newest with an engine", offers: ["1.0.0", "2.0.0 format=mlx"], chosen: "1.0.0",
            passed: ["2.0.0 no-engine"]),
        Row(
            what: "the newest that fits the memory", offers: ["1.0.0 memory=100", "2.0.0 memory=101"], chosen: "1.0.0",
            passed: ["2.0.0 not-enough-memory"]),
        Row(what: "in the cohort", offers: ["1.0.0", "2.0.0 rollout=41"], chosen: "2.0.0"),
        Row(
            what: "not in the cohort yet", offers: ["1.0.0", "2.0.0 rollout=40"], chosen: "1.0.0",
            passed: ["2.0.0 not-in-rollout"]),
        Row(
            what: "a rollout of nobody", offers: ["1.0.0", "2.0.0 rollout=0"], chosen: "1.0.0",
            passed: ["2.0.0 not-in-rollout"]),
        Row(what: "a rollout of everybody", offers: ["1.0.0", "2.0.0 rollout=100"], chosen: "2.0.0"),
        Row(
            what: "what is held back is not", offers: ["1.0.0", "2.0.0"], heldBack: ["2.0.0"], chosen: "1.0.0",
            passed: ["2.0.0 held-back"]),
        Row(
            what: "held back in one variant is held back in all", offers: ["1.0.0:q4", "2.0.0:q4", "2.0.0:q8"],
            heldBack: ["2.0.0:q4"], chosen: "1.0.0:q4", passed: ["2.0.0:q4 held-back"]),
        Row(what: "something newer makes up for it", offers: ["2.0.0", "2.0.1"], heldBack: ["2.0.0"], chosen: "2.0.1"),
        Row(
            what: "never newer than the publisher's choice", offers: ["1.0.0", "2.0.0 app=9.0.0", "3.0.0"],
            current: "2.0.0", chosen: "1.0.0", passed: ["2.0.0 app-too-old"]),
        Row(
            what: "the first of several reasons for each",
            offers: ["1.0.0", "1.1.0 rollout=1", "2.0.0 app=9.0.0 format=onnx"],
            chosen: "1.0.0", passed: ["2.0.0 no-engine", "1.1.0 not-in-rollout"]),
        Row(
            what: "nothing at all: the publisher's choice, and why not",
            offers: ["1.0.0 app=8.0.0", "2.0.0 app=9.0.0"],
            chosen: "2.0.0", objection: "app-too-old", passed: ["1.0.0 app-too-old"]),
        Row(
            what: "names without order have no older", offers: ["abc", "def rollout=0"], chosen: "def",
            objection: "not-in-rollout"),
        Row(
            what: "the largest variant that fits",
            offers: ["1.0.0:q2 size=1 memory=10", "1.0.0:q4 size=2 memory=100", "1.0.0:q8 size=3 memory=101"],
            chosen: "1.0.0:q4"),
        Row(
            what: "variants without an engine are none", offers: ["1.0.0:a size=9 format=onnx", "1.0.0:b size=1"],
            chosen: "1.0.0:b"),
        Row(what: "another family is another", offers: ["1.0.0"], current: "1.0.0", chosen: "1.0.0"),
    ]

    @Test(arguments: rows) func choosesAsTheTableSays(_ row: Row) throws {
        let choice = try choose(row.offers, current: row.current, heldBack: row.heldBack)
        let identity = choice.release.identity
        #expect(identity.version.name + (identity.variant.map { ":\($0)" } ?? "") == row.chosen)
        #expect(choice.objection?.code == row.objection)
        let passed = choice.passedOver.map { passed in
            passed.identity.version.name + (passed.identity.variant.map { ":\($0)" } ?? "") + " "
                + passed.objection.code
        }
        #expect(passed == row.passed)
    }

    @Test func whoNamesAVersionMeansIt() throws {
        let offers = ["1.0.0", "2.0.0 rollout=0", "3.0.0 app=9.0.0"]
        for (version, objection) in [("1.0.0", nil), ("2.0.0", "not-in-rollout"), ("3.0.0", "app-too-old")] {
            let choice = try choose(offers, version: version)
            #expect(choice.release.identity.version.name == version)
            #expect(choice.objection?.code == objection)
        }
    }

    @Test func whoNamesAVariantGetsThatOneOrAnOlder() throws {
        let offers = ["1.0.0:q8", "2.0.0:q8 rollout=0", "2.0.0:q4"]
        #expect(try choose(offers, variant: "q8").release.identity.version.name == "1.0.0")
        #expect(try choose(offers, variant: "q8").reason == .asked)
        #expect(try choose(offers).release.identity.variant?.name == "q4")
        #expect(throws: CatalogError.self) { try choose(offers, variant: "q2") }
    }

    /// A release that fits after preparation is as good as one that fits, and yields to a variant that fits as it comes.
    @Test(
        arguments: [
            (["1.0.0 memory=1", "2.0.0:f16 memory=101"], [], "1.0.0"),
            (["1.0.0 memory=1", "2.0.0:f16 memory=101"], ["2.0.0:f16"], "2.0.0:f16"),
            (["2.0.0:f16 memory=101 size=9", "2.0.0:q4 memory=99"], ["2.0.0:f16"], "2.0.0:q4"),
            (["2.0.0:f16 memory=101 size=9", "2.0.0:q4 memory=101"], ["2.0.0:f16"], "2.0.0:f16"),
        ] as [([String], [String], String)])
    func whatFitsAfterPreparationIsEligible(_ offers: [String], _ prepared: [String], _ chosen: String) throws {
        let choice = try choose(offers, afterPreparation: prepared)
        #expect(choice.release.identity == (try release(chosen).identity) && choice.objection == nil)
    }

    @Test func memoryMayBeIgnored() throws {
        let offers = ["1.0.0 memory=1", "2.0.0 memory=1000"]
        #expect(try choose(offers).release.identity.version.name == "1.0.0")
        let choice = try choose(offers, ignoresMemory: true)
        #expect(choice.release.identity.version.name == "2.0.0")
        #expect(choice.objection == nil)
    }

    @Test func whereNothingIsKnownNothingIsCompared() throws {
        let release = try release("1.0.0 app=9.0.0 format=mlx rollout=50")
        #expect(release.ineligibility(on: DeviceProfile(memory: .max)) == .notInRollout(percent: 50))
        var open = release
        open.rollout = nil
        #expect(open.ineligibility(on: DeviceProfile(memory: .max)) == nil)
    }
}

@Suite struct RolloutTests {
    private static func cohorts(_ count: Int) throws -> [RolloutCohort] {
        try (0..<count).map { try #require(RolloutCohort(String(format: "%032x", $0))) }
    }

    @Test func isTheDocumentedHash() throws {
        let cohort = try #require(RolloutCohort(String(repeating: "0", count: 32)))
        // python3: int.from_bytes(sha256(b"2026-11" + b"\0" + b"0" * 32).digest()[:8], "big") % 100
        #expect(cohort.place(seed: "2026-11") == 6)
        #expect(cohort.place(seed: "") == 42)
    }

    @Test(arguments: [0, 1, 5, 10, 25, 50, 90, 99, 100])
    func takesItsShare(_ percent: Int) throws {
        let count = try Self.cohorts(20_000).count { $0.isIn(Rollout(percent: percent, seed: "2026-11")) }
        // Three standard deviations of a binomial distribution.
        let share = Double(percent) / 100
        let deviation = (20_000 * share * (1 - share)).squareRoot() * 3
        #expect(abs(Double(count) - 20_000 * share) <= deviation)
    }

    @Test func whoIsInStaysIn() throws {
        for cohort in try Self.cohorts(500) {
            var wasIn = false
            for percent in 0...100 {
                let isIn = cohort.isIn(Rollout(percent: percent, seed: "x"))
                #expect(isIn || !wasIn)
                wasIn = isIn
            }
            #expect(wasIn)
        }
    }

    @Test func anotherSeedShufflesAnew() throws {
        let both = try Self.cohorts(20_000).count {
            $0.isIn(Rollout(percent: 50, seed: "a")) && $0.isIn(Rollout(percent: 50, seed: "b"))
        }
        #expect((4700...5300).contains(both))
    }

    @Test(arguments: [
        "", "x", String(repeating: "g", count: 32), String(repeating: "A", count: 32),
        String(repeating: "0", count: 31),
        String(repeating: "0", count: 33), String(repeating: "0", count: 31) + "\n",
    ])
    func aNameThatIsNoneIsRefused(_ text: String) { #expect(RolloutCohort(text) == nil) }
}

@Suite struct DeviceIdentifierTests {
    private func identifier(_ folder: TemporaryFolder, _ disk: any FileSystem = LocalFileSystem()) -> DeviceIdentifier {
        DeviceIdentifier(path: folder.path("home/device-id"), fileSystem: disk)
    }

    @Test func isMadeOnceAndStays() throws {
        let folder = try TemporaryFolder()
        let first = try identifier(folder).cohort()
        #expect(try identifier(folder).cohort() == first)
        let path = folder.path("home/device-id")
        let text = try String(contentsOf: path.url, encoding: .utf8)
        #expect(text == first.identifier + "\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path.string)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try LocalFileSystem().contents(of: folder.path("home")) == ["device-id"])
        let other = try TemporaryFolder()
        #expect(try identifier(other).cohort() != first)
    }

    @Test(arguments: ["", "x", "../../../../../../../etc/passwd", String(repeating: "0", count: 4096), "\u{0}"])
    func whatIsNoNameGivesWay(_ text: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("home/device-id", Data(text.utf8))
        let cohort = try identifier(folder).cohort()
        #expect(try identifier(folder).cohort() == cohort)
        #expect(try String(contentsOf: path.url, encoding: .utf8) == cohort.identifier + "\n")
    }

    @Test func severalAtOnceGetTheSame() async throws {
        let folder = try TemporaryFolder()
        let names = try await withThrowingTaskGroup(of: RolloutCohort.self) { group in
            for _ in 0..<16 { group.addTask { try await blocking { try identifier(folder).cohort() } } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(names.count == 1)
    }

    @Test func aDiskWithoutHardLinksHasOneToo() throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .makeHardLink, errno: EPERM, stays: true)
        let first = try identifier(folder, disk).cohort()
        #expect(try identifier(folder, disk).cohort() == first)
    }
}
