import Foundation
import HearthBase
import Testing

@testable import HearthServer

/// The bodies of routes that start and end work.
@Suite(.timeLimit(.minutes(5))) struct JobBodyTests {
    /// Forms and texts, which a page of another site may send without a question, change nothing.
    @Test func takesJobsAsJSONAlone() async throws {
        try await ResidentFixture.with { fixture in
            let types = [
                "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json",
                "application/json5", "", "application/x-json",
            ]
            func send(_ path: String, _ fields: [String], _ body: String) throws -> Int {
                let head =
                    ["POST \(path) HTTP/1.1", "Host: localhost", "Authorization: Bearer \(fixture.key)"] + fields
                let connection = try RawConnection(fixture.address)
                try connection.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
                return try connection.head().status
            }
            let body = #"{"model": "talker"}"#
            let length = "Content-Length: \(body.utf8.count)"
            for path in ["pull", "jobs/absent/cancel", "stop", "models/talker/pause", "transfers/x/resume"] {
                // A key has 40 requests here.
                for type in path == "pull" ? types : ["text/plain"] {
                    #expect(try send("/hearth/v1/\(path)", [length, "Content-Type: \(type)"], body) == 415, "\(type)")
                }
                #expect(try send("/hearth/v1/\(path)", [length], body) == 415, "\(path)")
                let chunked = "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                #expect(try send("/hearth/v1/\(path)", ["Transfer-Encoding: chunked"], chunked) == 415, "\(path)")
            }
            #expect(fixture.server.jobs.running.isEmpty && fixture.server.isReady)
            // What takes no body needs no type, and JSON may name its characters.
            #expect(try send("/hearth/v1/jobs/absent/cancel", ["Content-Length: 0"], "") == 404)
            #expect(try send("/hearth/v1/reload", ["Content-Length: 0"], "") == 200)
            let named = ["Content-Type: Application/JSON; charset=utf-8", "Content-Length: 2"]
            let withoutModel = try send("/hearth/v1/pull", named, "{}")
            #expect(withoutModel == 400)
        }
    }
}
