import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCommand

private let hasModel = FileManager.default.fileExists(atPath: TestModel.path.string)
private let family = "smollm2-135m-instruct"
private let naming = ["--family", family, "--version", "1.0.0", "--variant", "q4_1"]

/// The built program in a home of its own, from a published file to an answer.
@Suite(
    .enabled(if: hasModel, "the test model is not in the cache: run make setup"), .timeLimit(.minutes(10)))
struct EndToEndTests {
    @Test func fromAFileToAnAnswer() async throws {
        let lab = try HearthLab()
        let published = try await lab.serve(
            TestModel.path, "--family", family, "--version", "1.0.0", "--variant", "q4_1")
        #expect(published.status == 0, "\(published.errors)")
        #expect(published.output.contains("\(family)@1.0.0:q4_1"))

        // Before a download the front of the file tells what it will take.
        let offered = try await lab.run("show", family)
        #expect(
            offered.output.contains("memory needed") && offered.output.contains(" tokens: weights 98."), "\(offered)")
        #expect(offered.output.contains("GGUF version 3"))
        #expect(offered.output.contains("386.5 MB or more, as its publisher asks"))
        #expect(try await lab.run("list").output.isEmpty)

        let pulled = try await lab.run("pull", family)
        #expect(pulled.status == 0, "\(pulled.errors)")
        #expect(pulled.output.isEmpty)
        #expect(pulled.errors.contains("98.4 MB were fetched"))
        #expect(!pulled.errors.contains("\u{1B}"))

        let listed = try await lab.run("list", "--format", "json")
        let list = try #require(
            try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: Any]])
        #expect(list.count == 1)
        let entry = try #require(list.first)
        #expect(
            Set(entry.keys) == [
                "family", "version", "variant", "format", "state", "active", "verified", "path", "sizeBytes",
            ])
        #expect(entry["family"] as? String == family)
        #expect(entry["active"] as? Bool == true)
        #expect(entry["verified"] as? Bool == true)

        let verified = try await lab.run("verify", family)
        #expect(verified.status == 0)
        #expect(verified.output == "\(family)@1.0.0:q4_1: intact\n")

        let answer = try await lab.run(
            "chat", "--system", "You are a helpful assistant.", "--seed", "1", "--prompt",
            "Answer in one sentence: what is the capital of France?")
        #expect(answer.status == 0)
        #expect(answer.output.contains("Paris"))
        #expect(answer.errors.contains("prompt tokens, 0 cached"))

        let before = lab.modelReplies.count
        let again = try await lab.run("pull", family)
        #expect(again.status == 0)
        #expect(again.errors.contains("nothing was fetched"))
        #expect(lab.modelReplies.count == before)

        #expect(try await lab.run("update", "--check").output == "\(family)@1.0.0: up to date\n")
        #expect(try await lab.run("use", "\(family)@1.0.0").status == 0)
        #expect(try await lab.run("show", family).output.contains("GGUF version 3"))
        #expect(try await lab.run("remove", family).output == "\(family)@1.0.0:q4_1\n")
        #expect(try await lab.run("chat", "--prompt", "x").errors.contains("[no-model]"))

        let ended = try #require(await lab.endHost())
        #expect(ended.status == 0)
    }

    @Test func anInterruptedPullKeepsItsBytesAndGoesOn() async throws {
        let lab = try HearthLab()
        _ = try await lab.serve(TestModel.path, "--family", family, "--version", "1.0.0")
        let pull = try ChildProcess(
            ["pull", family, "--limit-rate", "20M", "--format", "json"], environment: lab.environment)
        for await line in pull.outputLines {
            let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            if let done = event["completedBytes"] as? Int, done > 2_000_000 { break }
        }
        pull.send(SIGINT)
        let interrupted = await pull.result()
        #expect(interrupted.status == 130)
        let last = try #require(interrupted.output.split(separator: "\n").last)
        #expect(last.contains(#""code":"interrupted""#) && last.contains(#""event":"error""#))
        #expect(interrupted.errors.contains("are kept"))

        let resumed = try await lab.run("pull", family, "--quiet")
        #expect(resumed.status == 0)
        #expect(resumed.errors.isEmpty && resumed.output.isEmpty)
        #expect(lab.modelReplies.contains { $0.contains(" 206 ") })
        #expect(try await lab.run("verify", family, "--quiet").status == 0)
    }

    @Test func aLocalFileRunsIsVerifiedAndInstalledWithoutAServer() async throws {
        let lab = try HearthLab()
        let model = lab.folder.path("tiny-v2.1.0-q4_1.gguf")
        try FileManager.default.createSymbolicLink(atPath: model.string, withDestinationPath: TestModel.path.string)
        let answer = try await lab.run("chat", model.string, "--max-tokens", "3", input: "Say hello.")
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(answer.errors.contains("tiny-v2.1.0-q4_1.gguf: "))
        #expect(!FileManager.default.fileExists(atPath: lab.folder.path("home").string))

        // What is predicted of the cache is what llama.cpp makes.
        var kinds = [("f16", "auto", "45.00"), ("q8_0", "auto", "23.91")]
        if TestExtent.isFull {
            kinds += [
                ("q4_0", "auto", "12.66"), ("f16", "on", "45.00"), ("f16", "off", "45.00"), ("q8_0", "off", "23.91"),
            ]
        }
        for (type, flashAttention, mebibytes) in kinds {
            #expect(try await lab.run("config", "set", "cacheType", type).status == 0)
            #expect(try await lab.run("config", "set", "flashAttention", flashAttention).status == 0)
            #expect(try await lab.run("config", "set", "contextLength", "2048").status == 0)
            var environment = lab.environment
            environment["HEARTH_LOG"] = "debug"
            let answer = try await ChildProcess.run(
                ["chat", model.string, "--temperature", "0"], environment: environment,
                input: "Answer in one sentence: what is the capital of France?")
            #expect(answer.status == 0 && !answer.output.isEmpty, "\(answer.errors.suffix(500))")
            if type != "q4_0" { #expect(answer.output.contains("Paris"), "\(answer.output)") }
            let line = try #require(answer.errors.split(separator: "\n").first { $0.contains("K (\(type)):") })
            #expect(line.contains("size = ") && line.contains(" \(mebibytes) MiB ("), "\(line)")
            let shown = try JSONSerialization.jsonObject(
                with: Data(try await lab.run("show", model.string, "--format", "json").output.utf8))
            let facts = ((shown as? [String: Any])?["model"] as? [String: Any])?["memory"] as? [String: Any]
            let predicted = try #require(facts?["cacheBytes"] as? Double) / 1_048_576
            #expect(String(format: "%.2f", predicted) == mebibytes && facts?["cacheType"] as? String == type)
            // And of what it works with, which is no room for the logits of a whole batch.
            func made(_ name: String) throws -> Double {
                let line = try #require(answer.errors.split(separator: "\n").first { $0.contains(" \(name) size = ") })
                return try #require(line.split(separator: " ").compactMap { Double($0) }.first)
            }
            let working = try #require(facts?["computeBytes"] as? Double) / 1_048_576
            // Without flash attention there is a copy of the scores besides, which no log tells of.
            let isOff = facts?["flashAttention"] as? String == "off"
            #expect(isOff == (type == "f16" && flashAttention != "on"))
            let copy = isOff ? Double(2 * 2048 * 512 * 9) / 1_048_576 : 0
            #expect(abs(working / (try made("compute buffer") + made("output buffer") + copy) - 1) < 0.1)
        }
        try FileManager.default.removeItem(at: lab.folder.path("home").url)

        let stopped = try await lab.run(
            "chat", model.string, "--temperature", "0", "--stop", "never said", "--stop", "Paris",
            input: "Answer in one sentence: what is the capital of France?")
        #expect(stopped.errors.contains("ended by stop-string"), "\(stopped.errors)")
        #expect(!stopped.output.isEmpty && !stopped.output.contains("Paris"), "\(stopped.output)")

        let verified = try await lab.run("verify", model.string)
        #expect(verified.output == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  \(model)\n")
        let pulled = try await lab.run("pull", model.string)
        #expect(pulled.status == 0, "\(pulled.errors)")
        #expect(try await lab.run("list").output.contains("tiny    2.1.0    q4_1"))
    }

    @Test func damageIsFoundAndNamed() async throws {
        let lab = try HearthLab()
        let model = lab.folder.path("tiny-v2.1.0-q4_1.gguf")
        try FileManager.default.createSymbolicLink(atPath: model.string, withDestinationPath: TestModel.path.string)
        _ = try await lab.run("pull", model.string)
        let weights = lab.folder.path("home/models/tiny/2.1.0~q4_1/tiny-v2.1.0-q4_1.gguf")
        let handle = try FileHandle(forWritingTo: weights.url)
        try handle.seek(toOffset: 50_000_000)
        try handle.write(contentsOf: Data("damage".utf8))
        try handle.close()
        let verified = try await lab.run("verify")
        #expect(verified.status == 1)
        #expect(verified.output == "tiny@2.1.0:q4_1: damaged\n")
        #expect(verified.errors.contains("[release-damaged]"))

        try FileHandle(forWritingTo: weights.url).truncate(atOffset: 100)
        #expect(try await lab.run("list").output.contains("damaged"))
        let doctor = try await lab.run("doctor")
        #expect(doctor.status == 1)
        #expect(doctor.output.contains("hearth remove tiny@2.1.0:q4_1"))
    }

    @Test func anUnknownFamilyListsTheNearNames() async throws {
        let lab = try HearthLab()
        _ = try await lab.serve(TestModel.path, "--family", family, "--version", "1.0.0")
        let pulled = try await lab.run("pull", "smollm-135m-instruct")
        #expect(pulled.status == 1)
        #expect(pulled.errors.contains("[unknown-family]") && pulled.errors.contains("Did you mean \(family)?"))
        let version = try await lab.run("pull", "\(family)@9.9.9")
        #expect(version.status == 1 && version.errors.contains("[unknown-version]"))
    }

    @Test func anAnswerEndsWhenItIsInterrupted() async throws {
        let lab = try HearthLab()
        // The likeliest answer to this one is hundreds of tokens long; a drawn one may be over before it is interrupted.
        let question =
            "Write a long story about a lighthouse keeper, a storm and a lost ship. Take your time and tell every detail."
        let chat = try ChildProcess(
            ["chat", TestModel.path.string, "--prompt", question, "--temperature", "0", "--format", "json"],
            environment: lab.environment)
        for await line in chat.outputLines where line.contains(#""event":"text""#) { break }
        chat.send(SIGTERM)
        let result = await chat.result()
        #expect(result.status == 130)
        #expect(result.errors.contains("[interrupted]"))
    }
}
