import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct PresetTests {
    private static let text = """
        # A pirate.
        FROM tiny
        SYSTEM \"\"\"You are a pirate.
        Answer in one sentence.\"\"\"
        parameter temperature 0.2
        PARAMETER stop "Arr!"
        PARAMETER stop <end>
        MESSAGE user Who are you?
        MESSAGE assistant "A pirate."
        LICENSE MIT

        """

    @Test func aFileIsReadAndWritten() throws {
        let preset = try PresetText.preset("pirate:latest", Self.text)
        #expect(preset.name == "pirate" && preset.model == "tiny")
        #expect(preset.system == "You are a pirate.\nAnswer in one sentence.")
        #expect(preset.parameters == ["temperature": .number("0.2"), "stop": ["Arr!", "<end>"]])
        #expect(preset.messages.map(\.text) == ["Who are you?", "A pirate."])
        #expect(try preset.options.sampling.temperature == 0.2)
        #expect(try preset.options.stopStrings == ["Arr!", "<end>"])
        #expect(try PresetText.preset("pirate", PresetText.text(preset)) == preset)
    }

    @Test(arguments: [
        "", "SYSTEM x", "FROM", "FROM a\nWHAT x", "FROM a\nPARAMETER x", "FROM a\nPARAMETER heat 1",
        "FROM a\nPARAMETER temperature hot", "FROM a\nPARAMETER temperature -1", "FROM a\nSYSTEM \"\"\"x",
        "FROM a\nTEMPLATE {{ .Prompt }}", "FROM a\nADAPTER ./x", "FROM a\nMESSAGE user", "FROM a\nMESSAGE tool x",
        "FROM a\nPARAMETER top_k 1.5", "FROM \(String(repeating: "a", count: 300))",
        "FROM a\nSYSTEM \(String(repeating: "x", count: 2 << 20))",
    ])
    func aWrongFileIsRefused(text: String) {
        #expect(throws: APIFailure.self) { _ = try PresetText.preset("p", text) }
    }

    @Test(arguments: ["", "../x", "a/b", "A", ".x", "a b", "a\u{0}", String(repeating: "a", count: 65), "ä"])
    func aWrongNameIsRefused(name: String) {
        #expect(throws: APIFailure.self) { _ = try Preset(name, model: "tiny") }
    }

    @Test func presetsAreKeptInTheHome() throws {
        let folder = try TemporaryFolder()
        let home = folder.path("home")
        #expect(Preset.all(home).isEmpty)
        let preset = try PresetText.preset("pirate", Self.text)
        try preset.save(home)
        try folder.write("home/presets/broken.json", Data("{".utf8))
        try folder.write("home/presets/odd.json", Data(#"{"format":1,"from":"a","parameters":{"x":1}}"#.utf8))
        #expect(Preset.all(home) == [preset])
        try preset.remove(home)
        #expect(Preset.all(home).isEmpty)
    }

    @Test func aConversationBeginsAsThePresetSays() throws {
        let preset = try PresetText.preset("pirate", Self.text)
        let plain = preset.beginning([ChatMessage(.user, "Hi")])
        #expect(plain.map(\.role) == [.system, .user, .assistant, .user])
        #expect(plain.first?.content.hasPrefix("You are a pirate.") == true)
        let own = preset.beginning([ChatMessage(.system, "Mine"), ChatMessage(.user, "Hi")])
        #expect(own.map(\.role) == [.system, .user, .assistant, .user])
        #expect(own.first?.content == "Mine")
    }

    @Test func aPresetOfAPresetHasItsModel() throws {
        let pirate = try PresetText.preset("pirate", Self.text)
        let copy = try Preset("captain", model: "pirate", parameters: ["temperature": 1]).over(pirate)
        #expect(copy.model == "tiny" && copy.system == pirate.system)
        #expect(copy.parameters["temperature"] == 1 && copy.parameters["stop"] == pirate.parameters["stop"])
    }

    @Test func aRequestWinsOverItsPreset() async throws {
        let steps: [ScriptedEngine.Step] = [.text("Aye"), .finish(.endOfGeneration)]
        let api = APIFixture([steps, steps])
        api.models.preset.withLock { $0 = try? PresetText.preset("pirate", Self.text) }
        let hi = #""messages":[{"role":"user","content":"Hi"}]"#
        _ = try await api.post("/v1/chat/completions", #"{"model":"tiny",\#(hi)}"#)
        _ = try await api.post(
            "/api/chat", #"{"model":"tiny","stream":false,\#(hi),"options":{"temperature":1,"stop":["x"]}}"#)
        let options = await api.engine.options
        #expect(options.map(\.sampling.temperature) == [0.2, 1])
        #expect(options.map(\.stopStrings) == [["Arr!", "<end>"], ["x"]])
        #expect(await api.engine.requests.allSatisfy { $0.count == 4 })
        let shown = try await api.post("/api/show", #"{"model":"tiny"}"#).json
        #expect(shown.text("system")?.hasPrefix("You are a pirate.") == true)
        #expect(shown.text("parameters")?.contains("temperature 0.2") == true)
        #expect(shown.text("modelfile")?.hasPrefix("FROM tiny\n") == true)
    }

    @Test func presetsAreMadeOverHTTP() async throws {
        let api = APIFixture()
        #expect(try await api.post("/api/copy", #"{"source":"tiny","destination":"other"}"#).status == 200)
        let made = try await api.post(
            "/api/create", #"{"model":"pirate","from":"tiny","system":"Arr","parameters":{"temperature":0}}"#)
        #expect(try made.lines.last?.text("status") == "success")
        let text = try await api.post(
            "/api/create", #"{"model":"third","modelfile":"FROM tiny\nSYSTEM x","stream":false}"#)
        #expect(try text.json.text("status") == "success")
        #expect(api.models.keptPresets.withLock { $0.map(\.name) } == ["other", "pirate", "third"])
        for body in [
            "{}", #"{"model":"x"}"#, #"{"model":"x","from":"tiny","template":"{{ .Prompt }}"}"#,
            #"{"model":"../x","from":"tiny"}"#, #"{"model":"x","from":"tiny","files":{"a":"b"}}"#,
            #"{"model":"x","from":"tiny","parameters":{"heat":1}}"#,
        ] { #expect(try await api.post("/api/create", body).status == 400, "\(body)") }
        #expect(try await api.post("/api/copy", #"{"source":"tiny","destination":"A/B"}"#).status == 400)
    }
}
