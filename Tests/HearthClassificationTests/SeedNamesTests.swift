import HearthBase
import HearthClassification
import Testing

/// Calls by the names of seed 002, as its readers write them.
@Suite struct SeedNamesTests {
    @Test func aClassifierIsLoadedByItsName() async {
        let proxy = ClassifierProxy()
        #expect(await !proxy.isModelReady)
        await #expect(throws: (any Error).self) {
            await proxy.update(try await NomClassifier.load(Path("/nowhere/model.onnx")))
        }
        #expect(await !proxy.isModelReady)
    }
}
