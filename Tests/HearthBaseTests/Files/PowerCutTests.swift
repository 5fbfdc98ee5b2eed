import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct PowerCutTests {
    private let old = Data("old contents".utf8)
    private let new = Data("the new and longer contents".utf8)

    /// Looks at the disk after a cut at every operation, under every policy.
    private func sweep(
        _ disk: PowerCutDisk, from first: Int = 0, _ look: (Path, _ isLast: Bool, String) throws -> Void
    ) throws {
        for operation in first...disk.operationCount {
            for policy in PowerCutDisk.Policy.allCases {
                let after = try TemporaryFolder()
                try disk.rebuild(after: operation, policy: policy, into: after.path)
                let label = "\(policy) after \(operation): \(disk.operations.prefix(operation).last ?? "nothing")"
                try look(after.path, operation == disk.operationCount, label)
            }
        }
    }

    @Test func replacedContentsAreOldOrNewAndThenNew() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", old)
        let disk = try PowerCutDisk(root: folder.path)
        try disk.replaceContents(of: disk.root.appending("file"), with: new)
        #expect(disk.operationCount == 5)
        try sweep(disk) { root, isLast, label in
            let contents = try LocalFileSystem().contents(ofFile: root.appending("file"), limit: 100)
            #expect(isLast ? contents == new : contents == old || contents == new, "\(label)")
            let others = try LocalFileSystem().contents(of: root).filter { $0 != "file" }
            #expect(others.allSatisfy { $0.contains(Path.temporaryMark) }, "\(label)")
        }
    }

    /// The real disk may give the inode of a file that is gone to one that is written past this disk.
    @Test(arguments: [false, true]) func aFileIsForgottenWithItsLastName(isReplaced: Bool) throws {
        let folder = try TemporaryFolder()
        let disk = try PowerCutDisk(root: folder.path)
        let (one, two) = (disk.root.appending("one"), disk.root.appending("two"))
        _ = try disk.open(one, .createNew)
        let file = try disk.open(two, .createNew)
        try disk.rename(two, to: two)
        try disk.makeHardLink(at: disk.root.appending("other"), to: two)
        try disk.removeFile(disk.root.appending("other"))
        try disk.synchronize(file)
        if isReplaced { try disk.rename(one, to: two) } else { try disk.removeFile(two) }
        let count = disk.operationCount
        #expect(throws: FileError.self) { try disk.synchronize(file) }
        #expect(disk.operationCount == count)
    }

    @Test func aNewFileIsAbsentOrWhole() throws {
        let folder = try TemporaryFolder()
        let disk = try PowerCutDisk(root: folder.path)
        try disk.replaceContents(of: disk.root.appending("file"), with: new)
        try sweep(disk) { root, isLast, label in
            let path = root.appending("file")
            guard try LocalFileSystem().status(at: path) != nil else {
                #expect(!isLast, "\(label)")
                return
            }
            #expect(try LocalFileSystem().contents(ofFile: path, limit: 100) == new, "\(label)")
        }
    }

    /// A failed call and then a power cut: still the old contents or the new ones.
    @Test func aFailureBeforeTheCutChangesNothing() throws {
        for call in 1...5 {
            let folder = try TemporaryFolder()
            try folder.write("file", old)
            let disk = try PowerCutDisk(root: folder.path)
            let faulty = FaultyFileSystem(disk)
            faulty.fail(call: call, errno: EIO)
            #expect(throws: FileError.self) {
                try faulty.replaceContents(of: disk.root.appending("file"), with: new)
            }
            try sweep(disk) { root, _, label in
                let contents = try LocalFileSystem().contents(ofFile: root.appending("file"), limit: 100)
                #expect(contents == old || contents == new, "\(label), call \(call) failed")
            }
        }
    }

    @Test func aReplacedLinkLeadsToTheOldOrTheNew() throws {
        let folder = try TemporaryFolder()
        try LocalFileSystem().makeLink(at: folder.path("active"), to: "1.0.0")
        let disk = try PowerCutDisk(root: folder.path)
        try disk.replaceLink(at: disk.root.appending("active"), with: "2.0.0")
        try sweep(disk) { root, isLast, label in
            let target = try LocalFileSystem().readLink(root.appending("active"))
            #expect(isLast ? target == "2.0.0" : ["1.0.0", "2.0.0"].contains(target), "\(label)")
        }
    }

    @Test func madeFoldersStay() throws {
        let folder = try TemporaryFolder()
        let disk = try PowerCutDisk(root: folder.path)
        try disk.makeFolders(disk.root.appending("a/b/c"))
        try disk.replaceContents(of: disk.root.appending("a/b/c/file"), with: new)
        let made = disk.operationCount - 5
        try sweep(disk, from: made) { root, isLast, label in
            let kind = try LocalFileSystem().status(at: root.appending("a/b/c"))?.kind
            #expect(kind == .folder, "\(label)")
            guard isLast else { return }
            let contents = try LocalFileSystem().contents(ofFile: root.appending("a/b/c/file"), limit: 100)
            #expect(contents == new, "\(label)")
        }
    }

    /// A process was killed after it created a folder and before it brought the entry to the disk.
    @Test(arguments: ["a", "a/b"]) func foldersOfAKilledProcessAreBroughtToTheDisk(left: String) throws {
        let folder = try TemporaryFolder()
        let disk = try PowerCutDisk(root: folder.path)
        try disk.makeFolder(disk.root.appending("a"), permissions: 0o755)
        if left == "a/b" {
            try disk.synchronizeFolder(disk.root)
            try disk.makeFolder(disk.root.appending("a/b"), permissions: 0o755)
        }
        try disk.makeFolders(disk.root.appending("a/b"))
        try sweep(disk, from: disk.operationCount) { root, _, label in
            let kind = try LocalFileSystem().status(at: root.appending("a/b"))?.kind
            #expect(kind == .folder, "\(label)")
        }
    }

    @Test func aMovedFileIsSomewhereAtEveryMoment() throws {
        let folder = try TemporaryFolder()
        try folder.write("from/file", new)
        try LocalFileSystem().makeFolders(folder.path("to"))
        let disk = try PowerCutDisk(root: folder.path)
        try disk.moveDurably(disk.root.appending("from/file"), to: disk.root.appending("to/file"))
        try sweep(disk) { root, isLast, label in
            let found = try ["from/file", "to/file"].filter {
                try LocalFileSystem().status(at: Path(root.string + "/" + $0)) != nil
            }
            #expect(isLast ? found == ["to/file"] : !found.isEmpty, "\(label)")
            for name in found {
                #expect(try LocalFileSystem().contents(ofFile: Path(root.string + "/" + name), limit: 100) == new)
            }
        }
    }

    // MARK: - The tool itself

    /// Saving by rename without bringing anything to the disk: what the durable helper is for.
    @Test func showsWhatACarelessSaveLoses() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", old)
        let disk = try PowerCutDisk(root: folder.path)
        let (temporary, path) = (disk.root.appending(".tmp"), disk.root.appending("file"))
        let file = try disk.open(temporary, .createNew)
        try new.withUnsafeBytes { try disk.write(file, $0, at: 0) }
        try disk.rename(temporary, to: path)

        func contents(_ policy: PowerCutDisk.Policy) throws -> Data {
            let after = try TemporaryFolder()
            try disk.rebuild(after: disk.operationCount, policy: policy, into: after.path)
            return try LocalFileSystem().contents(ofFile: after.path("file"), limit: 100)
        }
        #expect(try contents(.everything) == new)
        #expect(try contents(.onlySynced) == old)
        #expect(try contents(.namesWithoutData) == Data())
        #expect(try contents(.namesWithZeros) == Data(count: new.count))
        try disk.synchronizeFolder(disk.root)
        #expect(try contents(.onlySynced) == Data())
        try disk.synchronize(file)
        for policy in PowerCutDisk.Policy.allCases { #expect(try contents(policy) == new) }
    }

    @Test func logsEveryKindOfChangeAndRebuildsTheLastState() throws {
        let folder = try TemporaryFolder()
        try folder.write("kept/file", old)
        try LocalFileSystem().makeHardLink(at: folder.path("kept/twin"), to: folder.path("kept/file"))
        let disk = try PowerCutDisk(root: folder.path)
        let root = disk.root
        try disk.makeFolder(root.appending("a"), permissions: 0o755)
        try disk.makeLink(at: root.appending("link"), to: "a")
        let file = try disk.open(root.appending("link/file"), .readWrite)
        try new.withUnsafeBytes { try disk.write(file, $0, at: 3) }
        try disk.allocate(file, size: 40)
        try disk.truncate(file, to: 35)
        try disk.makeHardLink(at: root.appending("second"), to: root.appending("a/file"))
        try disk.removeFile(root.appending("a/file"))
        try disk.removeFile(root.appending("a/file"))
        try disk.rename(root.appending("kept"), to: root.appending("moved"))
        try disk.removeFile(root.appending("link"))
        try disk.removeFolder(root.appending("a"))
        let opened = try disk.open(root.appending("moved/file"), .readWrite)
        try Data("OLD".utf8).withUnsafeBytes { try disk.write(opened, $0, at: 0) }
        #expect(disk.operationCount == 12)

        let after = try TemporaryFolder()
        try disk.rebuild(after: disk.operationCount, policy: .everything, into: after.path)
        let local = LocalFileSystem()
        #expect(try local.contents(of: after.path) == ["moved", "second"])
        let expected = Data(count: 3) + new + Data(count: 35 - 3 - new.count)
        #expect(try local.contents(ofFile: after.path("second"), limit: 100) == expected)
        for name in ["moved/file", "moved/twin"] {
            #expect(try local.contents(ofFile: after.path(name), limit: 100) == Data("OLD contents".utf8))
        }
        for operation in 0...disk.operationCount {
            let synced = try TemporaryFolder()
            try disk.rebuild(after: operation, policy: .onlySynced, into: synced.path)
            #expect(try local.contents(of: synced.path) == ["kept"])
            #expect(try local.contents(ofFile: synced.path("kept/file"), limit: 100) == old)
        }
    }

    @Test func refusesChangesOutsideItsRoot() throws {
        let (folder, outside) = (try TemporaryFolder(), try TemporaryFolder())
        let disk = try PowerCutDisk(root: folder.path)
        #expect(throws: FileError.self) { try disk.makeFolder(outside.path("a"), permissions: 0o755) }
        #expect(throws: FileError.self) { try disk.open(outside.path("a"), .createNew) }
        #expect(try disk.contents(of: outside.path) == [])
    }
}
