import Foundation

@testable import HearthBase
@testable import HearthClassification
@testable import HearthInference

/// The reader of ONNX files, which decides what an engine is given.
func fuzzONNX(_ data: Data) {
    let bytes = [UInt8](data)
    guard let facts = typed({ try ONNXFacts(bytes, name: "m.onnx") }) else { return }
    precondition(facts.operators.count <= 1000, "more operators than the limit came through")
    precondition(
        facts.metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= 3 * bytes.count,
        "the metadata is larger than the file")
    precondition(typed { try ONNXFacts(bytes, name: "m.onnx") } == facts, "a model is read in two ways")
}

/// The reader of TIFF directories: what it lets through is decoded by a library that believes the header.
func fuzzTIFF(_ data: Data) {
    var limits = PictureLimits()
    limits.maximumPixels = 1 << 20
    limits.maximumPages = 20
    guard let header = typed({ try TIFFHeader([UInt8](data), limits: limits) }) else { return }
    precondition((1...limits.maximumPages).contains(header.pages.count), "a number of pages came through")
    for page in header.pages {
        precondition(page.width > 0 && page.height > 0, "an empty page came through")
        precondition(page.width <= limits.maximumPixels / page.height, "a page beyond the limit came through")
    }
}

/// The reader of WebP's chunks, whose decoder believes them.
func fuzzWebP(_ data: Data) {
    var limits = PictureLimits()
    limits.maximumPixels = 1 << 20
    guard let header = typed({ try WebPHeader([UInt8](data), limits: limits) }) else { return }
    precondition(header.size.width > 0 && header.size.height > 0, "an empty picture came through")
    precondition(
        header.size.width <= limits.maximumPixels / header.size.height, "a picture beyond the limit came through")
    precondition((1...8).contains(header.orientation), "an orientation that Exif does not have came through")
}

/// `classifier.json` and lists of classes.
func fuzzClassifier(_ data: Data) {
    if let settings = typed({ try ClassifierSettings(data, name: "classifier.json") }) {
        precondition(settings.inputCount > 0 && settings.inputCount <= 3 * 2048 * 2048, "an input beyond the limit")
        precondition(settings.mean.count == settings.scale.count, "a channel without numbers")
        precondition(settings.thresholds.yellow <= settings.thresholds.green, "bands in the wrong order")
    }
    for name in ["classes.txt", "classes.json"] {
        guard let labels = typed({ try ClassLabels(data, name: name) })?.labels else { continue }
        precondition(!labels.isEmpty && !labels.contains(""), "an empty class came through")
        precondition(Set(labels.map { Array($0.utf8) }).count == labels.count, "a class came through twice")
    }
}
