import HearthBase
import Testing

@Suite struct ByteCountTests {
    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
        (98_362_432, "98.4 MB"),
        (UInt64.max, "18446744.1 TB"),
    ])
    func writesDecimalUnits(bytes: UInt64, text: String) { #expect(ByteCount(bytes).description == text) }
}
