import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// The fields of a request that reach the cloud.
@Suite(.timeLimit(.minutes(2)))
struct RelayedFieldsTests {
    private static let contents = #""contents":[{"role":"user","parts":[{"text":"a"}]}]"#

    @Test(
        arguments: [
            (#""tools":[{"googleSearch":{}}]"#, "tools[0].googleSearch"),
            (#""tools":[{"google_search":{}}]"#, "tools[0].google_search"),
            (#""tools":[{"functionDeclarations":[]},{"codeExecution":{}}]"#, "tools[1].codeExecution"),
            (#""tools":[{"urlContext":{}}]"#, "tools[0].urlContext"), (#""tools":{"googleSearch":{}}"#, "tools"),
            (#""cachedContent":"cachedContents/a""#, "cachedContent"), (#""cached_content":"a""#, "cached_content"),
            (#""CachedContent":"a""#, "CachedContent"), (#""model":"gemini-pro""#, "model"),
            (#""generationConfig":{"candidateCount":8}"#, "generationConfig.candidateCount"),
            (#""generation_config":{"candidate_count":8}"#, "generation_config.candidate_count"),
            (#""generationConfig":{"responseModalities":["AUDIO"]}"#, "generationConfig.responseModalities"),
            (
                #""systemInstruction":{"parts":[{"fileData":{"fileUri":"files/a"}}]}"#,
                "systemInstruction.parts[0].fileData"
            ),
            (
                #""system_instruction":{"parts":[{"file_data":{"file_uri":"files/a"}}]}"#,
                "system_instruction.parts[0].file_data"
            ),
            (
                #""systemInstruction":{"parts":[{"functionResponse":{"name":"a","parts":[{"fileData":{}}]}}]}"#,
                "systemInstruction.parts[0].functionResponse.parts"
            ),
            (#""labels":{"a":"b"}"#, "labels"), (#""":1"#, ""), (#""_":1"#, "_"), (#""contents_":1"#, "contents_"),
        ])
    func othersAreRefused(members: String, field: String) async throws {
        let fixture = try await GatewayFixture()
        let key = try await fixture.key(credits: 3)
        let reply = try await fixture.chat(key: key, body: "{\(Self.contents),\(members)}")
        #expect(reply.status == 400 && errorCode(reply.body) == "bad-request")
        let document = try JSONValue(parsing: Data("{\(Self.contents),\(members)}".utf8))
        #expect(RelayedFields.refused(in: document) == field)
        #expect(fixture.cloud.requests.withLock { $0.isEmpty })
    }

    @Test func thoseOfAConversationPass() async throws {
        let body = #"""
            {"contents":[{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]},\#
            {"role":"model","parts":[{"functionCall":{"name":"f","args":{"fileData":1}},"thoughtSignature":"x"}]},\#
            {"role":"user","parts":[{"function_response":{"name":"f","response":{"googleSearch":{}}}}]}],\#
            "systemInstruction":{"parts":[{"text":"b"}]},\#
            "tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"cachedContent":1}}]}],\#
            "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},"safetySettings":null,\#
            "generationConfig":{"temperature":0.5,"stopSequences":["x"],"thinkingConfig":{"thinkingBudget":0}}}
            """#
        let fixture = try await GatewayFixture { _ in .init(pieces: ["data: \(GatewayFixture.token)\n\n"]) }
        let reply = try await fixture.chat(key: try await fixture.key(credits: 3), body: body)
        #expect(reply.status == 200, "\(reply.body)")
        let sent = try required(fixture.cloud.requests.withLock { $0.first?.body })
        #expect(try JSONValue(parsing: sent) == JSONValue(parsing: Data(body.utf8)))
    }
}

/// The size of the audit log.
@Suite struct AuditLogTests {
    private func entry(_ number: Int, key: String? = "key") -> AuditLog.Entry {
        AuditLog.Entry(action: .chat, outcome: .refused, request: "r\(number)", key: key)
    }

    @Test func aFullFileIsRenamedOnce() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("audit.log")
        // Two gateways may write to one file.
        let logs = [0, 1].map { _ in AuditLog(file, time: ManualClock().time, limit: 1000) }
        for number in 0..<100 { await logs[number % 2].record(entry(number)) }
        let names = try LocalFileSystem().contents(of: folder.path("")).sorted()
        #expect(names == ["audit.log", "audit.log.1"])
        var lines = 0
        for name in names {
            let text = try LocalFileSystem().contents(ofFile: folder.path(name), limit: 1 << 20)
            #expect((1...1000).contains(text.count))
            lines += String(decoding: text, as: UTF8.self).split(separator: "\n").count
        }
        #expect((2...20).contains(lines))
        let last = try LocalFileSystem().contents(ofFile: file, limit: 1 << 20)
        #expect(String(decoding: last, as: UTF8.self).contains(#""request":"r99""#))
    }

    @Test func refusalsWithoutAKeyAreBounded() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let log = AuditLog(folder.path("audit.log"), time: clock.time)
        func lines() throws -> [JSONValue] {
            try String(
                decoding: LocalFileSystem().contents(ofFile: folder.path("audit.log"), limit: 1 << 20), as: UTF8.self
            ).split(separator: "\n").map { try JSONValue(parsing: Data($0.utf8)) }
        }
        for number in 0..<1000 { await log.record(entry(number, key: nil)) }
        #expect(try lines().count == 60)
        await log.record(entry(1000))
        #expect(try lines().count == 61 && lines().last?["unwritten"] == nil)
        clock.advance(by: .seconds(2))
        await log.record(entry(1001, key: nil))
        #expect(try lines().count == 62 && lines().last?["unwritten"] == .integer(940))
    }
}
