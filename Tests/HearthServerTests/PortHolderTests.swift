import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// The program that listens on a port, from the files of the system.
@Suite struct PortHolderTests {
    private static let heading =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private static func row(_ port: String, _ state: String = "0A", user: Int = 1000, node: String = "4711") -> String {
        "   0: 0100007F:\(port) 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000  \(user)        0 \(node) 1 0\n"
    }

    private func folder(_ rows: String, tcp6: String = "") throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write("net/tcp", Data((Self.heading + rows).utf8))
        try folder.write("net/tcp6", Data((Self.heading + tcp6).utf8))
        return folder
    }

    private func process(
        _ number: Int, _ name: String, words: [String], environment: [String], socket: String,
        in folder: TemporaryFolder
    ) throws {
        try folder.write("\(number)/comm", Data("\(name)\n".utf8))
        try folder.write("\(number)/cmdline", Data((words.joined(separator: "\0") + "\0").utf8))
        try folder.write("\(number)/environ", Data((environment.joined(separator: "\0") + "\0").utf8))
        try LocalFileSystem().makeFolders(folder.path("\(number)/fd"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("\(number)/fd/5").string, withDestinationPath: socket)
    }

    @Test func aHearthIsNamedWithItsHome() throws {
        let folder = try folder(Self.row("0050", node: "1") + Self.row("10E7"))
        try process(7, "sshd", words: ["sshd"], environment: [], socket: "socket:[1]", in: folder)
        try process(
            812, "hearth", words: ["/usr/bin/hearth", "serve", "--port", "4327"],
            environment: ["A=b", "HEARTH_HOME=/srv/models"], socket: "socket:[4711]", in: folder)
        let holder = try #require(PortHolder.find(port: 4327, in: folder.path))
        #expect(holder.process == 812 && holder.name == "hearth" && holder.home == Path("/srv/models"))
        let error = ServerError.portInUse(holder, host: "127.0.0.1", port: 4327)
        #expect(error.code == .portInUse && error.context.field == "home" && error.context.file == "/srv/models")
        #expect(error.message == "port 4327 is in use by hearth (process 812, home /srv/models)")
        #expect(PortHolder.find(port: 80, in: folder.path)?.home == nil)
        #expect(PortHolder.find(port: 81, in: folder.path) == nil)
    }

    /// Hostile and strange files of the system: no home is invented, and no control character is shown.
    @Test(arguments: [
        ("hearth", ["hearth", "host"], ["HEARTH_HOME=/a"], "hearth (process 9)"),
        ("hearth", ["hearth", "serve"], ["HEARTH_HOME=relative"], "hearth (process 9)"),
        ("hearth", ["hearth", "serve"], [], "hearth (process 9)"),
        (
            "hearth", ["hearth", "serve"], ["=", "x", "HOME=/home/ada"],
            "hearth (process 9, home /home/ada/.local/share/hearth)"
        ),
        ("ollama", ["ollama", "serve"], ["HEARTH_HOME=/a"], "ollama (process 9)"),
        ("\u{1B}[31mx", ["x"], [], "[31mx (process 9)"), ("", [], [], "a program (process 9)"),
    ])
    func otherProgramsHaveNoHome(name: String, words: [String], environment: [String], shown: String) throws {
        let folder = try folder("", tcp6: Self.row("1F90"))
        try process(9, name, words: words, environment: environment, socket: "socket:[4711]", in: folder)
        #expect(PortHolder.find(port: 8080, in: folder.path)?.words == shown)
    }

    /// Another user's process cannot be looked at.
    @Test(arguments: [
        (PortHolderTests.row("1F90", user: 0), "a program of the user root"),
        (PortHolderTests.row("1F90", user: 4_000_123), "a program of the user 4000123"),
    ])
    func anotherUserIsNamed(row: String, shown: String) throws {
        let folder = try folder(row)
        #expect(PortHolder.find(port: 8080, in: folder.path)?.words == shown)
    }

    @Test(arguments: [
        PortHolderTests.row("1F90", "01"), "rubbish", "0: :1F90 x 0A", PortHolderTests.row("1F90", user: -1),
        PortHolderTests.row("1F90", node: "x"), PortHolderTests.row("11F90"), String(repeating: "x", count: 100_000),
    ])
    func otherRowsAreNoListeners(row: String) throws {
        let folder = try folder(row)
        #expect(PortHolder.find(port: 8080, in: folder.path) == nil)
    }

    #if os(Linux)
    @Test func thisProcessIsFound() async throws {
        try await BlockingExecutor.run {
            let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
            let port = try #require(socket.address?.port)
            #expect(PortHolder.find(port: port)?.process == Int(getpid()))
            let error = #expect(throws: ServerError.self) { try ListeningSocket(host: "127.0.0.1", port: port) }
            #expect(error?.context.found == "process \(getpid())")
        }
    }
    #endif
}
