import Foundation
import HearthBase

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An `https` server on loopback that gives out whole scripted answers: `openssl s_server` as a child process.
///
/// Its certificate is one of its own making, so that only a client who is told to trusts it. It stops with its last
/// reference, and after a thousand connections.
package final class TLSServer: Sendable {
    /// What is wrong with a certificate, apart from its missing signature.
    package enum Certificate: Sendable, Hashable {
        /// Nothing: a client that trusts ``TLSServer/authority`` talks to the server.
        case proper
        /// It ended yesterday.
        case expired
        /// It belongs to another machine.
        case ofAnotherMachine
    }

    /// The program it runs, where it is installed.
    package static let program: Path? = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }.map { Path($0) }

    package let port: UInt16
    /// The certificate, as the authority that vouches for itself.
    package let authority: Path
    private let folder: TemporaryFolder
    private let process: Process

    /// Starts to listen on 127.0.0.1. Blocks for a moment.
    /// - Parameter answers: for each path without its slash, the bytes of the whole answer, the head included.
    package init(_ certificate: Certificate = .proper, answers: [String: Data]) throws {
        let folder = try TemporaryFolder()
        try Self.makeCertificate(certificate, in: folder)
        for (name, answer) in answers { try folder.write("answers/" + name, answer) }
        let process = try Self.process(
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", "../certificate.pem", "-key", "../key.pem", "-HTTP",
                "-naccept", "1000",
            ], in: folder.path("answers"))
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.folder = folder
        self.process = process
        authority = folder.path("certificate.pem")
        guard let port = Self.port(in: output) else {
            kill(process.processIdentifier, SIGKILL)
            throw CocoaError(.executableNotLoadable)
        }
        self.port = port
    }

    // A polite signal would wait for ever: the child has the signal mask of the thread that started it, which blocks all.
    deinit { kill(process.processIdentifier, SIGKILL) }

    /// The address of a path on this server.
    package func url(_ path: String) throws -> URL {
        guard let url = URL(string: "https://127.0.0.1:\(port)\(path)") else {
            throw CocoaError(.fileReadInvalidFileName)
        }
        return url
    }

    /// An answer's bytes: a head with the given lines, and a body.
    package static func answer(_ status: Int, headers: [String] = [], body: Data = Data()) -> Data {
        let lines = ["HTTP/1.1 \(status) Scripted", "Content-Length: \(body.count)"] + headers
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// Reads on until the line that names the port.
    private static func port(in output: Pipe) -> UInt16? {
        var text = ""
        while !text.contains(/ACCEPT .*:[0-9]+\n/) {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            text += String(decoding: data, as: UTF8.self)
        }
        return text.firstMatch(of: /ACCEPT .*:([0-9]+)\n/).flatMap { UInt16($0.1) }
    }

    private static func makeCertificate(_ certificate: Certificate, in folder: TemporaryFolder) throws {
        let machine = certificate == .ofAnotherMachine ? "DNS:models.example.org" : "IP:127.0.0.1"
        try folder.write("extensions", Data("subjectAltName=\(machine)\n".utf8))
        for words in [
            ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem"],
            ["req", "-new", "-key", "key.pem", "-subj", "/CN=hearth-test", "-out", "request.pem"],
            [
                "x509", "-req", "-in", "request.pem", "-signkey", "key.pem", "-extfile", "extensions",
                "-days", certificate == .expired ? "-1" : "2", "-out", "certificate.pem",
            ],
        ] {
            let process = try process(words, in: folder.path)
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw CocoaError(.executableNotLoadable) }
        }
    }

    private static func process(_ words: [String], in folder: Path) throws -> Process {
        guard let program else { throw CocoaError(.executableNotLoadable) }
        let process = Process()
        process.executableURL = program.url
        process.arguments = words
        process.currentDirectoryURL = folder.url
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        return process
    }
}
