import Testing

@testable import HearthInference

@Suite struct DeviceRuleTests {
    @Test(arguments: [
        (0, 4096, 20), (4, 4096, 20), (6 * 1024 - 1, 4096, 20), (6 * 1024, 8192, 50), (16 * 1024, 8192, 50),
    ])
    func countsWholeGibibytes(mebibytes: Int, context: Int, history: Int) {
        let rule = DeviceRule(deviceMemory: UInt64(mebibytes) << 20)
        #expect(rule.contextLength == context)
        #expect(rule.historyLimit == history)
        #expect(rule.isSmall == (context == 4096))
    }
}
