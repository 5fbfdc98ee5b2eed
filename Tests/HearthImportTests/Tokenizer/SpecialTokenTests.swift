import Foundation
import HearthBase
import HearthImport
import Testing

struct SpecialTokenTests {
    private static func files(
        configuration: JSONValue? = nil, generation: JSONValue? = nil, model: JSONValue? = nil
    ) -> TokenizerFiles {
        func data(_ value: JSONValue?) -> Data? { value.map { Data($0.line.utf8) } }
        return TokenizerFiles(
            configuration: data(configuration), generation: data(generation), model: data(model))
    }

    /// A vocabulary with three ends.
    private static var fixture: TokenizerFixture {
        var fixture = TokenizerFixture.bytes
        fixture.added += [TokenizerFixture.token("<bos>", 6), TokenizerFixture.token("<|odd|>", 7)]
        fixture.added.append(TokenizerFixture.token("<|other|>", 8))
        return fixture
    }

    @Test func areNamedByTheConfiguration() throws {
        let imported = try Self.fixture.imported(
            Self.files(configuration: [
                "bos_token": ["content": "<bos>"], "eos_token": "<|end|>", "pad_token": .null, "add_bos_token": true,
            ]))
        #expect(imported["bos_token_id"] == .uint32(6))
        #expect(imported["eos_token_id"] == .uint32(5))
        #expect(imported["padding_token_id"] == nil)
        #expect(imported["add_bos_token"] == .bool(true))
        #expect(imported["eot_token_id"] == nil)
    }

    @Test func endTurnsByTheGenerationAndTheTemplate() throws {
        let imported = try Self.fixture.imported(
            Self.files(
                configuration: ["eos_token": "<|end|>", "chat_template": "{{ m }}<|odd|>"],
                generation: ["eos_token_id": [5, 7, 8]]))
        #expect(imported["eos_token_id"] == .uint32(5))
        #expect(imported["eot_token_id"] == .uint32(7))
        #expect(imported["eom_token_id"] == .uint32(8))
        #expect(imported["tokenizer.chat_template"] == .string("{{ m }}<|odd|>"))
    }

    /// A prototype died of such a number.
    @Test(arguments: [99, 1 << 40, -7] as [Int]) func outOfRangeAreLeftOut(id: Int) throws {
        let imported = try Self.fixture.imported(
            Self.files(generation: ["eos_token_id": [.integer(id), 5]], model: ["bos_token_id": .integer(id)]))
        #expect(imported["eos_token_id"] == .uint32(5))
        #expect(imported["bos_token_id"] == .uint32(5))
        #expect(imported.notes.count == 2)
    }

    /// llama.cpp ends the process if it is to add a token that it does not have.
    @Test func areAddedOnlyIfTheyExist() throws {
        let imported = try TokenizerFixture.bytes.imported(
            Self.files(configuration: ["bos_token": "<none>", "add_bos_token": true, "add_eos_token": true]))
        #expect(imported["add_bos_token"] == .bool(false))
        #expect(imported["add_eos_token"] == .bool(false))
        #expect(imported["bos_token_id"] == nil)
    }

    @Test func standAroundATextAsTheFileSays() throws {
        var fixture = Self.fixture
        fixture.postProcessor = TokenizerFixture.around(["<bos>"], ["<|end|>"])
        let imported = try fixture.imported()
        #expect(imported["bos_token_id"] == .uint32(6))
        #expect(imported["eos_token_id"] == .uint32(5))
        #expect(imported["add_bos_token"] == .bool(true))
        #expect(imported["add_eos_token"] == .bool(true))
    }

    @Test(arguments: [
        TokenizerFixture.around(["<bos>", "<|odd|>"], []), TokenizerFixture.around([], ["<|end|>", "<|odd|>"]),
        TokenizerFixture.around(["<none>"], []), ["type": "RobertaProcessing"], ["type": "TemplateProcessing"],
    ])
    func inAnUnknownPlaceAreRefused(processor: JSONValue) {
        var fixture = Self.fixture
        fixture.postProcessor = processor
        let error = fixture.refused()
        #expect(error?.code == .incompatible)
        #expect(error?.context.field == "post_processor")
    }

    @Test func withBlanksNeedANameThatLlamaKnows() throws {
        var fixture = TokenizerFixture.pieces
        fixture.vocabulary += [("<|endoftext|>", 264), ("<|user|>", 265)]
        fixture.added.append(TokenizerFixture.token("<|user|>", 265, ["rstrip": true]))
        #expect(try fixture.imported(architecture: "phi3").requiredNamePart == "phi-3")
        let other = try fixture.imported()
        #expect(other.requiredNamePart == nil)
        #expect(other.notes.count == 1)
        // llama.cpp would refuse a model of that name without the four tokens that it looks for.
        fixture.vocabulary[264].text = "<|none|>"
        #expect(try fixture.imported(architecture: "phi3").requiredNamePart == nil)
    }

    @Test func ofEndlessListsAreBounded() throws {
        let ends = (0..<200_000).map { JSONValue.integer($0) }
        let names = (0..<10_000).map { JSONValue.object(["name": .string("t\($0)"), "template": "x"]) }
        let imported = try Self.fixture.imported(
            Self.files(configuration: ["chat_template": .array(names)], generation: ["eos_token_id": .array(ends)]))
        #expect(imported.notes.count <= 16)
        #expect(imported.metadata.count < 60)
        let large = JSONValue.string(String(repeating: "x", count: 2 << 20))
        #expect(Self.fixture.refused(Self.files(configuration: ["chat_template": large]))?.code == .damaged)
    }

    // MARK: - Templates

    @Test func haveTheTemplateOfAFileOfItsOwn() throws {
        var files = Self.files(configuration: ["chat_template": "old"])
        for (text, template) in [("new {{ x }}", "new {{ x }}"), (#"{"chat_template": "json"}"#, "json")] {
            files.template = Data(text.utf8)
            #expect(try Self.fixture.imported(files)["tokenizer.chat_template"] == .string(template))
        }
        files.template = Data([0xC3, 0x28])
        #expect(Self.fixture.refused(files)?.code == .damaged)
    }

    @Test func haveTemplatesForOtherPurposes() throws {
        let imported = try Self.fixture.imported(
            Self.files(configuration: [
                "chat_template": [
                    ["name": "default", "template": "one"], ["name": "tool_use", "template": "two"],
                    ["name": "../x", "template": "three"], ["name": "tool_use", "template": "four"],
                ]
            ]))
        #expect(imported["tokenizer.chat_template"] == .string("one"))
        #expect(imported["tokenizer.chat_template.tool_use"] == .string("two"))
        #expect(imported.texts("tokenizer.chat_templates") == ["tool_use"])
        #expect(imported.metadata.filter { $0.key.hasPrefix("tokenizer.chat_template") }.count == 3)
    }

    @Test(arguments: ["{", "[1]x"]) func ofADamagedConfigurationAreRefused(text: String) {
        let error = Self.fixture.refused(TokenizerFiles(configuration: Data(text.utf8)))
        #expect(error?.code == .damaged)
        #expect(error?.context.file == "tokenizer_config.json")
    }
}
