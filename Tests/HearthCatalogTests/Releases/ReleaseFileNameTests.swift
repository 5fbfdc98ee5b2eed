import HearthBase
import HearthCatalog
import Testing

@Suite struct ReleaseFileNameTests {
    @Test(
        arguments: [
            ("lupus-diary-v1.0.0-q4_k_m.gguf", "lupus-diary", "1.0.0", "q4_k_m"),
            ("Lupus-Diary-V1.0.0-Q4_K_M.GGUF", "lupus-diary", "1.0.0", "q4_k_m"),
            ("a-v1.0.0-b-v2.3.4-q8_0.gguf", "a-v1.0.0-b", "2.3.4", "q8_0"),
            ("m-v1.2.3.gguf", "m", "1.2.3", nil),
            ("m-v1.2.3", "m", "1.2.3", nil),
            ("m-v10.20.30-f16", "m", "10.20.30", "f16"),
            ("m-v1.0.0-q4_k_m.tar.gz", "m", "1.0.0", "q4_k_m"),
            ("m-v1.0.0-rc.1-q4.gguf", "m", "1.0.0-rc.1", "q4"),
            ("m-v1.0.0-beta2.gguf", "m", "1.0.0-beta2", nil),
            ("m-v1.0.0-UD-Q4_K_XL.gguf", "m", "1.0.0", "ud_q4_k_xl"),
            ("m-v1.0.0-prefix.gguf", "m", "1.0.0", "prefix"),
            ("two words-v1.0.0-q4.gguf", "two words", "1.0.0", "q4"),
            ("m-v1.0.0-v01.0.0-q4.gguf", "m", "1.0.0", "v01.0.0_q4"),
        ] as [(String, String, String, String?)])
    func readsTheLastVersion(_ text: String, _ name: String, _ version: String, _ variant: String?) throws {
        let parsed = try #require(ReleaseFileName(parsing: text))
        #expect(parsed.name == name)
        #expect(parsed.version.description == version)
        #expect(parsed.variant?.name == variant)
    }

    @Test(arguments: [
        "", "m.gguf", "m-1.0.0-q4.gguf", "-v1.0.0-q4.gguf", "m-v1.0-q4.gguf", "m-v1.0.0.0-q4.gguf", "m-v01.0.0-q4.gguf",
        "m-v1.0.0q4.gguf", "m-v1.0.0_q4.gguf", "m-vx.y.z-q4.gguf", "m-v99999999999999999999.0.0-q4.gguf",
        "m-v1.0.0-q4 k.gguf", "m-v1.0.0-q4/../x.gguf", "m-v١.0.0-q4.gguf",
    ])
    func leavesOtherNamesAlone(_ text: String) { #expect(ReleaseFileName(parsing: text) == nil) }

    @Test func writesWhatItReads() throws {
        for stem in ["m-v1.0.0-q4_k_m", "m-v1.0.0-rc.1-q4", "m-v1.0.0"] {
            #expect(ReleaseFileName(parsing: stem + ".gguf")?.stem == stem)
        }
    }
}
