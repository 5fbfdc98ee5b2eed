#if Llama
    import HearthBase
    @testable import HearthLlama
    import Testing

    @Suite struct LlamaLogTests {
        @Test func joinsPiecesToLines() {
            let log = LlamaLog()
            log.append("cannot ", level: .error, continues: false)
            log.append("open ", level: .debug, continues: true)
            log.append("it\nand more\n", level: .debug, continues: true)
            log.append("unfinished", level: .error, continues: false)
            log.append("fine\n", level: .debug, continues: false)
            #expect(log.takeProblems() == ["cannot open it", "and more", "unfinished"])
            #expect(log.takeProblems().isEmpty)
        }

        @Test func keepsTheFirstProblems() {
            let log = LlamaLog()
            for index in 0..<100 { log.append("problem \(index)\n", level: .error, continues: false) }
            #expect(log.takeProblems().count == 8)
        }
    }
#endif
