import Foundation

@testable import HearthBase
@testable import HearthImport

/// Headers of safetensors files, by which weights are read at places and in shapes that the file names.
func fuzzSafetensors(_ data: Data) {
    guard let header = typed({ try SafetensorsHeader(parsing: data, name: "m") }) else { return }
    var position = header.tensors.first?.range.lowerBound ?? header.fileSize
    for tensor in header.tensors {
        precondition(tensor.range.lowerBound == position, "tensors overlap or leave a gap")
        position = tensor.range.upperBound
        guard let each = tensor.type.byteCount else { continue }
        precondition(tensor.shape.reduce(each, *) == UInt64(tensor.range.count), "a shape has another length")
    }
    precondition(position == header.fileSize, "the tensors are not the rest of the file")
    precondition(typed { try SafetensorsHeader(parsing: data, name: "m") } == header, "a header is read in two ways")
}

/// `config.json` and the shards' index, which decide what is written into a GGUF file.
func fuzzModelConfiguration(_ data: Data) {
    _ = typed { try WeightFiles(files: ["model.safetensors"], index: data) }
    guard let check = typed({ try ImportCheck(configuration: data) }) else { return }
    let sizes = check.dimensions
    for size in [sizes.layers, sizes.width, sizes.heads, sizes.head, sizes.vocabulary, sizes.context] {
        precondition(size > 0, "a size of nothing came through")
    }
    var keys = Set<String>()
    for (key, value) in check.facts.metadata {
        precondition(keys.insert(key).inserted, "a key is written twice")
        if case .float32(let number) = value { precondition(number >= 0, "a number below zero came through") }
    }
    for (_, values) in check.facts.factors {
        precondition(values.count <= sizes.head / 2, "more factors than pairs came through")
    }
}
