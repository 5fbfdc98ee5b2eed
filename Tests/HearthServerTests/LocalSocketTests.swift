import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Sockets that another user may have put in the place of the server's own.
@Suite(.timeLimit(.minutes(1))) struct LocalSocketTests {
    private static let folder = UInt32(S_IFDIR)

    @Test(
        arguments: [
            (folder | 0o700, 1000, true), (folder | 0o755, 1000, true), (folder | 0o700, 0, true),
            (folder | 0o775, 1000, false), (folder | 0o757, 1000, false), (folder | 0o1777, 1000, false),
            (folder | 0o777, 0, false), (folder | 0o700, 1001, false), (folder | 0o755, 65_534, false),
            (UInt32(S_IFLNK) | 0o777, 1000, false), (UInt32(S_IFLNK) | 0o700, 0, false),
            (UInt32(S_IFREG) | 0o600, 1000, false), (UInt32(S_IFSOCK) | 0o600, 1000, false),
        ] as [(UInt32, UInt32, Bool)])
    func aFolderIsUsedThatNoOtherUserChanges(mode: UInt32, owner: UInt32, isUsed: Bool) {
        #expect((LocalUser.problem(mode: mode, owner: owner, own: 1000) == nil) == isUsed)
    }

    @Test func aProcessIsTrustedOfThisUserAndRoot() {
        #expect([1000, 0].allSatisfy { LocalUser.isTrusted($0, by: 1000) })
        #expect(![1001, 65_534, .max].contains { LocalUser.isTrusted($0, by: 1000) })
        #expect(!LocalUser.isTrusted(1000, by: 0))
    }

    /// A home whose socket listens, and whose connections nothing answers.
    private struct Lab {
        let temporary: TemporaryFolder
        let place: ResidentPlace
        let listening: ListeningSocket

        init() throws {
            temporary = try TemporaryFolder()
            place = ResidentPlace(home: temporary.path("h"), environment: [:])
            try place.prepare()
            listening = try ListeningSocket(unix: place.socket)
        }

        /// Whether a client has connected.
        var hasVisitor: Bool {
            let connection = accept(listening.descriptor, nil, nil)
            if connection >= 0 { close(connection) }
            return connection >= 0
        }

        func expectRefusal() async {
            let error = await #expect(throws: ServerError.self) {
                try await ResidentClient(place).send("POST", "/hearth/v1/pull", body: Array("secret".utf8))
            }
            #expect(error?.code == .foreignSocket)
            #expect(!hasVisitor)
            #expect(!(await ResidentClient(place).isServing()))
            let own = #expect(throws: ServerError.self) { try place.prepare() }
            #expect(own?.code == .foreignSocket)
        }
    }

    @Test(arguments: [0o777, 0o770, 0o702, 0o1777] as [mode_t])
    func nothingIsSentInAFolderThatOthersChange(mode: mode_t) async throws {
        let lab = try Lab()
        #expect(chmod(lab.place.folder.string, mode) == 0)
        await lab.expectRefusal()
        #expect(chmod(lab.place.folder.string, 0o700) == 0)
    }

    @Test func nothingIsSentThroughASymbolicLink() async throws {
        let lab = try Lab()
        let moved = lab.temporary.path("elsewhere")
        #expect(rename(lab.place.folder.string, moved.string) == 0)
        #expect(symlink(moved.string, lab.place.folder.string) == 0)
        await lab.expectRefusal()
    }

    @Test(.enabled(if: getuid() == 0, "only root gives a folder away"))
    func nothingIsSentInAFolderOfAnotherUser() async throws {
        let lab = try Lab()
        #expect(chown(lab.place.folder.string, 65_534, 65_534) == 0)
        await lab.expectRefusal()
        #expect(chown(lab.place.folder.string, 0, 0) == 0)
    }

    /// The folder is this user's, and the socket in it was made by another while that was possible.
    @Test(.enabled(if: getuid() == 0 && access("/usr/bin/perl", X_OK) == 0, "root and Perl take another user's place"))
    func nothingIsSentToAProcessOfAnotherUser() async throws {
        let temporary = try TemporaryFolder()
        let place = ResidentPlace(home: temporary.path("h"), environment: [:])
        try place.prepare()
        let stranger = Process()
        stranger.executableURL = URL(fileURLWithPath: "/usr/bin/perl")
        stranger.arguments = [
            "-MSocket", "-e",
            """
            $| = 1; socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un($ARGV[0])) or die; chmod 0777, $ARGV[0];
            $> = 65534; listen(S, 9) or die; print "ready\\n"; accept(C, S); sysread(C, $b, 1000); print "got [$b]\\n";
            """, place.socket.string,
        ]
        let output = Pipe()
        stranger.standardOutput = output
        try stranger.run()
        #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
        let error = await #expect(throws: ServerError.self) {
            try await ResidentClient(place).send("POST", "/hearth/v1/pull", body: Array("secret".utf8))
        }
        #expect(error?.code == .foreignSocket)
        #expect(await blocking { output.fileHandleForReading.availableData } == Data("got []\n".utf8))
    }

    @Test func aHomeWithoutAServerHasNoStranger() async throws {
        let temporary = try TemporaryFolder()
        for home in ["absent", "file"] {
            try temporary.write("file", Data())
            let place = ResidentPlace(home: temporary.path(home), environment: [:])
            #expect(try await ResidentClient(place).send("GET", "/ready") == nil)
        }
    }
}
