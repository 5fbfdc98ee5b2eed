import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// Large files, and clients that read slowly or give up.
extension OriginServerTests {
    @Test func keepsServingTheBytesItBeganWith() async throws {
        try await OriginFixture.with { origin in
            // Larger than what the system buffers for a client that does not read.
            let large = [UInt8](repeating: 1, count: 12 << 20)
            try origin.root.write("origin/large.gguf", Data(large))
            let connection = try RawConnection(origin.address, receiveBuffer: 65_536)
            try connection.send("GET", "/large.gguf")
            let beginning = try connection.receive(upTo: 1)
            #expect(beginning == [UInt8(ascii: "H")])
            try origin.root.write("origin/large.gguf", Data(repeating: 2, count: 12 << 20))
            let rest = connection.receiveAll(upTo: 12 << 20)
            #expect(!rest.suffix(12 << 19).contains(2))
        }
    }

    @Test func servesManyAtOnceBesidesTheSlow() async throws {
        try await OriginFixture.with { origin in
            try origin.root.write("origin/large.gguf", Data(repeating: 1, count: 24 << 20))
            // They ask for much and read nothing; both server threads have some of them.
            let slow = try (0..<8).map { _ in
                let connection = try RawConnection(origin.address, receiveBuffer: 4096)
                try connection.send("GET", "/large.gguf")
                return connection
            }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for client in 0..<64 {
                    group.addTask {
                        try await blocking {
                            let first = client * 4000
                            let response = try RawConnection.fetch(
                                origin.address, "/models/m.gguf", ["Range: bytes=\(first)-\(first + 3999)"])
                            return response.body == Array(OriginFixture.weights[first..<(first + 4000)])
                        }
                    }
                }
                for try await isExact in group { #expect(isExact) }
            }
            #expect(origin.log.entries.count(where: { $0.status == 206 }) >= 60)
            slow.forEach { $0.reset() }
        }
    }

    @Test func outlivesClientsThatGiveUp() async throws {
        try await OriginFixture.with { origin in
            try origin.root.write("origin/large.gguf", Data(repeating: 1, count: 24 << 20))
            for _ in 0..<10 {
                let connection = try RawConnection(origin.address, receiveBuffer: 65_536)
                try connection.send("GET", "/large.gguf")
                _ = try connection.receive(upTo: 1000)
                connection.reset()
            }
            let entries = await origin.log.entries(atLeast: 10)
            #expect(entries.allSatisfy { !$0.isComplete && $0.status == 200 })
            // What was acknowledged: something, and far from all.
            #expect(entries.allSatisfy { $0.bodyBytes > 0 && $0.bodyBytes < 24 << 20 })
            #expect(try RawConnection.fetch(origin.address, "/models/m.gguf").body == OriginFixture.weights)
        }
    }

    @Test func sendsPartsBeyondFourGibibytes() async throws {
        try await OriginFixture.with { origin in
            let files = LocalFileSystem()
            let size: UInt64 = 5 << 30
            let file = try files.open(origin.root.path("origin/sparse.gguf"), .createNew)
            try files.truncate(file, to: size)
            let mark = Array("here".utf8)
            for offset in [4 << 30, size - 4] as [UInt64] {
                try mark.withUnsafeBytes { try files.write(file, $0, at: offset) }
            }
            let head = try RawConnection.fetch(origin.address, "/sparse.gguf", method: "HEAD")
            #expect(head.headers["content-length"] == "5368709120")
            let middle = try RawConnection.fetch(
                origin.address, "/sparse.gguf", ["Range: bytes=4294967294-4294967301"])
            #expect(middle.headers["content-range"] == "bytes 4294967294-4294967301/5368709120")
            #expect(middle.body == [0, 0] + mark + [0, 0])
            #expect(try RawConnection.fetch(origin.address, "/sparse.gguf", ["Range: bytes=-4"]).body == mark)
        }
    }
}
