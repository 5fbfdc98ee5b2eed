import Foundation
import HearthAssistant
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthApple

@Suite struct SystemAccessTests {
    @Test(
        arguments: [
            (.notDetermined, "access-undecided"), (.restricted, "access-restricted"), (.denied, "access-denied"),
            (.writeOnly, "access-write-only"), (.limited, nil), (.full, nil),
        ] as [(AccessState, String?)])
    func eachStateHasItsCode(_ state: AccessState, _ expected: String?) async {
        let permission = Permission(state, answer: state)
        let found = await code { try await permission.access(.calendar).reading {} }
        #expect(found == expected)
    }

    @Test func eachStateHasItsSentence() {
        for kind in [StoreKind.calendar, .reminders, .contacts] {
            let sentences = Set(AccessState.allCases.map { $0.sentence(for: kind) })
            #expect(sentences.count == AccessState.allCases.count)
        }
        for state in AccessState.allCases where !state.mayRead {
            #expect(state.refusal(of: .contacts).context.remedy != nil)
        }
    }

    @Test func writeOnlyAccessAddsAndReadsNothing() async throws {
        let access = Permission(.writeOnly).access(.calendar)
        #expect(try await access.adding { 1 } == 1)
        #expect(await code { try await access.reading {} } == "access-write-only")
    }

    @Test func callsAtTheSameTimeAskOnce() async throws {
        let permission = Permission(.notDetermined)
        let access = permission.access(.calendar)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 { group.addTask { try await access.reading { number } } }
            return try await group.reduce(0, +)
        }
        #expect(sum == 28)
        #expect(permission.questions == 1)
    }

    @Test func aRefusalIsNotAskedAgain() async {
        let permission = Permission(.notDetermined, answer: .denied)
        let access = permission.access(.reminders)
        for _ in 0..<2 { #expect(await code { try await access.reading {} } == "access-denied") }
        #expect(permission.questions == 1)
    }

    @Test func aFailedQuestionIsAskedAgain() async {
        let permission = Permission(.notDetermined)
        let access = permission.access(.contacts)
        permission.failQuestions()
        #expect(await code { try await access.reading {} } == "access-undecided")
        #expect(await code { try await access.reading {} } == "access-undecided")
        #expect(permission.questions == 2)
    }

    @Test func anEmptyAnswerAfterAWithdrawalIsAnError() async {
        let permission = Permission()
        let access = permission.access(.contacts)
        let found = await code {
            let records: [String] = try await access.reading {
                permission.state = .denied
                return []
            }
            Issue.record("\(records)")
        }
        #expect(found == "access-denied")
    }

    @Test(arguments: [(AccessState.restricted, "access-restricted"), (.full, "access-denied")])
    func aRefusalOfTheFrameworkIsOneOfTheState(_ state: AccessState, _ expected: String) async {
        let permission = Permission()
        let found = await code {
            try await permission.access(.calendar).reading {
                permission.state = state
                throw SystemStoreError.notAuthorized
            }
        }
        #expect(found == expected)
    }

    @Test func aDeviceThatWasNeverUnlockedIsNotReadNorAsked() async {
        let permission = Permission(.notDetermined)
        permission.isUnlocked = false
        let access = permission.access(.calendar)
        #expect(await code { try await access.reading { Issue.record("read") } } == "store-locked")
        #expect(permission.questions == 0)
        permission.isUnlocked = true
        #expect(await code { try await access.reading {} } == nil)
    }

    @Test func aDatabaseFailureBehindTheLockIsTheLock() async {
        let permission = Permission()
        let found = await code {
            try await permission.access(.contacts).reading {
                permission.isUnlocked = false
                throw SystemStoreError.failed(2)
            }
        }
        #expect(found == "store-locked")
        permission.isUnlocked = true
        let other = await code { try await permission.access(.contacts).reading { throw SystemStoreError.failed(2) } }
        #expect(other == "unusable-record")
    }
}

@Suite struct FirstUnlockTests {
    @Test func theFileIsWrittenOnceAndProtected() async throws {
        let folder = try TemporaryFolder()
        let protected = Locked<[String]>([])
        let unlock = FirstUnlock(folder: folder.path("a/b")) { path in
            protected.withLock { $0.append(path.lastComponent) }
        }
        #expect(await unlock.hasHappened())
        #expect(await unlock.hasHappened())
        #expect(protected.withLock { $0 } == ["first-unlock"])
    }

    @Test func anUnreadableFileMeansALockedDevice() async throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        let unlock = FirstUnlock(folder: folder.path, fileSystem: disk) { _ in }
        #expect(await unlock.hasHappened())
        disk.fail(call: 1, of: .openExisting, errno: EPERM, stays: true)
        #expect(await !unlock.hasHappened())
        disk.heal()
        #expect(await unlock.hasHappened())
    }

    @Test func anUnwritableFolderMeansALockedDevice() async throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .open, errno: EPERM, stays: true)
        #expect(await !FirstUnlock(folder: folder.path, fileSystem: disk) { _ in }.hasHappened())
    }

    @Test func otherFailuresDoNotLock() async throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .open, errno: ENOSPC, stays: true)
        #expect(await FirstUnlock(folder: folder.path, fileSystem: disk) { _ in }.hasHappened())
    }
}
