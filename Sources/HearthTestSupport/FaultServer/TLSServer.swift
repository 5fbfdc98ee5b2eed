import Foundation
import HearthBase
import HearthHTTP

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// An `https` server on loopback with fixed replies: `openssl s_server` as a child process.
///
/// Its certificate is self-signed, so only a client that is configured to trust it does. The server stops with its last
/// reference, and after a thousand connections.
package final class TLSServer: Sendable {
    /// The faults of a certificate, apart from its missing signature.
    package enum Certificate: Sendable, Hashable {
        /// None: a client that trusts ``TLSServer/authority`` accepts the server.
        case proper
        /// The certificate expired yesterday.
        case expired
        /// The certificate belongs to another machine.
        case ofAnotherMachine
    }

    /// The path of the program; `nil` if it is not installed.
    package static let program: Path? = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }.map { Path($0) }

    package let port: UInt16
    /// The self-signed certificate, which is its own authority.
    package let authority: Path
    private let folder: TemporaryFolder
    private let process: Process

    /// Starts to listen on 127.0.0.1. Blocks for a moment.
    /// - Parameter answers: the bytes of the whole reply, with the head, for each path without its slash.
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

    // `SIGTERM` could wait without end: the child has the signal mask of the thread that started it, which blocks all
    // signals.
    deinit { kill(process.processIdentifier, SIGKILL) }

    /// The address of a path on this server.
    package func url(_ path: String) throws -> URL {
        guard let url = URL(address: "https://127.0.0.1:\(port)\(path)") else {
            throw CocoaError(.fileReadInvalidFileName)
        }
        return url
    }

    /// The bytes of a reply: a head with the given lines, and a body.
    package static func answer(_ status: Int, headers: [String] = [], body: Data = Data()) -> Data {
        let lines = ["HTTP/1.1 \(status) Scripted", "Content-Length: \(body.count)"] + headers
        return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// Reads the output up to the line with the port.
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
