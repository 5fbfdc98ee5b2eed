import HearthBase
import HearthCatalog
import HearthClassification
import HearthDelivery
import HearthStore

/// Probes classifiers by loading them, which compares their parts and classifies the publisher's picture. Other releases go to
/// the probe of the engines.
struct ClassifierReleaseProbe: ReleaseProbe {
    let engines: any ReleaseProbe
    let time: TimeSource
    /// The program of workers; `nil` for this process.
    var worker: Path?

    func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
        guard candidate.release.receipt.format == .onnx else { return try await engines.probe(candidate) }
        let files = ClassifierFiles(candidate.release, weights: candidate.weights)
        guard ClassifierSupport.isBuilt, files.isDeclared else { return nil }
        let watch = time.stopwatch()
        do {
            _ = try await WorkerClassifier.load(files, program: worker)
        } catch let error as ClassificationError where error.code == .visionMissing {
            Log.write(.warning, "probe", "\(candidate.release.identity) is not probed: \(error)")
            return nil
        }
        return ProbeReport(
            text: "", generatedTokens: 0, loadSeconds: watch.elapsed.seconds, answerSeconds: 0, tokensPerSecond: 0,
            peakMemoryBytes: nil, embeddingLength: 0)
    }
}
