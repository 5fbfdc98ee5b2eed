import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A process that installs a release of several files or an archive, tries other bytes of what is live, prunes or repairs is killed
/// at every step of what it does to the disk. The next one needs no help.
@Suite(.serialized, .timeLimit(.minutes(30))) struct KilledStoreTests {
    private enum Deed: String, CaseIterable {
        case severalFiles, archive, prune, repair
        /// Other bytes of the live version become live beside it; and where its folder is gone, in its place.
        case replace, replaceMissing

        var isReplacement: Bool { self == .replace || self == .replaceMissing }

        /// What has to be among the steps killed at.
        var expected: [String] {
            guard isReplacement else { return [] }
            return ["rename artifact.json", "rename artifact", "rename mark", "removeFile mark", "rename state.json"]
        }

        /// Whether a step is always killed at, because it decides what is live.
        func isDecisive(_ step: String) -> Bool {
            isReplacement && (["state.json", "active"].contains(step) || step.hasPrefix("1.0.0"))
        }
    }

    private let folder: TemporaryFolder
    private let manifest: Path
    /// Lists other bytes as 1.0.0.
    private let replaced: Path
    private static let otherWeights = Data("other weights".utf8)
    private let family: Family

    /// An origin in a folder: `tiny` in four versions of three files each, two of which lie in folders; `packed`, an archive of two.
    init() async throws {
        folder = try TemporaryFolder()
        family = try #require(Family("tiny"))
        manifest = folder.path("origin/models.json")
        replaced = folder.path("origin/again/models.json")
        var entries: [String] = []
        func entry(_ family: String, _ version: String, _ name: String, _ data: Data, _ more: String) -> String {
            """
            {"id": "\(family)-\(version)", "family": "\(family)", "version": "\(version)", "filename": "\(name)", "format": "onnx",
             "minAppVersion": "0.0.0", "downloadUrl": "\(name)", \(facts(data)), \(more)}
            """
        }
        func facts(_ data: Data) -> String {
            #""sizeBytes": \#(data.count), "sha256": "\#(SHA256Digest(hashing: data).hex)""#
        }
        for version in ["1.0.0", "1.1.0", "1.2.0", "2.0.0"] {
            var files: [String] = []
            for name in ["text/labels.txt", "text/more/words.txt"] {
                let data = Data("\(name) of \(version)".utf8)
                let place = "\(version)/\(name)"
                try folder.write("origin/\(place)", data)
                files.append(#"{"path": "\#(name)", "role": "other", "url": "\#(place)", \#(facts(data))}"#)
            }
            let data = Data(Array(repeating: Array("weights of \(version)".utf8), count: 500).joined())
            try folder.write("origin/w-\(version).onnx", data)
            let list = files.joined(separator: ", ")
            entries.append(entry("tiny", version, "w-\(version).onnx", data, #""files": [\#(list)]"#))
        }
        let again = entry("tiny", "1.0.0", "w-1.0.0.onnx", Self.otherWeights, #""rank": 1"#)
        try folder.write("origin/again/w-1.0.0.onnx", Self.otherWeights)
        try folder.write("origin/again/models.json", Data(#"{"schemaVersion": 1, "models": [\#(again)]}"#.utf8))
        try folder.write("bundle/model/weights.onnx", Data(repeating: 7, count: 100_000))
        try folder.write("bundle/model/text/labels.txt", Data("cat".utf8))
        let packed = folder.path("origin/packed.tar.gz")
        let packing = try await ChildProcess.run(
            ["-czf", packed.string, "-C", folder.path("bundle").string, "model"], program: Path("/usr/bin/tar"))
        try #require(packing.status == 0, "\(packing.errors)")
        let data = try Data(contentsOf: packed.url)
        entries.append(entry("packed", "1.0.0", "packed.tar.gz", data, #""archive": {"format": "tar.gz"}"#))
        try folder.write(
            "origin/models.json",
            Data(
                #"{"schemaVersion": 1, "current": {"tiny": "2.0.0", "packed": "1.0.0"}, "models": [\#(entries.joined(separator: ", "))]}"#
                    .utf8))
    }

    private func words(_ deed: Deed, _ home: Path) -> [String] {
        switch deed {
        case .severalFiles: ["pull", home.string, "\(manifest)#tiny@2.0.0"]
        case .archive: ["pull", home.string, "\(manifest)#packed@1.0.0"]
        case .prune: ["live", home.string, "prune"]
        case .repair: ["live", home.string, "repair", "tiny@1.0.0"]
        case .replace, .replaceMissing: ["live", home.string, "pull", "\(replaced)#tiny@1.0.0"]
        }
    }

    /// The home before the deed.
    private func template(for deed: Deed) async throws -> Path {
        let home = folder.path("template-\(deed)")
        for version in deed == .prune ? ["1.0.0", "1.1.0", "1.2.0"] : ["1.0.0"] {
            let manager = ModelManager(
                home: home, origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
            var options = PullOptions()
            // What an activation would collect by itself is left for the prune.
            options.activate = deed != .prune || version == "1.0.0"
            let release = try await manager.pull(
                ModelReference(parsing: "\(manifest)#tiny@\(version)"), options: options
            )
            .release
            if !options.activate { _ = try await manager.store.activate(release.identity) }
            if deed == .repair {
                let file = try LocalFileSystem().open(try #require(release.weights), .readWrite)
                try [UInt8]([0x5A]).withUnsafeBytes { try LocalFileSystem().write(file, $0, at: 99) }
            }
        }
        if deed.isReplacement { try await prove(home, isMissing: deed == .replaceMissing) }
        return home
    }

    /// What is live was prepared for this device, and has proven itself.
    private func prove(_ home: Path, isMissing: Bool) async throws {
        let tried = try await CrashProbe.run(["live", home.string, "activate", "tiny@1.0.0"])
        try #require(tried.status == 0, "\(tried.errors)")
        let store = ModelStore(home: home)
        let live = try #require(try await store.active(family))
        for _ in 1...3 { try await store.recordAnswer(live.identity) }
        try #require(try await store.state(of: family).probation == nil)
        if isMissing { try LocalFileSystem().removeTree(live.folder) }
    }

    private func copy(_ template: Path, _ name: String) throws -> Path {
        let home = folder.path(name)
        try FileManager.default.copyItem(atPath: template.string, toPath: home.string)
        return home
    }

    /// What holds at any moment.
    private func check(_ home: Path, _ deed: Deed, isDone: Bool, _ note: String) async throws {
        let store = ModelStore(home: home)
        let inventory = try await store.inventory()
        #expect(inventory.damaged.isEmpty, "\(note)")
        let active = try await store.active(family)
        #expect(active?.identity.version.name == live(deed, isDone: isDone, active), "\(note)")
        if deed.isReplacement, let active {
            let isOther = try Data(contentsOf: try #require(active.weights).url) == Self.otherWeights
            #expect(isOther || (!isDone && deed == .replace), "\(note)")
            #expect((active.identity.content != nil) == (isOther && deed == .replace), "\(note)")
            // The other bytes are on probation, or the mark is there by which the next start puts them on it.
            let isOnProbation = try await store.state(of: family).probation?.release == active.identity
            let isSwitching = try MarkFiles(layout: store.layout, fileSystem: LocalFileSystem()).all(of: family)
                .contains { $0.release == active.identity && $0.mark?.stage == .commit }
            #expect(!isOther || isOnProbation || (!isDone && isSwitching), "\(note)")
        }
        for release in inventory.releases where deed != .repair || isDone {
            #expect(try await store.verify(release).isIntact, "\(note): \(release.identity)")
        }
        guard isDone else { return }
        let expected: [String] =
            switch deed {
            case .severalFiles: ["tiny@1.0.0", "tiny@2.0.0"]
            case .archive: ["packed@1.0.0", "tiny@1.0.0"]
            case .prune: ["tiny@1.1.0", "tiny@1.2.0"]
            case .replace: ["tiny@1.0.0", "tiny@1.0.0+\(active?.identity.content?.name ?? "")"]
            case .repair, .replaceMissing: ["tiny@1.0.0"]
            }
        #expect(inventory.releases.map(\.identity.description) == expected, "\(note)")
        try await startOnceMore(home)
        let files = try LocalFileSystem().files(below: home)
        let left = files.filter { $0.contains(Path.temporaryMark) || $0.contains("data.part") }
        #expect(left.isEmpty, "\(note): \(left)")
    }

    /// What the next start clears up. A lease that was being written when its process was killed is left alone for a minute, and then
    /// goes with the next look.
    private func startOnceMore(_ home: Path) async throws {
        for name in try LocalFileSystem().files(below: home) where "\(name)".hasPrefix("leases/") {
            try FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(-120)], ofItemAtPath: "\(home)/\(name)")
        }
        let manager = ModelManager(home: home, origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        try await manager.recover()
        _ = try await manager.collectionPlan()
    }

    private func live(_ deed: Deed, isDone: Bool, _ active: InstalledRelease?) -> String? {
        switch deed {
        // Killed anywhere, either of the two.
        case .severalFiles: isDone || active?.identity.version.name == "2.0.0" ? "2.0.0" : "1.0.0"
        case .prune: "1.2.0"
        case .archive, .repair, .replace: "1.0.0"
        case .replaceMissing: isDone || active != nil ? "1.0.0" : nil
        }
    }

    @Test(arguments: ["severalFiles", "archive", "prune", "repair", "replace", "replaceMissing"])
    func everyStepCanBeItsLast(_ name: String) async throws {
        let deed = try #require(Deed(rawValue: name))
        let template = try await template(for: deed)
        let example = try copy(template, "whole")
        let whole = try await CrashProbe.run(words(deed, example))
        try #require(whole.status == 0, "\(whole.errors)")
        try await check(example, deed, isDone: true, "\(deed), whole")
        try #require(whole.steps.count > 5)
        let seen = Set(whole.steps.map(\.description))
        #expect(Set(deed.expected).isSubset(of: seen), "of \(seen.sorted())")

        var occurrences: [KillingFileSystem.Step: Int] = [:]
        var kills: [KillingFileSystem.Kill] = []
        for step in whole.steps {
            occurrences[step, default: 0] += 1
            for moment in [KillingFileSystem.Moment.before, .after] {
                kills.append(.init(step, occurrence: occurrences[step] ?? 1, moment))
            }
        }
        var generator = SeededGenerator(seed: 12)
        let few = max(1, min(40, kills.count / 5))
        var hits = 0
        for (number, kill) in kills.enumerated() {
            let isDecisive = deed.isDecisive(kill.step.name)
            let isFirst = isDecisive && hits == 0
            guard isFirst || TestExtent.includes(oneIn: isDecisive ? 24 : 2 * few, using: &generator) else { continue }
            let note = "\(deed), \(kill.moment) \(kill.occurrence) \(kill.step)"
            let home = try copy(template, "home-\(number)")
            let killed = try await CrashProbe.run(words(deed, home), kill: kill)
            guard killed.status == 128 + SIGKILL else {
                #expect(killed.status == 0, "\(note): \(killed.errors)")
                continue
            }
            hits += 1
            try await check(home, deed, isDone: false, note)
            let again = try await CrashProbe.run(words(deed, home))
            #expect(again.status == 0, "\(note): \(again.errors)")
            try await check(home, deed, isDone: true, note)
            try LocalFileSystem().removeTree(home)
        }
        print("crash suite: \(deed) killed at \(hits) of \(kills.count) moments")
        #expect(hits > 0)
    }

    /// Killed by another process, half of the times by the clock, half of them some time after so many of its steps.
    @Test func aKillAtAnyMomentIsRecoveredFrom() async throws {
        let seed: UInt64 = 20_261_123
        var generator = SeededGenerator(seed: seed)
        var hits: [String] = []
        for deed in TestExtent.isFull ? Deed.allCases : [.severalFiles, .replace] {
            let template = try await template(for: deed)
            let example = try copy(template, "whole-\(deed)")
            let start = ContinuousClock.now
            let whole = try await CrashProbe.run(words(deed, example))
            let duration = start.duration(to: .now)
            try #require(whole.status == 0, "\(whole.errors)")
            var kills = 0
            let rounds = TestExtent.isFull ? 60 : 2
            for number in 0..<rounds {
                let share = Double.random(in: 0...1, using: &generator)
                let home = try copy(template, "moment-\(deed)-\(number)")
                let child = try CrashProbe.start(words(deed, home))
                if number.isMultiple(of: 2) {
                    try await Task.sleep(for: duration * share)
                } else {
                    await child.steps(Int(share * Double(whole.steps.count)))
                }
                child.send(SIGKILL)
                let status = await child.result().status
                #expect(status == 128 + SIGKILL || status == 0)
                if status != 0 { kills += 1 }
                let note = "\(deed), kill \(number) of seed \(seed) at \(share)"
                try await check(home, deed, isDone: false, note)
                let again = try await CrashProbe.run(words(deed, home))
                #expect(again.status == 0, "\(note): \(again.errors)")
                try await check(home, deed, isDone: true, note)
                try LocalFileSystem().removeTree(home)
            }
            #expect(kills > 0, "\(deed)")
            hits.append("\(deed) \(kills) of \(rounds)")
        }
        print("crash suite: seed \(seed), kills of \(hits.joined(separator: ", "))")
    }
}
