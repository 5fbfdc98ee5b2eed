import Foundation
import HearthBase
import Testing

@testable import HearthCatalog

/// Repositories of the Hub as people copy them.
@Suite struct HubPasteTests {
    @Test(arguments: [
        ("org/repo", "hf:org/repo"), ("org/repo:Q4_K_M", "hf:org/repo:Q4_K_M"),
        ("org/repo:q4_k_m", "hf:org/repo:Q4_K_M"),
        ("org/repo:ud-q4_k_xl", "hf:org/repo:UD-Q4_K_XL"), ("hf:org/repo:q8_0", "hf:org/repo:Q8_0"),
        ("org/repo:latest", "hf:org/repo"), ("org/repo@v1:Q8_0", "hf:org/repo@v1:Q8_0"),
        ("org/repo:model-Q4_K_M.gguf", "hf:org/repo:model-Q4_K_M.gguf"), ("org/Repo.v1_x", "hf:org/Repo.v1_x"),
        ("hf.co/org/repo", "hf:org/repo"), ("hf.co/org/repo:Q4_K_M", "hf:org/repo:Q4_K_M"),
        ("HF.co/org/repo:iq2_xs", "hf:org/repo:IQ2_XS"), ("hf.co/org/repo:latest", "hf:org/repo"),
        ("huggingface.co/org/repo", "hf:org/repo"), ("www.huggingface.co/org/repo/", "hf:org/repo"),
        ("https://huggingface.co/org/repo", "hf:org/repo"), ("HTTPS://HuggingFace.co/org/repo", "hf:org/repo"),
        ("http://hf.co/org/repo", "hf:org/repo"), ("https://huggingface.co:443/org/repo", "hf:org/repo"),
        ("https://huggingface.co/org/repo?local-app=llama.cpp", "hf:org/repo"),
        ("https://huggingface.co/org/repo#files", "hf:org/repo"),
        ("https://huggingface.co/org/repo/tree/main", "hf:org/repo"),
        ("https://huggingface.co/org/repo/tree/main/Q8_0", "hf:org/repo:Q8_0/"),
        ("https://huggingface.co/org/repo/tree/v1", "hf:org/repo@v1"),
        ("https://huggingface.co/org/repo/tree/refs%2Fpr%2F3", "hf:org/repo@refs/pr/3"),
        ("https://huggingface.co/org/repo/tree/refs/pr/3", "hf:org/repo@refs/pr/3"),
        ("https://huggingface.co/org/repo/blob/main/m-Q4_K_M.gguf", "hf:org/repo:m-Q4_K_M.gguf"),
        ("https://huggingface.co/org/repo/resolve/main/m-Q4_K_M.gguf?download=true", "hf:org/repo:m-Q4_K_M.gguf"),
        ("hf.co/org/repo/resolve/0123abc/a%20b/m.gguf", "hf:org/repo@0123abc:a b/m.gguf"),
        ("https://huggingface.co/org/repo?show_file_info=m-Q8_0.gguf", "hf:org/repo:m-Q8_0.gguf"),
        ("https://huggingface.co/org/repo/discussions/4", "hf:org/repo"),
        ("https://huggingface.co/org/repo/commit/0123abc", "hf:org/repo@0123abc"),
    ])
    func whatIsPastedIsARepository(text: String, reference: String) throws {
        guard case .hub(let hub) = try ModelReference(parsing: text) else {
            Issue.record("\(text) is no repository")
            return
        }
        #expect(hub.description == reference)
        // What is written down leads there again.
        #expect(try ModelReference(parsing: hub.description) == .hub(hub))
        #expect(HubReference(record: hub.record) == hub)
    }

    @Test(arguments: [
        "https://huggingface.co.evil.example/org/repo", "huggingface.co.evil.example/org/repo",
        "huggingface.co.evil.example/repo", "https://hf.co@evil.example/org/repo", "hf.co@evil/org/repo",
        "hf.co@evil/repo",
        "https://hf.co:pass@evil.example/org/repo", "https://hf.co:8080/org/repo", "hf.co:8080/org/repo",
        "https://huggingface.co\u{2024}evil.example/org/repo", "https://huggingface.co./org/repo",
        "https://huggingface.co\\.evil.example/org/repo",
        "huggingface.co", "hf.co/", "hf.co/org", "https://huggingface.co/datasets/org/name",
        "https://huggingface.co/spaces/org/name", "huggingface.co/org/..", "huggingface.co/../repo",
        "huggingface.co/org/repo/blob/main/..%2f..%2fetc%2fpasswd", "huggingface.co/org/repo/tree/..%2fx",
        "huggingface.co/org/repo/blob/main/a%0ab.gguf", "hf.co/org/repo:", "hf.co/org/repo:a:b/../c",
        "hf.co/org%2Fevil/repo", "hf.co/o rg/repo", "org/", "a.b/repo", "org//repo", "org/re po",
        "hf.co/" + String(repeating: "a", count: 200) + "/repo",
    ])
    func whatOnlyLooksLikeTheHubIsRefused(text: String) throws {
        let error = #expect(throws: CatalogError.self) { try ModelReference(parsing: text) }
        #expect(error?.code == .badReference)
    }

    /// Paths and addresses of others stay what they were.
    @Test(arguments: [
        "models/m.gguf", "models/models.json", "./org/repo.gguf", "https://models.example.org/models.json",
    ])
    func filesAndManifestsAreNoRepositories(text: String) throws {
        if case .hub = try ModelReference(parsing: text) { Issue.record("\(text)") }
    }

    @Test func aShortNameIsWrittenDownWithItsRepository() throws {
        let family = try #require(Family("qwen3-4b"))
        let named = try #require(HubReference(path: "unsloth/Qwen3-4B-GGUF", alias: family))
        #expect(named.record == "qwen3-4b=hf:unsloth/Qwen3-4B-GGUF" && named.family == family)
        #expect(HubReference(record: named.record) == named)
        #expect(named.at("0123abc")?.record == "qwen3-4b=hf:unsloth/Qwen3-4B-GGUF@0123abc")
        // No text that a person or a client gives has a short name in it.
        #expect(throws: CatalogError.self) { try ModelReference(parsing: named.record) }
        for text in ["=hf:a/b", "A=hf:a/b", "x=hf:a", "x=y=hf:a/b", "x=https://a/b", "x=", "../x=hf:a/b", ""] {
            #expect(HubReference(record: text) == nil, "\(text)")
        }
    }
}
